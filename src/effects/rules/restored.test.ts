import { describe, test } from "node:test";
import {
  ACTION,
  ANN,
  action,
  afterProposal,
  applied,
  approval,
  asked,
  epochOpen,
  proposes,
  reports,
  stopped,
  tenantSwitch,
  voted,
} from "../../../tests/fixtures/rules.ts";
import type { Draft } from "../../kernel/transaction.ts";
import { EFFECT_CLASSES } from "../../policy/rules/tool-rules.ts";
import { fact, given } from "../../testing/given.ts";
import { settleAfterRestore } from "./outcome.ts";

const settles = (draft: Draft) => settleAfterRestore(draft, ACTION);
const refused = fact(action, "action.refused", { code: "lapsed", by: "restore", retry: false });

describe("after a restore", () => {
  for (const effectClass of EFFECT_CLASSES.filter((one) => one !== "read"))
    test(`an effect of class ${effectClass} that was under way is in doubt, and its key is not used again`, () => {
      given(afterProposal({ effectClass }))
        .when(settles)
        .then([fact(action, "effect.in_doubt", { attempt: 1 })])
        .answers({ kind: "in_doubt" });
    });

  test("a read that was under way may be repeated", () => {
    given(afterProposal({ effectClass: "read" }))
      .when(settles)
      .then([])
      .answers({ kind: "left" });
  });

  test("an approval that was given and not used lapses, and its action is refused", () => {
    given(voted(asked(), ANN))
      .when(settles)
      .then([fact(approval, "approval.lapsed"), refused])
      .answers({ kind: "refused" });
  });

  test("a question that nobody has answered stays", () => {
    given(asked()).when(settles).then([]).answers({ kind: "asks" });
  });

  test("what was held does not start by itself", () => {
    const held = given([epochOpen, stopped(tenantSwitch)]).when(proposes()).world;
    given(held).when(settles).then([refused]).answers({ kind: "refused" });
  });

  test("an outcome, a doubt and a refusal stand, and doing it twice changes nothing", () => {
    const ended = given(afterProposal()).when(reports(applied())).world;
    given(ended).when(settles).then([]).answers({ kind: "left" });
    const doubtful = given(afterProposal()).when(settles).world;
    given(doubtful).when(settles).then([]).answers({ kind: "left" });
    const out = given(voted(asked(), ANN)).when(settles).world;
    given(out).when(settles).then([]).answers({ kind: "left" });
  });
});

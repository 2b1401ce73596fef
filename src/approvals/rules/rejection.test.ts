import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { epochOpen, rejects } from "../../../tests/fixtures/rules.ts";
import {
  created,
  flow,
  opOf,
  reach,
  runner,
  snapshot,
  started,
} from "../../../tests/fixtures/workflow-rules.ts";
import { fact, given, type World } from "../../testing/given.ts";
import { reachCheckpoint } from "../../workflows/rules/ask.ts";
import type { LiveWorkflow } from "../../workflows/state.ts";
import { rejectionOf } from "./card.ts";

const stateOf = (world: World) =>
  given(world)
    .when(() => "look")
    .state(flow) as LiveWorkflow;

const passed = fact(flow, "checkpoint.passed", {
  ...{ op: opOf("Plan"), name: "Plan", checkpoint: "cp_plan", snapshot, outputs: {}, agent: null, why: "" },
});
const STAKE = { canRollback: true, irreversible: [] };
const LOST = [{ op: opOf("mail"), action: "act_1", tool: "mail" }];

describe("the rejection of a checkpoint", () => {
  test("goes back to the last checkpoint that was passed, or to the start, and tries again", () => {
    const begun = stateOf(given([epochOpen, created(), started]).when(() => "look").world);
    assert.deepEqual(rejectionOf(begun, STAKE), { isEnd: false, goesBackTo: null, after: 0, isLast: false });
    const further = stateOf(given([epochOpen, created(), started, passed]).when(() => "look").world);
    assert.partialDeepStrictEqual(rejectionOf(further, STAKE), {
      goesBackTo: "Plan",
      after: 3,
      isLast: false,
    });
  });

  test("ends it where it cannot go back, and is the last where attempts are used up or something stays", () => {
    const once = stateOf(given([created({ attempts: 1 }), started, passed]).when(() => "look").world);
    assert.partialDeepStrictEqual(rejectionOf(once, STAKE), {
      isEnd: false,
      goesBackTo: "Plan",
      isLast: true,
    });
    const twice = stateOf(given([created(), started, passed]).when(() => "look").world);
    assert.equal(rejectionOf(twice, { ...STAKE, irreversible: LOST }).isLast, true);
    const goesOn = { ...twice, onIrreversible: "continue" as const };
    assert.equal(rejectionOf(goesOn, { ...STAKE, irreversible: LOST }).isLast, false);
    assert.deepEqual(rejectionOf(twice, { ...STAKE, canRollback: false }), {
      ...{ isEnd: true, goesBackTo: null, after: 3, isLast: true },
    });
  });

  for (const canRollback of [true, false])
    for (const attempts of [1, 2])
      test(`does what is said of it: ${canRollback ? "can" : "cannot"} go back, ${attempts} to try`, () => {
        const world = given([epochOpen, created({ attempts }), started]).when((draft) =>
          reachCheckpoint(draft, runner(), reach("Look", canRollback)),
        ).world;
        const { isEnd, isLast } = rejectionOf(stateOf(world), { ...STAKE, canRollback });
        const { status, rollback } = given(world).when(rejects("person:bob")).state(flow) as LiveWorkflow;
        assert.equal(status, isEnd ? "failed" : "rolling_back");
        if (!isEnd) assert.equal(rollback?.after, isLast ? "fail" : "again");
      });
});

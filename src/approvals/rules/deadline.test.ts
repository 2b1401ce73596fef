import { describe, test } from "node:test";
import {
  ANN,
  APPROVAL,
  action,
  approval,
  asked,
  comesBack,
  ESCALATE,
  SECOND,
  says,
  voted,
  votes,
} from "../../../tests/fixtures/rules.ts";
import type { Draft } from "../../kernel/transaction.ts";
import { fact, given, NOON } from "../../testing/given.ts";
import { expireIfDue } from "./deadline.ts";
import { cancelApproval, revokeApproval } from "./withdraw.ts";

const said = { approval: APPROVAL, by: ANN, reason: "not needed any more" };
const cancels = (draft: Draft) => cancelApproval(draft, said);
const revokes = (draft: Draft) => revokeApproval(draft, said);
const sweeps = (draft: Draft) => expireIfDue(draft, APPROVAL);
const escalates = { policy: says(ESCALATE) };
const used = () => given(voted(asked(), ANN)).when(comesBack(escalates)).world;

describe("cancelling", () => {
  test("takes a pending question back, and the action is refused for good", () => {
    const then = given(asked()).when(cancels);
    then
      .then([
        fact(approval, "approval.cancelled", { by: ANN, reason: "not needed any more" }),
        fact(action, "action.refused", { code: "cancelled", by: ANN }),
      ])
      .answers({ kind: "ended", status: "cancelled" });
    given(then.world)
      .when(comesBack(escalates))
      .then([])
      .answers({ kind: "settled", state: { phase: "refused" } });
  });

  test("a cancelled question cannot be approved", () => {
    given(given(asked()).when(cancels).world)
      .when(votes(ANN))
      .answers({ kind: "vote_refused", status: "cancelled" });
  });

  test("does not touch what is decided or used", () => {
    given(voted(asked(), ANN)).when(cancels).then([]).answers({ kind: "not_possible", status: "approved" });
    given(used()).when(cancels).then([]).answers({ kind: "not_possible", status: "consumed" });
  });

  test("after the deadline finds an expired question, not a cancelled one", () => {
    given(asked({ decideWithinMs: SECOND }), { now: NOON + SECOND })
      .when(cancels)
      .then([fact(approval, "approval.expired"), fact(action, "action.refused", { code: "expired" })])
      .answers({ kind: "not_possible", status: "expired" });
  });

  test("said twice by the same person is one cancellation, answered twice", () => {
    given(given(asked()).when(cancels).world)
      .when(cancels)
      .then([])
      .answers({ kind: "ended", status: "cancelled" });
  });

  test("of what does not exist answers that", () => {
    given([]).when(cancels).then([]).answers({ kind: "not_possible", status: "none" });
  });
});

describe("revoking", () => {
  test("takes an approval back before it is used: nothing starts", () => {
    const then = given(voted(asked(), ANN)).when(revokes);
    then.then([
      fact(approval, "approval.revoked", { by: ANN }),
      fact(action, "action.refused", { code: "revoked", retry: false }),
    ]);
    given(then.world)
      .when(comesBack(escalates))
      .then([])
      .answers({ kind: "settled", state: { phase: "refused" } });
  });

  test("comes too late once the effect has started", () => {
    given(used()).when(revokes).then([]).answers({ kind: "not_possible", status: "consumed" });
  });

  test("does not end a question that nobody has answered", () => {
    given(asked()).when(revokes).then([]).answers({ kind: "not_possible", status: "pending" });
  });

  test("said twice by the same person is one revocation, answered twice", () => {
    const world = given(voted(asked(), ANN)).when(revokes).world;
    given(world).when(revokes).then([]).answers({ kind: "ended", status: "revoked" });
  });
});

describe("the sweeper", () => {
  const world = asked({ decideWithinMs: SECOND });

  for (const [ms, kind] of [
    [-1, "not_possible"],
    [0, "ended"],
    [1, "ended"],
  ] as const) {
    test(`${ms} ms from the deadline: ${kind}`, () => {
      given(world, { now: NOON + SECOND + ms })
        .when(sweeps)
        .answers({ kind });
    });
  }

  test("announces expiry once", () => {
    const swept = given(world, { now: NOON + SECOND }).when(sweeps);
    swept.then([
      fact(approval, "approval.expired", { decideBy: NOON + SECOND }),
      fact(action, "action.refused", { code: "expired", by: "deadline" }),
    ]);
    given(swept.world, { now: NOON + 2 * SECOND })
      .when(sweeps)
      .then([])
      .answers({ kind: "not_possible", status: "expired" });
  });

  test("leaves alone what has no deadline, what is decided and what does not exist", () => {
    given(asked(), { now: NOON + 1e13 })
      .when(sweeps)
      .then([]);
    given(voted(world, ANN), { now: NOON + 10 * SECOND })
      .when(sweeps)
      .then([]);
    given([]).when(sweeps).then([]).answers({ kind: "not_possible", status: "none" });
  });
});

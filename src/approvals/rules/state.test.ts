import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ANN, asked, comesBack, ESCALATE, says, voted } from "../../../tests/fixtures/rules.ts";
import { isHoldpointError } from "../../kernel/errors.ts";
import type { RecordedEvent } from "../../kernel/stream.ts";
import { type Fact, given } from "../../testing/given.ts";
import { APPROVAL_STATUSES, type ApprovalState } from "../state.ts";
import { approval } from "../stream.ts";

const { fold: approvalFold } = approval;

const PENDING = [
  "voted",
  "edited",
  "edit_refused",
  "revised",
  "approved",
  "modified",
  "rejected",
  "expired",
  "cancelled",
];
const DECIDED = ["consumed", "lapsed", "revoked"];
const ALWAYS = ["vote_refused"];
const ALL = ["requested", ...PENDING, ...DECIDED, ...ALWAYS];

const BODY = {
  by: [ANN],
  reason: "r",
  effect: "eff_1",
  decideBy: 1,
  args: {},
  argsDigest: "d",
  binding: "b",
};
const event = (name: string): RecordedEvent => ({
  type: `approval.${name}`,
  tv: 1,
  at: 2,
  seq: 9,
  body: BODY,
});

function fold(facts: readonly Fact[]): ApprovalState {
  return facts
    .filter(({ on }) => on.kind === "approval")
    .reduce<ApprovalState>(
      (state, one, index) => approvalFold.evolve(state, { ...one, seq: index + 1 }),
      approvalFold.initial,
    );
}

function stateIn(status: string): ApprovalState {
  const pending = fold(asked().facts);
  if (status === "pending") return pending;
  if (DECIDED.includes(status)) return approvalFold.evolve(stateIn("approved"), event(status));
  return approvalFold.evolve(pending, event(status));
}

describe("the life of an approval", () => {
  for (const status of APPROVAL_STATUSES) {
    const open = { pending: PENDING, approved: DECIDED, modified: DECIDED }[status as string] ?? [];
    test(`${status} can be followed only by ${open.length === 0 ? "nothing" : open.join(", ")}`, () => {
      const state = stateIn(status);
      assert.equal(state.status, status);
      for (const name of ALL) {
        const follow = () => approvalFold.evolve(state, event(name));
        if (open.includes(name) || ALWAYS.includes(name)) assert.doesNotThrow(follow, name);
        else assert.throws(follow, (error) => isHoldpointError(error, "broken_rule"), name);
      }
    });
  }

  test("nothing can happen to a question that was never asked", () => {
    for (const name of ALL.slice(1))
      assert.throws(
        () => approvalFold.evolve(approvalFold.initial, event(name)),
        (error) => isHoldpointError(error, "broken_rule"),
      );
  });

  test("an event nobody knows, or a newer version of a known one, is an error", () => {
    const unknown = (error: unknown) => isHoldpointError(error, "unknown_event");
    assert.throws(() => approvalFold.evolve(stateIn("pending"), event("invented")), unknown);
    assert.throws(() => approvalFold.evolve(stateIn("pending"), { ...event("voted"), tv: 2 }), unknown);
    assert.throws(() => approvalFold.evolve(stateIn("pending"), event("toString")), unknown);
  });

  test("an event whose body was erased is an error of its own", () => {
    assert.throws(
      () => approvalFold.evolve(stateIn("pending"), { ...event("voted"), body: null }),
      (error) => isHoldpointError(error, "body_erased"),
    );
  });

  test("is used up once", () => {
    const used = given(voted(asked(), ANN)).when(comesBack({ policy: says(ESCALATE) })).world;
    assert.throws(
      () => approvalFold.evolve(fold(used.facts), event("consumed")),
      (error) => isHoldpointError(error, "broken_rule"),
    );
  });
});

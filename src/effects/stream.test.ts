import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { action, afterProposal, applied, asked, BLOCK, reports, says } from "../../tests/fixtures/rules.ts";
import { isHoldpointError } from "../kernel/errors.ts";
import type { RecordedEvent } from "../kernel/stream.ts";
import { type Fact, fact, given, type World } from "../testing/given.ts";
import { receiptOf } from "./rules/receipt.ts";
import type { ActionState } from "./state.ts";
import { action as actionKind } from "./stream.ts";

function fold(facts: readonly Fact[]): ActionState {
  return facts
    .filter(({ on }) => on.kind === "action")
    .reduce<ActionState>(
      (state, one, index) => actionKind.fold.evolve(state, { ...one, seq: index + 1 }),
      actionKind.fold.initial,
    );
}

const BODIES: Readonly<Record<string, object>> = {
  "effect.started": {
    effect: "eff_1",
    epoch: "epo_1",
    binding: "b",
    grant: { kind: "verdict" },
    executeBy: null,
    costs: [],
  },
  "effect.resolved": { status: "applied", by: "person:ann", reason: "", result: null, evidence: null },
  "action.reviewed": { verdict: "approve", rule: "r", reason: "", policy: "p", approval: null },
  "action.revised": { by: "policy", args: {}, argsDigest: "d", reason: "", rule: "r" },
};

const event = (type: string): RecordedEvent => ({
  type,
  tv: 1,
  at: 1,
  seq: 9,
  body: (BODIES[type] ?? {}) as never,
});

const WORLDS: Readonly<Record<string, World>> = {
  open: { ...asked(), facts: asked().facts.filter(({ type }) => type === "action.proposed") },
  waiting: asked(),
  running: afterProposal(),
  applied: given(afterProposal()).when(reports(applied())).world,
  not_applied: given(afterProposal()).when(reports({ status: "not_applied", reason: "x" })).world,
  in_doubt: given(afterProposal()).when(reports({ status: "in_doubt", reason: "x" })).world,
  refused: afterProposal({ policy: says(BLOCK) }),
};

const UNDECIDED = [
  "action.revised",
  "action.reviewed",
  "action.held",
  "action.refused",
  "action.conflicted",
  "effect.started",
];
const ENDED = ["action.conflicted", "effect.reported_late"];
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  none: ["action.proposed"],
  open: UNDECIDED,
  waiting: UNDECIDED,
  running: [...ENDED, "effect.retried", "effect.applied", "effect.not_applied", "effect.in_doubt"],
  applied: ENDED,
  not_applied: ENDED,
  in_doubt: [...ENDED, "effect.probed", "effect.resolved"],
  refused: ["action.conflicted"],
};

describe("the life of an action", () => {
  for (const [phase, allowed] of Object.entries(ALLOWED)) {
    test(`from ${phase}, only ${allowed.join(", ")} can follow`, () => {
      const state = phase === "none" ? actionKind.fold.initial : fold(WORLDS[phase]?.facts ?? []);
      assert.equal(state.phase, phase);
      for (const { type } of actionKind.reference) {
        const follow = () => actionKind.fold.evolve(state, event(type));
        if (allowed.includes(type)) assert.doesNotThrow(follow, type);
        else assert.throws(follow, (error) => isHoldpointError(error, "broken_rule"), type);
      }
    });
  }

  test("an event nobody knows is an error, never skipped", () => {
    const unknown = (error: unknown) => isHoldpointError(error, "unknown_event");
    assert.throws(() => actionKind.fold.evolve(actionKind.fold.initial, event("action.invented")), unknown);
    assert.throws(
      () => actionKind.fold.evolve(actionKind.fold.initial, { ...event("action.proposed"), tv: 2 }),
      unknown,
    );
  });

  test("an event whose body was erased is an error of its own", () => {
    const erased = { ...event("action.proposed"), body: null };
    assert.throws(
      () => actionKind.fold.evolve(actionKind.fold.initial, erased),
      (error) => isHoldpointError(error, "body_erased"),
    );
  });
});

describe("a receipt", () => {
  const ended = (world: World) => {
    const state = fold(world.facts);
    assert.ok(state.phase === "applied" || state.phase === "not_applied" || state.phase === "in_doubt");
    return receiptOf("acme", action.id, state);
  };

  test("says what ran, by which grant, what came of it and where that stands in the journal", () => {
    const receipt = ended(WORLDS["applied"] as World);
    assert.partialDeepStrictEqual(receipt, {
      v: 1,
      tenant: "acme",
      action: action.id,
      requestId: "r-1",
      tool: "refund",
      status: "applied",
      approval: null,
      approvedBy: [],
      executedFrom: "original",
      humanApproved: false,
      stream: `action/${action.id}`,
      seq: 4,
    });
    assert.equal(receipt.argsHash, receipt.argsDigest.slice(0, 12));
  });

  for (const phase of ["not_applied", "in_doubt"] as const) {
    test(`never says applied of an effect that is ${phase}`, () => {
      const receipt = ended(WORLDS[phase] as World);
      assert.equal(receipt.status, phase);
      assert.equal(receipt.resultDigest, null);
    });
  }

  test("stays the same when a late report arrives", () => {
    const world = WORLDS["applied"] as World;
    const late = fact(action, "effect.reported_late", {
      epoch: "epo_9",
      attempt: 1,
      status: "not_applied",
      reason: "x",
    });
    assert.deepEqual(ended({ ...world, facts: [...world.facts, late] }), ended(world));
  });
});

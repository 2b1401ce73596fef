import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ActionState } from "../../src/effects/state.ts";
import { canonicalJson } from "../../src/kernel/canonical-json.ts";
import type { Received } from "./effects.ts";
import { knownEffects, reconcile } from "./reconcile.ts";
import { SPECS } from "./tools.ts";

const ARGS = { n: 1, to: "somebody" };

type Given = {
  readonly phase: string;
  readonly tool?: string;
  readonly attempt?: number;
};

/** Actions `act_1`, `act_2` … as the journal would have folded them. */
function journal(...given: readonly Given[]) {
  const states = given.map(({ phase, tool = "once.ignores", attempt = 1 }, index) => {
    const started = ["running", "applied", "not_applied", "in_doubt"].includes(phase);
    const state = {
      phase,
      tool,
      args: ARGS,
      ...(started ? { effect: { id: `eff_${index + 1}`, attempt } } : {}),
    };
    return [`act_${index + 1}`, state as unknown as ActionState] as const;
  });
  return knownEffects(new Map(states));
}

const line = (key: string, more: Partial<Received> = {}): Received => ({
  at: 0,
  mode: "ignores",
  tool: "once.ignores",
  key,
  args: canonicalJson(ARGS),
  outcome: "applied",
  ...more,
});

const CLEAN = { lost: [], duplicated: [], unexplained: [] };

describe("what the journal says, beside what the receiver's log says", () => {
  test("agrees when every receipt has its application and every application its receipt", () => {
    const found = reconcile(journal({ phase: "applied" }, { phase: "not_applied" }), [line("eff_1")], SPECS);
    assert.partialDeepStrictEqual(found, { ...CLEAN, doubts: [], applications: 1 });
  });

  test("a second application under one key is a duplicate", () => {
    const found = reconcile(journal({ phase: "applied" }), [line("eff_1"), line("eff_1")], SPECS);
    assert.deepEqual(found.duplicated, ["eff_1 (once.ignores) was applied 2 times and may be 1 times"]);
  });

  test("a duplicate that the receiver recognised is none", () => {
    const tool = "keyed.honours";
    const seen = [line("eff_1", { tool }), line("eff_1", { tool, outcome: "duplicate" })];
    assert.partialDeepStrictEqual(reconcile(journal({ phase: "applied", tool }), seen, SPECS), CLEAN);
  });

  test("keyed effects are held to one application by a receiver that forgets, too", () => {
    const tool = "keyed.forgets";
    const seen = [line("eff_1", { tool }), line("eff_1", { tool })];
    const found = reconcile(journal({ phase: "applied", tool, attempt: 2 }), seen, SPECS);
    assert.equal(found.duplicated.length, 1);
  });

  test("an idempotent effect may be repeated once an attempt where the receiver forgets, and no more", () => {
    const tool = "idempotent.forgets";
    const known = journal({ phase: "applied", tool, attempt: 2 });
    const twice = [line("eff_1", { tool }), line("eff_1", { tool })];
    assert.deepEqual(reconcile(known, twice, SPECS).duplicated, []);
    assert.equal(reconcile(known, [...twice, line("eff_1", { tool })], SPECS).duplicated.length, 1);
  });

  test("a receipt that says applied where nothing happened is a loss", () => {
    const found = reconcile(journal({ phase: "applied" }), [line("eff_1", { outcome: "refused" })], SPECS);
    assert.deepEqual(found.lost, ["eff_1 (once.ignores) is recorded as applied and never happened"]);
  });

  test("a row of the application's table counts like a line of the log", () => {
    const known = journal({ phase: "applied", tool: "table.book" });
    const row = line("eff_1", { mode: "table", tool: "table.book" });
    assert.deepEqual(reconcile(known, [row], SPECS).lost, []);
    assert.equal(reconcile(known, [], SPECS).lost.length, 1);
    assert.equal(reconcile(known, [row, row], SPECS).duplicated.length, 1);
  });

  test("a read leaves nothing behind, and its receipt is no loss", () => {
    assert.partialDeepStrictEqual(
      reconcile(journal({ phase: "applied", tool: "read.look" }), [], SPECS),
      CLEAN,
    );
  });

  test("an application that the journal does not know is unexplained", () => {
    const found = reconcile(journal(), [line("eff_9")], SPECS);
    assert.deepEqual(found.unexplained, ["eff_9 (once.ignores) happened and the journal does not know it"]);
  });

  for (const phase of ["open", "waiting", "refused", "not_applied"])
    test(`an application of what is recorded as ${phase} is unexplained`, () => {
      const found = reconcile(journal({ phase }), [line("eff_1")], SPECS);
      assert.deepEqual(found.unexplained, [`eff_1 (once.ignores) happened and is recorded as ${phase}`]);
    });

  test("an application with other bytes than were recorded is unexplained", () => {
    const other = line("eff_1", { args: canonicalJson({ ...ARGS, to: "somebody else" }) });
    const found = reconcile(journal({ phase: "applied" }), [other], SPECS);
    assert.deepEqual(found.unexplained, [
      "eff_1 (once.ignores) happened with other bytes than were recorded",
    ]);
  });

  test("what is in doubt is listed with what the log says of it, and is no fault", () => {
    const found = reconcile(journal({ phase: "in_doubt" }, { phase: "in_doubt" }), [line("eff_2")], SPECS);
    assert.partialDeepStrictEqual(found, CLEAN);
    assert.deepEqual(found.doubts, [
      { effect: "eff_1", tool: "once.ignores", applied: false },
      { effect: "eff_2", tool: "once.ignores", applied: true },
    ]);
  });

  test("what runs may or may not have happened", () => {
    const found = reconcile(journal({ phase: "running" }, { phase: "running" }), [line("eff_2")], SPECS);
    assert.partialDeepStrictEqual(found, { ...CLEAN, doubts: [] });
  });
});

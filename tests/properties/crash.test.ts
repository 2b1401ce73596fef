/** A process dies at any point, any number of times: what is recorded and what happened never contradict each other. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { Answer } from "../../src/index.ts";
import type { EffectClass } from "../../src/policy/rules/tool-rules.ts";
import type { CrashPoint } from "../../src/runtime/runtime.ts";
import { type Machine, machine, type Process, settled } from "../fixtures/runtime.ts";
import { runs } from "./runs.ts";

const POINTS: readonly CrashPoint[] = [
  "before_propose",
  "after_propose",
  "before_start",
  "after_start",
  "before_send",
  "after_send",
  "before_outcome",
  "after_outcome",
  "before_recover",
  "after_recover",
];
const CLASSES = ["once", "idempotent", "keyed", "probed", "read"] as const satisfies readonly EffectClass[];
/** The world outside: how often each key arrived, and what a receiver that honours keys made of it. */
type World = { sent: number; readonly keys: Set<string> };
type Life = { readonly hp: Process; readonly answer: Promise<Answer<string> | "died"> };

function live(
  computer: Machine,
  world: World,
  effect: (typeof CLASSES)[number],
  dieAt: CrashPoint | null,
): Life {
  const died = Promise.withResolvers<"died">();
  const hp: Process = computer.process({
    reach: (point) => {
      if (point !== dieAt) return undefined;
      hp.crash();
      died.resolve("died");
      return new Promise<never>(() => undefined);
    },
  });
  const tool = hp.gate({
    name: "act",
    effect: effect as "once",
    policy: "approve",
    finalityMs: 1_000,
    run: (_: object, { idempotencyKey }) => {
      world.sent++;
      world.keys.add(idempotencyKey);
      return "done";
    },
    verify: ({ idempotencyKey }) => ({ answer: world.keys.has(idempotencyKey) ? "applied" : "not_applied" }),
  });
  const answer = Promise.race([tool({}, { requestId: "job" }), died.promise]);
  return { hp, answer };
}

function isConsistent(effect: EffectClass, world: World, answer: Answer<string>): void {
  if (effect === "once" || effect === "probed") assert.ok(world.sent <= 1, `sent ${world.sent} times`);
  // A read leaves nothing behind until it is over, so the next life's is a new one.
  if (effect !== "read") assert.ok(world.keys.size <= 1, "one key");
  const happened = world.keys.size > 0;
  if (answer.status === "done") assert.ok(happened, "a receipt says applied and nothing happened");
  if ("code" in answer) assert.ok(!happened, "it happened and the answer says that it did not");
  if (effect === "idempotent" || effect === "keyed" || effect === "read") assert.equal(answer.status, "done");
}

const deaths = fc.array(fc.constantFrom(...POINTS), { maxLength: 4 });

test("however often it dies and wherever, an effect is never doubled against its class, never lost, never lied about", () =>
  fc.assert(
    fc.asyncProperty(fc.constantFrom(...CLASSES), deaths, async (effect, points) => {
      const computer = machine();
      const world: World = { sent: 0, keys: new Set() };
      for (const point of points) {
        const { hp, answer } = live(computer, world, effect, point);
        const ended = await Promise.race([answer, settled(30)]);
        if (ended !== "died") hp.crash();
        await computer.clock.advance(100);
      }
      const { hp, answer } = live(computer, world, effect, null);
      await settled(5);
      await computer.clock.advance(12_000);
      const first = await answer;
      assert.ok(first !== "died");
      const last = await hp.execute<object, string>({ requestId: "job", action: "act", payload: {} });
      isConsistent(effect, world, last);
      if (effect === "probed") assert.notEqual(last.status, "in_doubt", "a probe knows");
      await hp.seals.create();
      const report = await hp.journal.verify({ requireSealed: true });
      assert.deepEqual([report.ok, report.findings], [true, []]);
      await hp.close();
    }),
    runs(150),
  ));

async function isFinishedOnce(lives: readonly Life[]): Promise<void> {
  const states = await Promise.all(lives.map(({ hp }) => hp.actions.get("job")));
  for (const state of states) assert.equal(state.phase, states[0]?.phase);
  const journal = (await lives[0]?.hp.journal.read("job")) ?? [];
  const outcomes = journal.filter(({ type }) => /^effect\.(applied|not_applied)$/.test(type));
  assert.ok(outcomes.length <= 1, "one outcome");
}

test("two processes that think the other is dead never both finish one effect (leases)", () =>
  fc.assert(
    fc.asyncProperty(
      fc.constantFrom("once", "idempotent", "keyed"),
      fc.array(fc.integer({ min: 1_000, max: 40_000 }), { minLength: 1, maxLength: 5 }),
      async (effect, freezes) => {
        const computer = machine({ leaseMs: 30_000 });
        const world: World = { sent: 0, keys: new Set() };
        const lives = freezes.map(() => live(computer, world, effect as "once", null));
        for (const [index, ms] of freezes.entries()) {
          // A frozen process does not renew: its hold runs out while its timers stand still.
          if (index % 2 === 0)
            for (const hold of computer.database.holds.values()) hold.until = computer.clock.now();
          await computer.clock.advance(ms);
        }
        await computer.clock.advance(60_000);
        await isFinishedOnce(lives);
        if (effect === "once") assert.ok(world.sent <= 1);
        assert.ok(world.keys.size <= 1);
        for (const { hp, answer } of lives) {
          answer.catch(() => undefined);
          hp.crash();
        }
      },
    ),
    runs(60),
  ));

/**
 * Processes that end in good order, one after the other, in the middle of workflows of many shapes: nothing is done twice, at once
 * or not at all, nothing is in doubt, and nothing is stuck.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { GatedTool } from "../../src/effects/gate.ts";
import type { WorkflowContext } from "../../src/workflows/definition.ts";
import { createRandom } from "../simulator/random.ts";
import { ANN, type Desk, type Office, office } from "./office.ts";

type Done = { readonly key: string; readonly ms: number };
type Given = { readonly key: string; readonly shape: string; readonly ms: number };
type Run = (ctx: WorkflowContext, given: Given, tools: Tools) => Promise<unknown>;
type Tools = {
  readonly once: GatedTool<Done, string>;
  readonly again: GatedTool<Done, string>;
  readonly work: Work;
};
type Work = (key: string, ms: number) => Promise<string>;

/** Counts what was done, and what of it at the same time. */
function ledger({ clock }: Office) {
  const times = new Map<string, number>();
  const now = new Set<string>();
  const wrong: string[] = [];
  const work: Work = async (key, ms) => {
    times.set(key, (times.get(key) ?? 0) + 1);
    if (now.has(key)) wrong.push(`${key} at once`);
    now.add(key);
    await clock.sleep(ms);
    now.delete(key);
    return key;
  };
  const twice = () => [...times].filter(([, many]) => many > 1).map(([key]) => `${key} twice`);
  return { work, faults: () => [...wrong, ...twice()] };
}

async function three(
  ctx: WorkflowContext,
  { key, ms }: Given,
  each: (name: string, ms: number) => Promise<unknown>,
) {
  for (const part of ["1", "2", "3"]) {
    await each(`${key}.${part}`, ms);
    if (part === "2") await ctx.sleep(500);
  }
}

const inSteps = (ctx: WorkflowContext, given: Given, { work }: Tools) =>
  three(ctx, given, (name, ms) => ctx.step("part", () => work(name, ms)));

const inCalls = (ctx: WorkflowContext, given: Given, { once, again }: Tools) =>
  three(ctx, given, (key, ms) => ctx.call(key.endsWith("2") ? again : once, { key, ms }));

const beside = (given: Given, name: string): Given => ({ ...given, key: `${given.key}.${name}` });

const SHAPES: { readonly [shape: string]: Run } = {
  async "one after the other"(ctx, given, tools) {
    await inSteps(ctx, beside(given, "a"), tools);
    await inCalls(ctx, beside(given, "b"), tools);
  },
  "steps beside each other": (ctx, given, tools) =>
    ctx.parallel([
      (one) => inSteps(one, beside(given, "a"), tools),
      (other) => inSteps(other, beside(given, "b"), tools),
    ]),
  "a long step beside calls": (ctx, given, tools) =>
    ctx.parallel([
      (one) => one.step("long", () => tools.work(`${given.key}.long`, 5_000)),
      (other) => inCalls(other, beside(given, "b"), tools),
    ]),
  async "a checkpoint"(ctx, given, tools) {
    await inSteps(ctx, beside(given, "a"), tools);
    await ctx.checkpoint("Look", { summary: "so far" });
    await inCalls(ctx, beside(given, "b"), tools);
  },
  async "a way back"(ctx, given, tools) {
    await inCalls(ctx, given, tools);
    throw new Error("it goes back");
  },
};

function declare(desk: Desk, work: Work): void {
  const run = ({ key, ms }: Done) => work(key, ms);
  const undo = ({ key }: Done) => work(`undo of ${key}`, 300);
  const once = desk.gate<Done, string>({ name: "once", policy: "approve", run, undo });
  const again = desk.gate<Done, string>({ name: "again", policy: "approve", effect: "idempotent", run });
  desk.workflow<Given, unknown>("shape", { rollbackEnabled: true }, (ctx, given) =>
    (SHAPES[given.shape] as Run)(ctx, given, { once, again, work }),
  );
}

async function play(seed: number, shape: string): Promise<void> {
  const random = createRandom(BigInt(seed));
  const place = office(seed);
  const { work, faults } = ledger(place);
  const open = async () => {
    const desk = place.open();
    declare(desk, work);
    await desk.work();
    return desk;
  };
  const looker = place.open({ agent: "looker" });
  let desk = await open();
  const ids: string[] = [];
  for (const key of ["one", "two"])
    ids.push((await looker.workflows.start("shape", { key, shape, ms: random.between(50, 900) })).id);
  const ended = async () =>
    (await Promise.all(ids.map((id) => looker.workflows.get(id)))).every(({ end }) => end !== null);
  const closings: Promise<void>[] = [];
  for (let round = 0; round < 400 && !(await ended()); round++) {
    await place.pass(100);
    for (const { id } of (await looker.approvals.list()).items) await looker.approvals.approve(id, ANN);
    if (closings.length >= 6 || !random.chance(0.12)) continue;
    const before = desk;
    desk = await open();
    closings.push(before.close());
  }
  assert.ok(await ended(), "nothing is stuck");
  assert.deepEqual(faults(), []);
  assert.deepEqual((await looker.actions.list({ phase: "in_doubt" })).items, []);
  await place.finish(Promise.all([...closings, desk.close(), looker.close()]));
}

for (const shape of Object.keys(SHAPES))
  describe(`processes that end in good order: ${shape}`, () => {
    for (let seed = 1; seed <= 8; seed++) test(`seed ${seed}`, () => play(seed, shape));
  });

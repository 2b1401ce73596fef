/** A definition with an operation of every kind, whose process dies before or after every single commit. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { effectIdOf } from "../../src/effects/rules/start.ts";
import { type Death, deaths, dieAt, told } from "./death.ts";
import { ANN, type Desk, type Office, office } from "./office.ts";

/** The outside: what was done there, by key and in order, whatever processes believe. */
type Outside = { readonly booked: Map<string, unknown>; readonly paid: string[] };

type Results = { at: number; chance: number; version: number; colour: string; child: number; sides: unknown };

function setUp(desk: Desk, outside: Outside) {
  const book = desk.gate({
    name: "book",
    policy: "approve",
    effect: "idempotent",
    run: (args: { at: number; chance: number }, { idempotencyKey }) => {
      if (!outside.booked.has(idempotencyKey)) outside.booked.set(idempotencyKey, args);
      return { key: idempotencyKey };
    },
  });
  const pay = desk.gate({
    name: "pay",
    policy: "approve",
    run: ({ side }: { side: string }, { effect }) => {
      outside.paid.push(`${side} ${effect}`);
      return { paid: side };
    },
  });
  const child = desk.workflow("child", {}, async (ctx, { n }: { n: number }) => {
    const half = await ctx.step("half", () => n / 2);
    await ctx.sleep(1_000);
    return half + 1;
  });
  const flow = desk.workflow("all kinds", {}, async (ctx, _: object): Promise<Results> => {
    const version = ctx.version("the new way", 2);
    const at = ctx.now();
    const chance = ctx.random();
    ctx.log("begun", { at });
    await ctx.call(book, { at, chance });
    const plan = await ctx.step("plan", () => ["left", "right"]);
    const arrived: string[] = [];
    await ctx.parallel(
      plan.map((side, index) => async (own) => {
        if (index === 0) await own.sleep(20);
        // In doubt and not done after all: it is asked for again.
        while ((await own.call(pay, { side })).status !== "done") own.log("not paid", side);
        arrived.push(side);
      }),
    );
    const { outputs } = await ctx.checkpoint("Look", { outputs: { arrived } });
    await ctx.sleep(5_000);
    const told = await ctx.ask("colour", "Which colour?", { suggestion: { colour: "red" } });
    const colour = told.answered ? told.answer.colour : "none";
    return { at, chance, version, colour, child: await ctx.spawn(child, { n: 8 }), sides: outputs.arrived };
  });
  return flow;
}

/** Somebody at another desk who agrees to everything and knows what happened outside. */
async function decideAll(people: Desk, outside: Outside): Promise<void> {
  for (const { id } of (await people.approvals.list()).items) await people.approvals.approve(id, ANN);
  for (const { id } of (await people.actions.list({ phase: "in_doubt" })).items) {
    const effect = effectIdOf(id);
    const isPaid = outside.paid.some((line) => line.endsWith(effect));
    const status = isPaid ? "applied" : "not_applied";
    await people.actions.resolve(effect, { status, ...ANN, reason: "the bank says so" });
  }
}

async function live(death: Death) {
  const place: Office = office(death.commit);
  const outside: Outside = { booked: new Map(), paid: [] };
  const people = place.open({ agent: "people" });
  const first = place.open();
  const counter = dieAt(first, death);
  let desk = first;
  const flow = setUp(first, outside);
  // Whoever could not start it starts it again.
  void flow.start({}, { requestId: "r" }).catch(() => flow.start({}, { requestId: "r" }));
  const id = await place.until(async () => {
    await decideAll(people, outside);
    if (desk === first && counter.isDead()) {
      desk = place.open();
      // Whoever asked for it asks again: it may not have been created yet.
      void setUp(desk, outside).start({}, { requestId: "r" });
    }
    const { items } = await people.workflows.list({ status: "completed" });
    return items.find(({ name }) => name === "all kinds")?.id;
  });
  const result = await people.workflows.result(id);
  assert.equal(result.status, "completed");
  const all = await people.workflows.list();
  const commits = counter.count();
  await desk.close();
  return { result: result.result as Results, outside, commits, all: all.items };
}

function check({ result, outside, all }: Awaited<ReturnType<typeof live>>): void {
  assert.partialDeepStrictEqual(result, { version: 2, colour: "red", child: 5 });
  assert.deepEqual([...outside.booked.values()], [{ at: result.at, chance: result.chance }]);
  assert.deepEqual(outside.paid.map((line) => line.split(" ")[0]).sort(), ["left", "right"]);
  assert.deepEqual([...(result.sides as string[])].sort(), ["left", "right"]);
  assert.deepEqual(all.map(({ name, status }) => `${name} ${status}`).sort(), [
    "all kinds completed",
    "child completed",
  ]);
}

describe("a workflow whose process", async () => {
  const whole = await live({ commit: 0, when: "before" });
  test("has no trouble", () => check(whole));
  for (const death of deaths(whole.commits))
    test(`${told(death)} comes to the same end, and does everything once`, async () => {
      check(await live(death));
    });
});

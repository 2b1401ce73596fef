/** A deployment that is rejected once and approved the second time, whose process dies before or after every commit. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Death, deaths, dieAt, told } from "./death.ts";
import { ANN, type Desk, office } from "./office.ts";

/** What happened outside, in order, each key once. */
type Outside = { readonly done: string[] };

function once({ done }: Outside, line: string): void {
  if (!done.includes(line)) done.push(line);
}

function setUp(desk: Desk, outside: Outside) {
  const migrate = desk.gate({
    name: "migrate",
    policy: "approve",
    effect: "idempotent",
    undo: (_: { to: number }, { key }: { key: string }) => once(outside, `undo ${key}`),
    run: (_: { to: number }, { requestId }) => {
      once(outside, `do ${requestId}`);
      return { key: String(requestId) };
    },
  });
  const look = desk.gate({ name: "look", effect: "read", policy: "approve", run: () => "fine" });
  const part = desk.workflow("part", {}, async (ctx, { to }: { to: number }) => {
    await ctx.call(migrate, { to });
    return to;
  });
  return desk.workflow("deploy", {}, async (ctx, _: object) => {
    await ctx.call(migrate, { to: 1 });
    await ctx.checkpoint("Plan", { summary: "one is done" });
    await ctx.call(migrate, { to: 2 });
    await ctx.call(look, {});
    await ctx.spawn(part, { to: 3 });
    await ctx.step(
      "restart",
      { undo: (key: string) => once(outside, `undo ${key}`), effect: "idempotent" },
      (step) => {
        once(outside, `do ${step.idempotencyKey}`);
        return step.idempotencyKey;
      },
    );
    await ctx.checkpoint("Result", { summary: ctx.sentBack?.reason ?? "first try" });
    return { attempt: ctx.attempt, reason: ctx.sentBack?.reason };
  });
}

/** Approves the plan, rejects the first result, approves the second. */
async function decide(people: Desk): Promise<void> {
  for (const { id, tool } of (await people.approvals.list()).items) {
    const { rationale } = await people.approvals.get(id);
    if (tool === "Result" && rationale === "first try")
      await people.approvals.reject(id, { ...ANN, reason: "the tests are red" });
    else await people.approvals.approve(id, ANN);
  }
}

async function live(death: Death) {
  const place = office(death.commit + 1);
  const outside: Outside = { done: [] };
  const people = place.open({ agent: "people" });
  const first = place.open();
  const counter = dieAt(first, death);
  let desk = first;
  const flow = setUp(first, outside);
  // Whoever could not start it starts it again.
  void flow.start({}, { requestId: "r" }).catch(() => flow.start({}, { requestId: "r" }));
  const id = await place.until(async () => {
    await decide(people);
    if (desk === first && counter.isDead()) {
      desk = place.open();
      void setUp(desk, outside).start({}, { requestId: "r" });
    }
    const { items } = await people.workflows.list();
    return items.find(({ name, endedAt }) => name === "deploy" && endedAt !== null)?.id;
  });
  const result = await people.workflows.result(id);
  const entries = await people.entries(id);
  const commits = counter.count();
  await desk.close();
  return { id, result, outside, commits, entries };
}

/** `wf_…/1//migrate#2` as `1/migrate#2`, the child by its name. */
const short = (line: string, id: string): string =>
  line.replaceAll(`${id}/`, "").replace(/wf_[0-9A-Z]+\/1/, "child");

function check({ id, result, outside, entries }: Awaited<ReturnType<typeof live>>): void {
  assert.partialDeepStrictEqual(result, {
    status: "completed",
    result: { attempt: 2, reason: "the tests are red" },
  });
  const lines = outside.done.map((line) => short(line, id).replace(/eff_\w+/, "restart"));
  assert.deepEqual(lines.length, new Set(outside.done).size);
  assert.deepEqual(
    lines.map((line) => line.replaceAll("//", "/")),
    [
      "do 1/migrate#1",
      "do 1/migrate#2",
      "do child/migrate#1",
      "do restart",
      "undo restart",
      "undo child/migrate#1",
      "undo 1/migrate#2",
      "do 2/migrate#2",
      "do child/migrate#1",
      "do restart",
    ],
  );
  const undone = entries.filter(
    ({ type, body }) => type === "compensation.settled" && body["status"] === "undone",
  );
  assert.equal(undone.length, 3);
  assert.equal(entries.filter(({ type }) => type === "rollback.ended").length, 1);
}

describe("a workflow that is sent back, whose process", async () => {
  const whole = await live({ commit: 0, when: "before" });
  test("has no trouble", () => check(whole));
  for (const death of deaths(whole.commits))
    test(`${told(death)} undoes everything once, newest first, and goes on`, async () => {
      check(await live(death));
    });
});

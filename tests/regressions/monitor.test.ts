/** A monitor goes on whatever the agents that it watches have written: one that stops is blind for every rule. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { MonitorRule, WhenRule } from "../../src/alerts/rules/monitor-rule.ts";
import { HoldpointError } from "../../src/kernel/errors.ts";
import type { Decide, DecideResult, Needs } from "../../src/kernel/transaction.ts";

import { allAlerts, noticesOf, told, watch } from "../monitor/watching.ts";
import { type Body, flowOf, kit } from "../workflows/kit.ts";
import { type Desk, office } from "../workflows/office.ts";

const MOST = Number.MAX_SAFE_INTEGER;
const BUSY: MonitorRule = {
  kind: "rate",
  name: "busy",
  of: "calls",
  per: "tool",
  windowMs: 600_000,
  above: 2,
};

const failuresOf = (desk: Desk) => noticesOf(desk, "maintenance_failed").map(({ error }) => String(error));

/** Under a rule and another that watches calls; three calls come last. */
async function under(rule: MonitorRule, first: Body): Promise<readonly string[]> {
  const place = office();
  const desk = place.open();
  const monitor = await watch(desk, [rule, BUSY]);
  const body: Body = async (ctx, tools) => {
    await first(ctx, tools);
    for (const n of [1, 2, 3]) await ctx.call(tools.mail, { n });
  };
  const flow = flowOf(desk, [], body, { checkpoints: [{ name: "c", requiresApproval: false }] });
  await place.finish(flow.run({}));
  await place.finish(Promise.race([monitor.caughtUp(), place.clock.sleep(30_000)]));
  assert.deepEqual(failuresOf(desk), []);
  const list = told(await allAlerts(desk));
  await place.finish(desk.close());
  return list.map((line) => line.replace(/wf_\w+/, "wf"));
}

describe("a monitor of resources", () => {
  const rule: MonitorRule = {
    ...{ kind: "resources", name: "used", tokens: 10, elapsedMs: 86_400_000 },
    cost: { currency: "USD", micros: 10n },
  };
  const cases: readonly (readonly [string, string, Body])[] = [
    [
      "tokens, twice as many as a number can hold",
      "tokens",
      (ctx) => ctx.step("s", () => ({ tokens: { input: MOST, output: MOST } })),
    ],
    [
      "a cost that has no number in micros",
      "cost",
      (ctx) => ctx.checkpoint("c", { resources: { estimatedCostUsd: MOST } }),
    ],
    [
      "a time that has no number in milliseconds",
      "elapsedMs",
      (ctx) => ctx.checkpoint("c", { resources: { executionTimeSeconds: MOST } }),
    ],
  ];
  for (const [what, limit, body] of cases)
    test(`is told ${what}, says so, and sees the rest`, async () => {
      assert.deepEqual(await under(rule, body), [`- used workflow:wf ${limit}`, "+ busy tool:mail"]);
    });
});

describe("a monitor with a condition", () => {
  const own = (condition: WhenRule["condition"]): MonitorRule => ({
    ...{ kind: "when", name: "own", per: "all" },
    condition,
  });
  const cases: Readonly<Record<string, WhenRule["condition"]>> = {
    "fails with a text that is cut in the middle of a character": () => {
      throw new Error(`${"x".repeat(499)}\u{1f600}`);
    },
    "tells figures that nobody could read": () => ({ holds: true, figures: { all: "x".repeat(5_000) } }),
  };
  for (const [what, condition] of Object.entries(cases))
    test(`that ${what} is said to be broken, and the rest is seen`, async () => {
      assert.deepEqual(await under(own(condition), async () => null), ["+ own rule", "+ busy tool:mail"]);
    });
});

test("a monitor that knows too much to be kept says so and goes on", async () => {
  const place = office();
  const desk = place.open();
  const monitor = await watch(desk, [BUSY]);
  const { transact } = desk.store;
  const tooMuch = (decision: DecideResult<unknown>): DecideResult<unknown> => {
    if (decision.kind === "commit" && decision.append.some(({ stream }) => stream.kind === "monitor"))
      throw new HoldpointError("payload_too_large", "The value's JSON is over 64 MiB.");
    return decision;
  };
  const store = desk.store as { transact: unknown };
  store.transact = (tenant: string, needs: Needs, decide: Decide<unknown>) =>
    transact(tenant, needs, (sight) => tooMuch(decide(sight)));
  const tools = kit(desk, []);
  for (let n = 0; n < 260; n++) await place.finish(tools.look({ n }));
  await place.finish(monitor.caughtUp());
  assert.match(failuresOf(desk)[0] ?? "", /payload_too_large/);
  for (const n of [1, 2, 3]) await place.finish(tools.mail({ n }));
  await place.finish(monitor.caughtUp());
  assert.deepEqual(told(await allAlerts(desk)), ["+ busy tool:look", "+ busy tool:mail"]);
  await place.finish(desk.close());
});

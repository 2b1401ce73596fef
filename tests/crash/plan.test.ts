import assert from "node:assert/strict";
import { test } from "node:test";
import { createRandom } from "../simulator/random.ts";
import { nameOf, placesFor } from "./places.ts";
import { planRun } from "./plan.ts";

const planOf = (kills: number, seed: bigint, serverCrashes = 0) =>
  planRun({ store: "sqlite", kills, serverCrashes }, createRandom(seed));

const named = (plan: ReturnType<typeof planOf>) =>
  plan.flatMap((step) => (step.kind === "place" ? [nameOf(step.place)] : []));

test("the seed decides who dies when and where; half of the kills are places in turn, most others are moments", () => {
  const plan = planOf(200, 7n, 3);
  const places = named(plan).length;
  const moments = plan.filter(({ kind }) => kind === "moment").length;
  assert.equal(places + moments, 200);
  assert.ok(places >= 100 && places < 120, `${places} places`);
  assert.equal(plan.filter(({ kind }) => kind === "server").length, 3);
  assert.deepEqual(plan, planOf(200, 7n, 3));
  assert.notDeepEqual(plan, planOf(200, 8n, 3));
});

test("100 kills have every named place among them", () => {
  const planned = new Set(named(planOf(100, 7n)));
  assert.deepEqual(
    placesFor("sqlite")
      .map(nameOf)
      .filter((name) => !planned.has(name)),
    [],
  );
});

test("whoever is to die while taking over follows somebody who leaves something to take over", () => {
  const plan = planOf(200, 7n);
  for (const [index, step] of plan.entries()) {
    if (step.kind !== "place" || !step.place.fresh) continue;
    const before = plan[index - 1];
    assert.ok(before?.kind === "place" && nameOf(before.place) === "request_written · keyed.");
  }
});

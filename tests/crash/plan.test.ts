import assert from "node:assert/strict";
import { test } from "node:test";
import { createRandom } from "../../src/testing/simulator/random.ts";
import { nameOf, placesFor } from "./places.ts";
import { planRun } from "./plan.ts";

const planOf = (kills: number, seed: bigint, serverCrashes = 0) =>
  planRun({ store: "sqlite", kills, serverCrashes }, createRandom(seed));

test("half of the kills come at a random moment, half at a named place, and the seed decides which", () => {
  const plan = planOf(200, 7n, 3);
  assert.equal(plan.filter(({ kind }) => kind === "moment").length, 100);
  assert.equal(plan.filter(({ kind }) => kind === "place").length, 100);
  assert.equal(plan.filter(({ kind }) => kind === "server").length, 3);
  assert.deepEqual(plan, planOf(200, 7n, 3));
  assert.notDeepEqual(plan, planOf(200, 8n, 3));
});

test("200 kills have every named place among them", () => {
  const planned = new Set(
    planOf(200, 7n).flatMap((step) => (step.kind === "place" ? [nameOf(step.place)] : [])),
  );
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

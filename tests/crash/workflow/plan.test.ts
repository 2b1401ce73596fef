import assert from "node:assert/strict";
import { test } from "node:test";
import { createRandom } from "../../simulator/random.ts";
import { everyPlace, placesInTurn, planLives } from "./plan.ts";
import { pointOf } from "./whereabouts.ts";

const seen = new Set(
  ["before_send", "after_send", "before_fact", "before_rest"].flatMap((point) =>
    ["reserve", "hire", "pay again"].map((what) => `${point} · ${what}`),
  ),
);
const places = everyPlace(seen);

test("one place of every point comes first", () => {
  const turn = placesInTurn(createRandom(5n), places);
  const points = new Set(places.map(pointOf));
  assert.deepEqual(new Set(turn.slice(0, points.size).map(pointOf)), points);
  assert.deepEqual(turn.toSorted(), places.toSorted());
});

test("twice as many lives as places come by every place", () => {
  const plan = planLives(createRandom(5n), places, 2 * places.length);
  const planned = new Set(plan.flatMap((one) => (one.kind === "place" ? one.place : [])));
  assert.deepEqual([...planned].toSorted(), places.toSorted());
  assert.ok(plan.some(({ kind }) => kind === "moment"));
});

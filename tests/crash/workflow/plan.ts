/** The order of a run's deaths, drawn from its seed: one at every named point first, then at all other places, then at random moments. */
import type { Random } from "../../../src/testing/simulator/random.ts";
import { placeName, pointOf } from "./whereabouts.ts";

export type Planned =
  | { readonly kind: "place"; readonly place: string; readonly nth: number }
  | { readonly kind: "moment"; readonly afterMs: number };

/** Places that nobody comes by unless somebody died before. */
const AFTER_A_DEATH = [
  "before_recover",
  "after_recover",
  "before_send",
  "request_written",
  "after_send",
  "before_outcome",
  "after_outcome",
].map((point) => placeName(point, "beside"));

/** Every place of a worker: those that were seen where nothing was killed, and those of taking over. */
export const everyPlace = (seen: ReadonlySet<string>): readonly string[] => [
  ...new Set([...seen, ...AFTER_A_DEATH]),
];

function shuffled<Item>(random: Random, items: readonly Item[]): readonly Item[] {
  return items
    .map((item) => ({ item, at: random.float() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

/** One place for every point first, so that few deaths reach all points. */
export function placesInTurn(random: Random, places: readonly string[]): readonly string[] {
  const mixed = shuffled(random, places);
  const firsts = mixed.filter(
    (place, at) => mixed.findIndex((other) => pointOf(other) === pointOf(place)) === at,
  );
  return [...firsts, ...mixed.filter((place) => !firsts.includes(place))];
}

/** `lives` deaths; of those beyond one for every place, half come at a random moment. */
export function planLives(random: Random, places: readonly string[], lives: number): readonly Planned[] {
  const turn = placesInTurn(random, places);
  const planned = Array.from({ length: lives }, (_, at): Planned => {
    const isMoment = at >= turn.length ? at % 2 === 0 : at % 8 === 7;
    if (isMoment) return { kind: "moment", afterMs: random.between(50, 900) };
    const skipped = at < turn.length ? Math.floor(at / 8) : 0;
    const place = turn[(at - skipped) % turn.length] as string;
    return { kind: "place", place, nth: random.between(1, 3) };
  });
  return planned;
}

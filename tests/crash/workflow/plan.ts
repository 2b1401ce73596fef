/** The order of a run's deaths, drawn from its seed: one at every named point first, then at all other places, then at random moments. */
import type { Random } from "../../simulator/random.ts";
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

/** Every place in turn with a random moment between some; after all of them, half come at a random moment. */
export function planLives(random: Random, places: readonly string[], lives: number): readonly Planned[] {
  const turn = placesInTurn(random, places);
  const most = Math.min(3, 1 + Math.floor(lives / 10));
  let next = 0;
  return Array.from({ length: lives }, (_, at): Planned => {
    const isMoment = next < turn.length ? at % 8 === 7 : at % 2 === 0;
    if (isMoment) return { kind: "moment", afterMs: random.between(50, 900) };
    const place = turn[next++ % turn.length] as string;
    return { kind: "place", place, nth: random.between(1, most) };
  });
}

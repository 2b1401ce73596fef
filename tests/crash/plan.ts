/**
 * The order of a run's deaths, drawn from its seed: half at named places in turn, the others at random moments, but for
 * those few that leave work for a death while it is taken over.
 */
import type { Random } from "../simulator/random.ts";
import { type Place, placesFor } from "./places.ts";

export type Planned =
  | { readonly kind: "moment"; readonly afterMs: number; readonly who: "newest" | "any" | "decider" }
  | { readonly kind: "place"; readonly place: Place; readonly nth: number }
  | { readonly kind: "server"; readonly downMs: number };

export type PlanOptions = {
  readonly store: "sqlite" | "postgres";
  readonly kills: number;
  readonly serverCrashes: number;
};

function shuffled<Item>(random: Random, items: readonly Item[]): readonly Item[] {
  return items
    .map((item) => ({ item, at: random.float() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

/** One place for every point first, so that few kills reach all points; then the rest, then all again. */
function placesInTurn(random: Random, places: readonly Place[]): readonly Place[] {
  const mixed = shuffled(random, places);
  const firsts = mixed.filter(({ point }, at) => mixed.findIndex((other) => other.point === point) === at);
  return [...firsts, ...mixed.filter((place) => !firsts.includes(place))];
}

/** Dies with a keyed effect under way: whoever comes next has something to take over. */
const leavesWork = (place: Place): boolean => place.point === "request_written" && place.about === "keyed.";

/** A place, and before one that takes over somebody who leaves it something. */
export function unitFor(place: Place, nth: number): readonly Planned[] {
  const leaver = placesFor("sqlite").find(leavesWork);
  const first =
    place.fresh && leaver !== undefined ? [{ kind: "place", place: leaver, nth: 1 } as const] : [];
  return [...first, { kind: "place", place, nth }];
}

const timesFor = (place: Place, random: Random): number =>
  place.fresh || place.about === "once.drops" ? 1 : random.between(1, 3);

export function planRun({ store, kills, serverCrashes }: PlanOptions, random: Random): readonly Planned[] {
  const turn = placesInTurn(random, placesFor(store));
  const units = Array.from({ length: Math.ceil(kills / 2) }, (_, at) => {
    const place = turn[at % turn.length] as Place;
    return unitFor(place, timesFor(place, random));
  });
  const left = Math.max(0, kills - units.flat().length);
  const moments = Array.from({ length: left }, (): readonly Planned[] => {
    const who = random.pick(["newest", "newest", "newest", "any", "any", "decider"] as const);
    return [{ kind: "moment", afterMs: random.between(0, 250), who }];
  });
  const crashes = Array.from({ length: serverCrashes }, (): readonly Planned[] => [
    { kind: "server", downMs: random.between(0, 400) },
  ]);
  return shuffled(random, [...units, ...moments, ...crashes]).flat();
}

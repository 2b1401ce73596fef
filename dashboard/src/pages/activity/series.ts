/** What the charts are made of: one series a figure, each with a name, a tone and a texture, so that colour is not alone. */
import type { Day } from "../../api/activity.ts";
import { several } from "../../format/amounts.ts";
import type { Tone } from "../../ui/tone.ts";

export type Texture = "solid" | "lines" | "cross" | "dots" | "hollow";

export type Series = {
  readonly id: string;
  readonly name: string;
  readonly tone: Tone;
  readonly texture: Texture;
  readonly of: (day: Day) => number;
};

const series = (id: string, name: string, look: readonly [Tone, Texture], of: Series["of"]): Series => ({
  ...{ id, name, of },
  tone: look[0],
  texture: look[1],
});

export const DECIDED: readonly Series[] = [
  series("approved", "approved", ["go", "solid"], ({ approved }) => approved),
  series("modified", "approved with a change", ["note", "lines"], ({ modified }) => modified),
  series("rejected", "rejected", ["stop", "cross"], ({ rejected }) => rejected),
  series("expired", "expired", ["hold", "dots"], ({ expired }) => expired),
  series("cancelled", "withdrawn", ["plain", "hollow"], ({ cancelled }) => cancelled),
];

/** What policy said of what was proposed. */
export const VERDICTS: readonly Series[] = [
  series("approve", "approve", ["go", "solid"], ({ verdicts }) => verdicts.approve),
  series("revise", "revise", ["note", "lines"], ({ verdicts }) => verdicts.revise),
  series("escalate", "escalate to people", ["hold", "dots"], ({ verdicts }) => verdicts.escalate),
  series("block", "block", ["stop", "cross"], ({ verdicts }) => verdicts.block),
];

/** Two parts of what was proposed; what was refused is of both. */
export const REVIEWED: readonly Series[] = [
  series("by_policy", "by policy alone", ["note", "solid"], ({ by_policy }) => by_policy),
  series("asked", "people were asked", ["hold", "lines"], ({ actions, by_policy }) => actions - by_policy),
];
export const REFUSED: Series = series(
  "refused",
  "refused, of both",
  ["stop", "solid"],
  ({ refused }) => refused,
);

export const DONE: readonly Series[] = [
  series("applied", "happened", ["go", "solid"], ({ applied }) => applied),
  series("not_applied", "did not happen", ["stop", "cross"], ({ not_applied }) => not_applied),
  series("in_doubt", "in doubt", ["doubt", "solid"], ({ in_doubt }) => in_doubt),
];

export const totalOf = ({ of }: Series, days: readonly Day[]): number =>
  days.reduce((sum, day) => sum + of(day), 0);

/** What readers and the line under a chart are told of one day, or of all. */
export function figuresText(all: readonly Series[], days: readonly Day[]): string {
  const told = all
    .map((one) => ({ name: one.name, total: totalOf(one, days) }))
    .filter(({ total }) => total > 0);
  return told.length === 0 ? "nothing" : told.map(({ name, total }) => `${total} ${name}`).join(", ");
}

const SHORT = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", timeZone: "UTC" });
const LONG = new Intl.DateTimeFormat(undefined, {
  ...{ weekday: "long", day: "numeric", month: "long", timeZone: "UTC" },
});
export const shortDay = (day: string): string => SHORT.format(new Date(`${day}T00:00:00Z`));
export const longDay = (day: string): string => LONG.format(new Date(`${day}T00:00:00Z`));

/** About so many of the days, evenly, the last one always. */
export function labelledDays(days: readonly string[], most: number): readonly string[] {
  const every = Math.max(1, Math.ceil(days.length / Math.max(1, most)));
  return days.filter((_, index) => (days.length - 1 - index) % every === 0);
}

export const spanOfDays = (days: readonly Day[]): string => several(days.length, "day");

/** What a key does wherever one is: `g` and a letter go to a page, `?` shows all keys. */
import type { Place } from "./places.ts";

/** How long the letter may take. */
export const GOING_MS = 1_500;

export type Pressed = {
  readonly key: string;
  /** When `g` was pressed last, and now, on the same clock; null where it was not. */
  readonly wentAt: number | null;
  readonly at: number;
};
export type KeyDeed =
  | { readonly kind: "go"; readonly to: string }
  | { readonly kind: "wait" }
  | { readonly kind: "help" }
  | { readonly kind: "nothing" };

/** `places`: those that one may see. */
export function deedOf({ key, wentAt, at }: Pressed, places: readonly Place[]): KeyDeed {
  if (wentAt !== null && at - wentAt < GOING_MS) {
    const place = places.find((one) => one.key === key);
    return place === undefined ? { kind: "nothing" } : { kind: "go", to: place.to };
  }
  if (key === "g") return { kind: "wait" };
  return key === "?" ? { kind: "help" } : { kind: "nothing" };
}

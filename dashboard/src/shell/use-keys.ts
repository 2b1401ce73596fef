/**
 * Keys of a page. They do nothing while somebody types, in a dialog, with a modifier, or right after `g`, which goes elsewhere.
 *
 * K1. Enter is of the button or link that has the focus; a page's own only where nothing has it.
 */
import { useEffect, useRef } from "react";
import { belongsElsewhere } from "./belongs-elsewhere.ts";
import { GOING_MS } from "./global-keys.ts";
import { keysAreOn } from "./keys-choice.ts";
import { type PageKeys, usePageKeys } from "./page-keys.ts";

export type Keys = { readonly [key: string]: (event: KeyboardEvent) => void };

let wentAt = Number.NEGATIVE_INFINITY;

const isOfFocused = ({ key, target }: KeyboardEvent): boolean => key === "Enter" && target !== document.body;

/** Letters can be switched off; what has no letter cannot. */
const isOurs = (event: KeyboardEvent): boolean =>
  !belongsElsewhere(event) && !isOfFocused(event) && (event.key.length > 1 || keysAreOn());

/** `help` is what the overlay of all keys shows of them. */
export function useKeys(keys: Keys, help: PageKeys): void {
  usePageKeys(help);
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!isOurs(event)) return;
      const isGoing = event.timeStamp - wentAt < GOING_MS;
      if (event.key === "g") wentAt = event.timeStamp;
      const act = isGoing ? undefined : latest.current[event.key];
      if (act === undefined) return;
      event.preventDefault();
      act(event);
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
}

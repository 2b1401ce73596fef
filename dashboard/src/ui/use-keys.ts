/** Keys of a page. They do nothing while somebody types, in a dialog, with a modifier, or right after `g`, which goes elsewhere. */
import { useEffect, useRef } from "react";

export type Keys = { readonly [key: string]: (event: KeyboardEvent) => void };

const GOING_MS = 1_500;
const TYPING = "input, textarea, select, [contenteditable], [role=textbox]";

let wentAt = Number.NEGATIVE_INFINITY;

const isElsewhere = ({ target }: KeyboardEvent): boolean =>
  target instanceof Element &&
  (target.closest(TYPING) !== null || document.querySelector("dialog[open]") !== null);

export function useKeys(keys: Keys): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isElsewhere(event))
        return;
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

/** Whoever has pressed what is there no more goes on reading from the outcome, or from the heading. */
import { type RefObject, useEffect, useRef } from "react";
import type { Desk } from "./use-desk.ts";

type Places = { readonly [place in "heading" | "outcome"]: RefObject<HTMLElement | null> };

export function useKeptFocus(
  { approval, card, asking, isEditing }: Desk,
  { heading, outcome }: Places,
): void {
  const state = `${approval.status} ${card.you.vote} ${asking} ${isEditing}`;
  const before = useRef(state);
  useEffect(() => {
    const isSame = before.current === state;
    before.current = state;
    // What opens takes the focus itself.
    if (isSame || asking !== null || isEditing || document.activeElement !== document.body) return;
    (outcome.current ?? heading.current)?.focus({ preventScroll: true });
  }, [state, asking, isEditing, heading, outcome]);
}

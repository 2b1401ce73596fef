/** Which row the keyboard is at, and which are selected. Both follow the rows, not their places. */
import { useCallback, useEffect, useRef, useState } from "react";
import type { Row } from "./use-inbox.ts";

export type RowCursor = {
  readonly at: string | null;
  readonly setAt: (id: string | null) => void;
  readonly step: (by: number) => void;
};

const hasFocus = (id: string): boolean =>
  document.activeElement?.closest<HTMLElement>("[data-row]")?.dataset["row"] === id;

/** `reveal` brings a row into sight and puts the focus on it. */
export function useRowCursor(items: readonly Row[], reveal: (index: number) => void): RowCursor {
  const [at, setAt] = useState<string | null>(null);
  const place = useRef(0);
  const wasHere = useRef(false);
  const index = items.findIndex(({ id }) => id === at);
  if (index >= 0) place.current = index;
  // Asked while it is still drawn: with it the focus goes.
  else if (at !== null) wasHere.current = hasFocus(at);
  useEffect(() => {
    // Its row has left: whoever was there is at the one that took its place. Whoever is elsewhere stays there.
    if (at === null || index >= 0) return;
    const next = items[Math.min(place.current, items.length - 1)];
    setAt(next?.id ?? null);
    if (next !== undefined && wasHere.current) reveal(items.indexOf(next));
  }, [at, index, items, reveal]);
  const step = useCallback(
    (by: number) => {
      const from = index >= 0 ? index + by : 0;
      const to = Math.max(0, Math.min(items.length - 1, from));
      const item = items[to];
      if (item === undefined) return;
      setAt(item.id);
      reveal(to);
    },
    [index, items, reveal],
  );
  return { at, setAt, step };
}

export const MOST_SELECTED = 50;

export type Selection = {
  readonly ids: ReadonlySet<string>;
  readonly toggle: (id: string) => void;
  readonly clear: () => void;
};

export function useSelection(items: readonly Row[]): Selection {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const there = new Set(items.filter(({ isGone }) => !isGone).map(({ id }) => id));
  const ids = new Set([...chosen].filter((id) => there.has(id)));
  const toggle = useCallback((id: string) => {
    setChosen((now) => {
      const next = new Set(now);
      if (!next.delete(id) && next.size < MOST_SELECTED) next.add(id);
      return next;
    });
  }, []);
  const clear = useCallback(() => setChosen(new Set()), []);
  return { ids, toggle, clear };
}

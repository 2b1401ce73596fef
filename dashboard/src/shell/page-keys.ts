/** The keys that the page in front has beside those that work everywhere: each page says its own. */
import { useEffect, useSyncExternalStore } from "react";

export type KeyHelp = { readonly keys: string; readonly does: string };
export type PageKeys = { readonly title: string; readonly keys: readonly KeyHelp[] };

let shown: readonly PageKeys[] = [];
const listeners = new Set<() => void>();

function change(next: readonly PageKeys[]): void {
  shown = next;
  for (const listener of listeners) listener();
}

/** `page` stays the same from one drawing to the next. */
export function usePageKeys(page: PageKeys): void {
  useEffect(() => {
    change([...shown, page]);
    return () => change(shown.filter((one) => one !== page));
  }, [page]);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

export const useShownKeys = (): readonly PageKeys[] => useSyncExternalStore(subscribe, () => shown);

/** The policy that is being tried out: one for the whole page, gone when the window is closed. */
import { useSyncExternalStore } from "react";

let draft = "";
const listeners = new Set<() => void>();

export function setDraft(text: string): void {
  draft = text;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

export const useDraft = (): string => useSyncExternalStore(subscribe, () => draft);

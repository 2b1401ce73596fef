/** The policy that is being tried out: one for the whole page, gone when the window is closed. */
import { useSyncExternalStore } from "react";

let draft = "";
let begunWith = "";
const listeners = new Set<() => void>();

export const draftNow = (): string => draft;

export function setDraft(text: string): void {
  draft = text;
  for (const listener of listeners) listener();
}

/** Once for a version: one that is asked for anew, or come back to, does not take the place of what was written since. */
export function beginDraft(digest: string, text: string): void {
  if (digest === begunWith) return;
  begunWith = digest;
  setDraft(text);
}

/** Whoever chooses a version wants its text, also where it was the beginning before. */
export function chooseAnew(): void {
  begunWith = "";
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

export const useDraft = (): string => useSyncExternalStore(subscribe, draftNow);

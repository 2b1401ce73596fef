/** Without authentication, the name that whoever sits here gives. It is kept in this browser and proves nothing. */
import { useSyncExternalStore } from "react";

const PLACE = "holdpoint.name";
const NOBODY = "somebody";
const listeners = new Set<() => void>();

export const claimedName = (): string => window.localStorage.getItem(PLACE) ?? NOBODY;

export function claimName(name: string): void {
  window.localStorage.setItem(PLACE, name.trim() || NOBODY);
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

export const useClaimedName = (): string => useSyncExternalStore(subscribe, claimedName);

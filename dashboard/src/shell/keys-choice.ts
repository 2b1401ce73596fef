/** Whether single letters do something: whoever speaks to the machine, or types by accident, can switch them off. Kept in this browser. */
import { useSyncExternalStore } from "react";

const PLACE = "holdpoint.keys";
const OFF = "off";
const listeners = new Set<() => void>();

export const keysAreOn = (): boolean => window.localStorage.getItem(PLACE) !== OFF;

export function switchKeys(isOn: boolean): void {
  window.localStorage.setItem(PLACE, isOn ? "on" : OFF);
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

export const useKeysOn = (): boolean => useSyncExternalStore(subscribe, keysAreOn);

/** Light, dark, or as the system says. Kept in this browser. */
import { useSyncExternalStore } from "react";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const PLACE = "holdpoint.theme";
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();

const isTheme = (text: string | null): text is Theme => THEMES.some((theme) => theme === text);

export function themeNow(): Theme {
  const kept = window.localStorage.getItem(PLACE);
  return isTheme(kept) ? kept : "system";
}

export function applyTheme(): void {
  const theme = themeNow();
  const isDark = theme === "dark" || (theme === "system" && dark.matches);
  document.documentElement.dataset["theme"] = isDark ? "dark" : "light";
}

export function setTheme(theme: Theme): void {
  window.localStorage.setItem(PLACE, theme);
  applyTheme();
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

export const useTheme = (): Theme => useSyncExternalStore(subscribe, themeNow);

dark.addEventListener("change", applyTheme);

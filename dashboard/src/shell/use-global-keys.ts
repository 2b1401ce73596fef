import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { deedOf } from "./global-keys.ts";
import { keysAreOn } from "./keys-choice.ts";
import type { Place } from "./places.ts";

const TYPING = "input, textarea, select, [contenteditable], [role=textbox]";

/** Somebody types, a dialog is in front, or the key belongs to the browser. */
function isElsewhere(event: KeyboardEvent): boolean {
  const isModified = event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented;
  const isTyped = event.target instanceof Element && event.target.closest(TYPING) !== null;
  return isModified || isTyped || document.querySelector("dialog[open]") !== null;
}

export function useGlobalKeys(places: readonly Place[], onHelp: () => void): void {
  const navigate = useNavigate();
  const act = useRef<(event: KeyboardEvent) => void>(() => {});
  const wentAt = useRef<number | null>(null);
  act.current = (event) => {
    if (isElsewhere(event) || !keysAreOn()) return;
    const deed = deedOf({ key: event.key, wentAt: wentAt.current, at: event.timeStamp }, places);
    wentAt.current = deed.kind === "wait" ? event.timeStamp : null;
    if (deed.kind === "nothing" || deed.kind === "wait") return;
    event.preventDefault();
    if (deed.kind === "help") onHelp();
    else void navigate({ to: deed.to }).then(() => document.getElementById("main")?.focus());
  };
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => act.current(event);
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
}

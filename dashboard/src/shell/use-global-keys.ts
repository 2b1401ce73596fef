import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { belongsElsewhere } from "./belongs-elsewhere.ts";
import { deedOf } from "./global-keys.ts";
import { keysAreOn } from "./keys-choice.ts";
import type { Place } from "./places.ts";

export function useGlobalKeys(places: readonly Place[], onHelp: () => void): void {
  const navigate = useNavigate();
  const act = useRef<(event: KeyboardEvent) => void>(() => {});
  const wentAt = useRef<number | null>(null);
  act.current = (event) => {
    if (belongsElsewhere(event) || !keysAreOn()) return;
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

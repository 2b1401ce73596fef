/** Whether a button means what it meant half a second ago: one that has just come, or changed, under a finger or a key does nothing yet. */
import { useEffect, useState } from "react";

const STEADY_MS = 500;

export function useSteady(meaning: string): boolean {
  const [now, setNow] = useState({ meaning, isSteady: false });
  // While drawing: there is no moment in which the new meaning counts as the old one.
  if (now.meaning !== meaning) setNow({ meaning, isSteady: false });
  useEffect(() => {
    if (now.isSteady) return;
    const timer = window.setTimeout(() => setNow({ ...now, isSteady: true }), STEADY_MS);
    return () => window.clearTimeout(timer);
  }, [now]);
  return now.meaning === meaning && now.isSteady;
}

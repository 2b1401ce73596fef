/** What was just done, in a line that goes away by itself and is read out. */
import { useSyncExternalStore } from "react";
import { Icon } from "./icon.tsx";
import { Strange } from "./strange.tsx";
import { TEXT, type Tone } from "./tone.ts";

type Toast = { readonly id: number; readonly text: string; readonly tone: Tone };

const SHOWN_MS = 6_000;
let toasts: readonly Toast[] = [];
let last = 0;
const listeners = new Set<() => void>();

function change(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

export function toast(text: string, tone: Tone = "go"): void {
  last += 1;
  const id = last;
  change([...toasts.slice(-2), { id, text, tone }]);
  window.setTimeout(() => change(toasts.filter((one) => one.id !== id)), SHOWN_MS);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

export function Toaster() {
  const shown = useSyncExternalStore(subscribe, () => toasts);
  return (
    <div
      role="status"
      aria-live="polite"
      className="pointer-events-none fixed inset-x-4 bottom-20 z-40 flex flex-col items-center gap-2 md:bottom-6"
    >
      {shown.map(({ id, text, tone }) => (
        <p
          key={id}
          className="flex max-w-lg items-center gap-2 rounded-base border border-line bg-surface px-4 py-2.5 text-small font-semibold shadow-lg"
        >
          <Icon name={tone === "stop" ? "warn" : "check"} className={`size-4 ${TEXT[tone]}`} />
          <Strange text={text} />
        </p>
      ))}
    </div>
  );
}

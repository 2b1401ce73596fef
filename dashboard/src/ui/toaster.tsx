/**
 * What was just done, in a line that goes away by itself and is read out. It lies on no button that decides, and a tap on it
 * reaches nothing below.
 */
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

const forget = (id: number): void => change(toasts.filter((one) => one.id !== id));

export function toast(text: string, tone: Tone = "go"): void {
  last += 1;
  const id = last;
  change([...toasts.slice(-2), { id, text, tone }]);
  window.setTimeout(() => forget(id), SHOWN_MS);
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
      className="pointer-events-none fixed inset-x-4 top-16 z-40 flex flex-col items-center gap-2 md:top-4 lg:top-auto lg:bottom-6"
    >
      {shown.map(({ id, text, tone }) => (
        <button
          key={id}
          type="button"
          onClick={() => forget(id)}
          className="pointer-events-auto flex max-w-lg items-center gap-2 rounded-base border border-line bg-surface px-4 py-2.5 text-small font-semibold shadow-lg"
        >
          <Icon name={tone === "stop" ? "warn" : "check"} className={`size-4 ${TEXT[tone]}`} />
          <Strange text={text} />
        </button>
      ))}
    </div>
  );
}

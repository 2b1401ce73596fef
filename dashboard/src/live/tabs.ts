/**
 * The tabs of one browser: a browser has six connections to a server, and every stream takes one of them for good.
 *
 * T1. Whoever has the lock holds the stream and tells the others. Its tab closed, the next one has the lock at once.
 * T2. A tab that somebody looks at asks the holder for a sign of life. The holder's own timers are of no use for that: those of
 *     a tab that nobody looks at are a minute late.
 */
import type { Ear } from "./ear.ts";
import { type Holder, holdAs } from "./holder.ts";
import type { Note } from "./one-stream.ts";

const ASK_MS = 3_000;
const ASKS = "asks";

/** Browsers have locks only where the connection is safe, or the server on the same machine. */
export const canShare = (): boolean => "locks" in navigator && navigator.locks !== undefined;

/** `begins` whenever somebody looks, and `again` every now and then while they do. */
function whileLookedAt(begins: () => void, again: () => void, signal: AbortSignal): void {
  let timer: number | undefined;
  const turn = () => {
    window.clearInterval(timer);
    if (document.hidden) return;
    begins();
    timer = window.setInterval(again, ASK_MS);
  };
  document.addEventListener("visibilitychange", turn, { signal });
  signal.addEventListener("abort", () => window.clearInterval(timer), { once: true });
  turn();
}

/** Until `hold` is over, the lock was taken away, or nobody waits for it any longer. */
async function withLock(name: string, how: LockOptions, hold: () => Promise<void>): Promise<void> {
  try {
    await navigator.locks.request(name, how, hold);
  } catch (error) {
    if (!(error instanceof DOMException && error.name === "AbortError")) throw error;
  }
}

/** Until the signal aborts. Tabs with the same name have one stream. */
export async function shareStream(name: string, ear: Ear, signal: AbortSignal): Promise<void> {
  const channel = new BroadcastChannel(name);
  signal.addEventListener("abort", () => channel.close(), { once: true });
  let holder: Holder | undefined;
  let waiting = new AbortController();
  let isRelieving = false;
  const ask = () => {
    if (holder !== undefined) return;
    ear.ask();
    channel.postMessage(ASKS);
  };
  const look = () => {
    if (holder !== undefined || !ear.isToBeRelieved()) return ask();
    isRelieving = true;
    waiting.abort();
  };
  channel.addEventListener("message", ({ data }: MessageEvent<Note | typeof ASKS>) => {
    if (data === ASKS) holder?.answer();
    else if (holder === undefined) ear.hear(data);
  });
  whileLookedAt(ask, look, signal);
  while (!signal.aborted) {
    waiting = new AbortController();
    const over = new AbortController();
    const how = isRelieving ? { steal: true } : { signal: AbortSignal.any([signal, waiting.signal]) };
    await withLock(name, how, () => {
      isRelieving = false;
      const tell = (note: Note) => channel.postMessage(note);
      const ends = AbortSignal.any([signal, over.signal]);
      holder = holdAs({ name: crypto.randomUUID(), ear, tell, signal: ends });
      return holder.ended;
    });
    over.abort();
    if (holder === undefined || signal.aborted) continue;
    // Another tab took it.
    holder = undefined;
    ear.forget();
    ask();
  }
}

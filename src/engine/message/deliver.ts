/**
 * Tells the outside, until the signal aborts: reads the log, makes messages of it, sends what is due. Any number of processes
 * may do so at once.
 *
 * L1. A store that was restored or copied tells nobody anything before a person has acknowledged it: a copy would write to
 *     the same people and machines as the original.
 */

import { sleepFor } from "../../kernel/clock.ts";
import { errorText } from "../../kernel/text.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import type { StoreChanges } from "../../stores/store.ts";
import { createNotifier } from "./notifier.ts";
import type { Office } from "./send-one.ts";
import { createSender } from "./sender.ts";

const BACK_OFF_MS = 1_000;
const UNSETTLED_MS = 100;

type Bell = { ring(): void; heard(signal: AbortSignal): Promise<void> };

/** Rings once for all that happened since it was last heard. */
function createBell(): Bell {
  let isRung = false;
  let wake: (() => void) | null = null;
  return {
    ring() {
      isRung = true;
      wake?.();
    },
    async heard(signal) {
      if (!isRung && !signal.aborted)
        await new Promise<void>((resolve) => {
          wake = resolve;
          signal.addEventListener("abort", () => resolve(), { once: true });
        });
      wake = null;
      isRung = false;
    },
  };
}

/** Until something was committed after `position`, `due`, a ring or the end. Answers where the commits stand. */
async function awaitNews(
  { clock, store }: Runtime,
  { position, due, bell }: { readonly position: number; readonly due: number | null; readonly bell: Bell },
  signal: AbortSignal,
): Promise<StoreChanges & { readonly isUnsettled: boolean }> {
  const over = new AbortController();
  const stop = () => over.abort();
  signal.addEventListener("abort", stop, { once: true });
  try {
    const moved = store.follow(position, over.signal);
    const late = due === null ? moved : sleepFor(clock, Math.max(due - clock.now(), 1), over.signal);
    await Promise.race([moved, late, bell.heard(over.signal)]);
    stop();
    const seen = await moved;
    return { ...seen, isUnsettled: seen.position === position && seen.streams.length > 0 };
  } finally {
    stop();
    signal.removeEventListener("abort", stop);
  }
}

export async function deliver(office: Office, signal: AbortSignal): Promise<void> {
  const { runtime } = office;
  const bell = createBell();
  let told = "";
  const tell = (error: unknown) => {
    if (signal.aborted || told === errorText(error)) return;
    told = errorText(error);
    runtime.notify({ kind: "maintenance_failed", error });
  };
  const notifier = createNotifier(runtime);
  let isFreed = false;
  const sender = createSender(office, (error) => {
    isFreed = true;
    if (error !== undefined) tell(error);
    bell.ring();
  });
  await runtime.history.confirm();
  let isLost = true;
  let followed = await runtime.store.position();
  let due: number | null = null;

  async function turn(): Promise<void> {
    const isFirst = isLost;
    const broken = runtime.history.broken();
    if (broken !== undefined) throw broken;
    if (isLost) await notifier.begin();
    isLost = false;
    const isNews = await notifier.readOn(signal);
    if (signal.aborted) return;
    if (isFirst || isNews || isFreed || (due !== null && due <= runtime.clock.now())) {
      isFreed = false;
      due = await sender.dispatch(notifier.endpoints());
    }
    const news = await awaitNews(runtime, { position: followed, due, bell }, signal);
    followed = news.position;
    notifier.passOver(news);
    if (news.isUnsettled) await runtime.clock.sleep(UNSETTLED_MS, signal);
  }

  /** What fails is told once, and tried again from the place that was kept. */
  async function recover(error: unknown): Promise<void> {
    if (signal.aborted) return;
    tell(error);
    isLost = true;
    await runtime.clock.sleep(BACK_OFF_MS, signal);
  }

  while (!signal.aborted) await turn().catch(recover);
  await sender.rest();
  if (!isLost) await notifier.keep();
}

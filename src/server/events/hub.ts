/**
 * Follows a tenant's journal for everybody of this process who listens to it.
 *
 * F1. One read and one frame an entry, however many listen.
 * F2. Frames are handed out in commit order, each once; `position` is that of the last one.
 */

import type { Clock } from "../../kernel/clock.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { createFramer, type Frame, type Framer, framesOf } from "./frame.ts";

/** Gets all frames of one read together. */
export type Ear = (frames: readonly Frame[]) => void;

export type Hub = {
  /** The last entry that was handed out. */
  position(): number;
  /** From the next frame on. Answers how to leave. */
  join(ear: Ear): () => void;
  /** What was handed out after a position; undefined where that is too long ago to be kept. */
  recent(after: number): readonly Frame[] | undefined;
  readonly frame: Framer;
  /** Resolves when the following has begun. */
  readonly begun: Promise<void>;
  close(): void;
};

type Place = Pick<Runtime, "store" | "tenant">;

const PAGE = 500;
const KEPT = 2_000;
const KEPT_CHARACTERS = 4_000_000;
const BACK_OFF_MS = 1_000;
const UNSETTLED_MS = 100;

/** The newest frames, from which whoever was away for a moment goes on. */
function createRing(start: number) {
  const frames: Frame[] = [];
  let from = start;
  let characters = 0;
  return {
    add(added: readonly Frame[]): void {
      for (const frame of added) characters += frame.size;
      frames.push(...added);
      let gone = 0;
      while (frames.length - gone > KEPT || characters > KEPT_CHARACTERS) {
        const oldest = frames[gone];
        if (oldest === undefined) break;
        characters -= oldest.size;
        from = oldest.position;
        gone++;
      }
      frames.splice(0, gone);
    },
    after(position: number): readonly Frame[] | undefined {
      if (position < from) return undefined;
      const first = frames.findIndex((frame) => frame.position > position);
      return first === -1 ? [] : frames.slice(first);
    },
  };
}

type Reading = {
  readonly place: Place;
  readonly clock: Clock;
  readonly frame: Framer;
  readonly signal: AbortSignal;
  readonly failed: (error: unknown) => void;
  /** Handed out in this order. */
  readonly give: (frames: readonly Frame[]) => void;
};

/** Until it succeeds, or the signal aborts. */
async function insist({ clock, signal, failed }: Reading, act: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    try {
      return await act();
    } catch (error) {
      if (signal.aborted) return;
      failed(error);
      await clock.sleep(BACK_OFF_MS, signal);
    }
  }
}

/** From a position on, as long as the signal lets it. */
function createReader(reading: Reading, start: number) {
  const { place, clock, frame, signal, give } = reading;
  const { store, tenant } = place;
  let position = start;
  let followed = start;

  async function readOn(): Promise<void> {
    for (;;) {
      const page = await store.log(tenant, position, PAGE);
      const frames = await framesOf(frame, page);
      const last = page.at(-1);
      if (last === undefined || signal.aborted) return;
      position = last.position;
      give(frames);
      if (page.length < PAGE) return;
    }
  }

  /** What a store has seen and does not show in its log yet is looked for again a little later. */
  async function turn(): Promise<void> {
    await readOn();
    const moved = await store.follow(followed, signal);
    if (moved.position === followed && moved.streams.length > 0) await clock.sleep(UNSETTLED_MS, signal);
    followed = moved.position;
  }

  return async () => {
    while (!signal.aborted) await insist(reading, turn);
  };
}

export function createHub(place: Place, clock: Clock, failed: (error: unknown) => void): Hub {
  const over = new AbortController();
  const ears = new Set<Ear>();
  const frame = createFramer(place);
  let position = 0;
  let ring = createRing(0);
  const give = (frames: readonly Frame[]) => {
    position = frames.at(-1)?.position ?? position;
    ring.add(frames);
    for (const ear of [...ears]) ear(frames);
  };
  const reading: Reading = { place, clock, frame, signal: over.signal, failed, give };
  const begun = insist(reading, async () => {
    position = await place.store.position();
    ring = createRing(position);
  });
  begun.then(() => createReader(reading, position)()).catch(failed);
  return {
    position: () => position,
    join(ear) {
      ears.add(ear);
      return () => void ears.delete(ear);
    },
    recent: (after) => ring.after(after),
    frame,
    begun,
    close: () => over.abort(),
  };
}

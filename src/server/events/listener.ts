/**
 * One connection that listens: what it missed first, then what happens.
 *
 * L1. Each frame that it wants once, in commit order, over reconnects too: it is told the position of the last one.
 * L2. One that does not read is cut off, and can come back with that position; nothing piles up for it.
 */
import type { ServerResponse } from "node:http";
import type { Runtime } from "../../runtime/runtime.ts";
import { type Frame, framesOf } from "./frame.ts";
import type { Hub } from "./hub.ts";

export type Wants = (frame: Frame) => boolean;

export type Listener = {
  /** A sign of life that moves the position on. */
  beat(): void;
  /** Ends it, with how long to wait before coming back. */
  end(): void;
  /** Cuts it off. */
  cut(): void;
  readonly gone: Promise<void>;
};

const MOST_WAITING = 1_048_576;
const PAGE = 500;
export const RETRY_MS = 2_000;
const DRAIN_MS = 30_000;

/** The same frames for the same wishes are one text, made once. */
const made = new WeakMap<readonly Frame[], Map<string, string>>();

function textFor(frames: readonly Frame[], { name, wants }: Wish): string {
  const texts = made.get(frames) ?? new Map<string, string>();
  made.set(frames, texts);
  const known = texts.get(name);
  if (known !== undefined) return known;
  const text = frames
    .filter(wants)
    .map((frame) => frame.text())
    .join("");
  texts.set(name, text);
  return text;
}

export type Wish = { readonly name: string; readonly wants: Wants };
type Place = Pick<Runtime, "store" | "tenant">;

export type Listening = {
  readonly hub: Hub;
  readonly place: Place;
  readonly wish: Wish;
  readonly response: ServerResponse;
  /** The last position it has. */
  readonly after: number;
};

/** Whoever does not read for this long is cut off. */
export function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => response.destroy(), DRAIN_MS);
    timer.unref();
    const done = () => {
      clearTimeout(timer);
      resolve();
    };
    response.once("drain", done);
    response.once("close", done);
  });
}

export function listen({ hub, place, wish, response, after }: Listening): Listener {
  let last = after;
  let leave: () => void = () => undefined;
  const isOver = () => response.destroyed || response.writableEnded;
  const gone = new Promise<void>((resolve) => {
    const left = () => {
      leave();
      resolve();
    };
    if (response.destroyed || response.closed) left();
    else response.once("close", left);
  });

  function put(text: string): void {
    if (text === "" || isOver()) return;
    response.write(text);
    if (response.writableLength > MOST_WAITING) response.destroy();
  }

  function hear(frames: readonly Frame[]): void {
    const [first] = frames;
    const isWhole = first === undefined || first.position > last;
    const fresh = isWhole ? frames : frames.filter(({ position }) => position > last);
    // Another node may have told it more than this one has read: it never goes back.
    last = Math.max(last, frames.at(-1)?.position ?? last);
    put(textFor(fresh, wish));
  }

  /** From the store, as fast as the other end reads; then without a gap from the hub: it is asked and joined in one turn. */
  async function begin(): Promise<void> {
    while (!isOver()) {
      const recent = hub.recent(last);
      if (recent !== undefined) {
        hear(recent);
        leave = hub.join(hear);
        return;
      }
      const handedOut = hub.position();
      const page = await place.store.log(place.tenant, last, PAGE);
      hear(await framesOf(hub.frame, page));
      // Nothing of this tenant lies between: the hub has read that far.
      if (page.length === 0) last = Math.max(last, handedOut);
      if (response.writableNeedDrain) await drained(response);
    }
  }

  response.write(`retry: ${RETRY_MS}\nid: ${last}\nevent: ready\ndata: {"position":${last}}\n\n`);
  begin().catch(() => response.destroy());
  return {
    gone,
    beat: () => put(`:\nid: ${last}\n\n`),
    end() {
      leave();
      if (!isOver()) response.end(`retry: ${RETRY_MS}\nevent: closing\ndata: {}\n\n`);
    },
    cut: () => void response.destroy(),
  };
}

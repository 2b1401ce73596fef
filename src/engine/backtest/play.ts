/** Plays a tenant's whole journal to whoever listens, a page at a time. */
import type { Heard } from "../../core/backtest/heard.ts";
import { type Replay, startReplay } from "../../core/backtest/replay.ts";
import { tapeEntry } from "../../core/backtest/tape.ts";
import { neverYield, type YieldCheck } from "../../runtime/concurrency.ts";
import { logPages } from "../../runtime/journal.ts";
import type { JournalEntry, Store } from "../../stores/store.ts";

import { pastOfFork } from "./fork-past.ts";

type Place = { readonly store: Store; readonly tenant: string };
export type Progress = (done: number, total: number) => void;
export type Playing = {
  readonly progress?: Progress;
  /** Beside other work; without one it goes on until it is done. */
  readonly pace?: YieldCheck;
};

/** Called in the order of the journal; what it answers is awaited only if it has to be. */
export type Listener = (heard: Heard, replay: Replay) => void | Promise<void>;

type Play = {
  readonly place: Place;
  readonly replay: Replay;
  readonly listen: Listener;
  readonly pace: YieldCheck;
};

async function playPage({ place, replay, listen, pace }: Play, page: readonly JournalEntry[]): Promise<void> {
  for (const entry of page) {
    const turn = pace();
    if (turn !== undefined) await turn;
    const taped = tapeEntry(entry);
    const heard = taped === undefined ? undefined : replay.take(taped);
    if (heard === undefined) continue;
    if (heard.kind === "forked")
      replay.begin(heard.workflow, await pastOfFork(place, heard.fork, heard.position));
    const later = listen(heard, replay);
    if (later !== undefined) await later;
  }
}

export async function playJournal(
  place: Place,
  listen: Listener,
  { progress, pace = neverYield }: Playing = {},
): Promise<void> {
  const play = { place, replay: startReplay(), listen, pace };
  const total = progress === undefined ? 0 : await place.store.position();
  for await (const page of logPages(place)) {
    await playPage(play, page);
    const last = page.at(-1);
    if (last !== undefined) progress?.(last.position, total);
  }
}

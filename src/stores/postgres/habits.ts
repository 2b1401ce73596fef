/**
 * What decisions of a tenant lately asked for in a second round: the kill switch, an epoch, a budget that all calls share.
 * It is locked along from the start, so that the next ones find it there. A guess that is wrong costs a lock, no more.
 */
import { type StreamRef, streamName } from "../../kernel/stream.ts";
import type { Needs } from "../../kernel/transaction.ts";

export type Habits = {
  /** After a batch: what its members asked for, each in its second round. */
  learn(members: number, asked: readonly Needs[]): void;
  usual(): Needs;
};

/** Streams that were asked for twice are locked along for so many batches. */
const KEPT = 128;
const MOST = 16;

type Asked = { readonly stream: StreamRef; write: boolean; times: number };
type Usual = Pick<Asked, "stream" | "write"> & { readonly until: number };

export function createHabits(): Habits {
  const usual = new Map<string, Usual>();
  let once = new Set<string>();
  let batch = 0;
  let needs: Needs = {};
  const remember = (name: string, { stream, write }: Asked) => {
    if (!once.has(name)) once.add(name);
    else if (usual.size < MOST || usual.has(name)) usual.set(name, { stream, write, until: batch + KEPT });
  };
  return {
    learn(members, asked) {
      if (++batch % KEPT === 0) once = new Set();
      if (asked.length === 0 && batch % KEPT !== 0) return;
      for (const [name, { until }] of usual) if (until < batch) usual.delete(name);
      for (const [name, one] of tally(asked)) if (one.times * 2 >= members) remember(name, one);
      needs = { write: streamsOf(usual, true), read: streamsOf(usual, false) };
    },
    usual: () => needs,
  };
}

const streamsOf = (usual: ReadonlyMap<string, Usual>, write: boolean): readonly StreamRef[] =>
  [...usual.values()].filter((one) => one.write === write).map(({ stream }) => stream);

function tally(asked: readonly Needs[]): ReadonlyMap<string, Asked> {
  const all = new Map<string, Asked>();
  const add = (stream: StreamRef, write: boolean) => {
    const name = streamName(stream);
    const one = all.get(name) ?? { stream, write, times: 0 };
    one.write ||= write;
    one.times++;
    all.set(name, one);
  };
  for (const { write = [], read = [] } of asked) {
    for (const stream of write) add(stream, true);
    for (const stream of read) add(stream, false);
  }
  return all;
}

/**
 * The decisions of a batch, in order, each seeing what those before it planned.
 *
 * D1. A member whose decision or rows fail has planned nothing, and fails alone: it is told so when the batch is over. A
 *     batch that failed is decided again with all of them, and then nobody may have an answer yet.
 * D2. A member that needs what is not locked is not decided here: it goes into a later batch with its larger needs.
 */

import { HoldpointError } from "../../kernel/errors.ts";
import { type StreamRef, streamName } from "../../kernel/stream.ts";
import type { Needs } from "../../kernel/transaction.ts";
import type { Folds } from "../../states.ts";

import type { Head } from "../head.ts";
import { type Ground, type Plan, planning } from "../plan.ts";
import { indexName } from "../sight.ts";
import { type Append, MOST_ENTRIES, sizeOf, type Writing, writeNothing } from "./append.ts";
import type { Standing, Wanted } from "./ground.ts";
import type { Seen } from "./heads.ts";
import { type Member, wantMore } from "./member.ts";

export type Decided = {
  readonly writing: Writing;
  readonly done: readonly { readonly member: Member; readonly result: unknown }[];
  readonly refused: readonly { readonly member: Member; readonly error: unknown }[];
  readonly again: readonly Member[];
  /** What those asked for. */
  readonly asked: readonly Needs[];
};

export type Deciding = {
  readonly tenant: string;
  readonly folds: Folds;
  readonly append: Append;
  readonly wanted: Wanted;
  readonly standing: Standing;
  readonly seen: ReadonlyMap<string, Seen>;
  now(): number;
  random(bytes: number): Uint8Array;
};

export function decideAll(deciding: Deciding, members: readonly Member[]): Decided {
  const writing = writeNothing();
  const ground = groundOf(deciding, writing);
  const place = {
    sidOf: (name: string): number => deciding.seen.get(name)?.found.sid ?? 0,
    isTaken: (name: string): boolean => deciding.standing.names.has(name),
  };
  const done: { member: Member; result: unknown }[] = [];
  const refused: { member: Member; error: unknown }[] = [];
  const again: Member[] = [];
  const asked: Needs[] = [];
  for (const member of members) {
    try {
      const plan = planOf(deciding, ground, member);
      if (!("result" in plan)) {
        asked.push(plan);
        again.push(member);
      } else if (fits(writing, plan)) {
        deciding.append.add(writing, plan, place);
        done.push({ member, result: plan.result });
      } else again.push(member);
    } catch (error) {
      refused.push({ member, error });
    }
  }
  return { writing, done, refused, again, asked };
}

/** When nothing can fail any more. */
export function tellAll({ done, refused }: Pick<Decided, "done" | "refused">): void {
  for (const { member, result } of done) member.answer(result);
  for (const { member, error } of refused) member.refuse(error);
}

function groundOf({ tenant, folds, standing, seen, now, random }: Deciding, writing: Writing): Ground {
  return {
    tenant,
    folds,
    now,
    random,
    head(_stream: StreamRef, name: string): Head {
      const written = writing.streams.get(name);
      if (written !== undefined) return written.head;
      const found = seen.get(name);
      if (found !== undefined && "head" in found) return found.head;
      throw found === undefined ? new TypeError(`"${name}" was not looked at`) : found.error;
    },
    name: (name) => writing.names.get(name)?.stream ?? standing.names.get(name),
    index: (key) => standing.index.get(indexName(key)) ?? [],
  };
}

function planOf(deciding: Deciding, ground: Ground, member: Member): Plan<unknown> | Needs {
  const steps = planning(ground, member.needs, member.decide);
  for (let first = true; ; first = false) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (first || isLocked(deciding.wanted, step.value)) continue;
    wantMore(member, step.value);
    return step.value;
  }
}

function isLocked({ streams, names, index }: Wanted, needs: Needs): boolean {
  return (
    (needs.write ?? []).every((stream) => streams.get(streamName(stream))?.write === true) &&
    (needs.read ?? []).every((stream) => streams.has(streamName(stream))) &&
    (needs.names ?? []).every((name) => names.has(name)) &&
    (needs.index ?? []).every((key) => index.has(indexName(key)))
  );
}

/** What one batch sends at most, unless one member alone is larger. */
const MOST_BYTES = 16 * 1024 * 1024;

function fits(writing: Writing, plan: Plan<unknown>): boolean {
  const more = plan.streams.reduce((sum, { entries }) => sum + entries.length, 0);
  if (more > MOST_ENTRIES)
    throw new HoldpointError("payload_too_large", `A decision appends at most ${MOST_ENTRIES} entries.`);
  const hasRoom = writing.size === 0 || writing.size + sizeOf(plan) <= MOST_BYTES;
  return hasRoom && writing.entries.length + more <= MOST_ENTRIES;
}

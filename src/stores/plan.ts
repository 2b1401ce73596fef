/**
 * One decision, from needs to entries, without any I/O of its own: what every store does between its locks and its
 * writes. A store brings the ground the decision stands on and writes the plan that comes back.
 *
 * D1. `now` is never before a fact that the decision can see, even when the clock was set back.
 * D2. A state is folded from the bytes that are stored, so that live and replayed states are equal.
 * D3. A decision that throws has planned nothing.
 */

import { makeEntry, SALT_BYTES, type StoredEntry } from "../journal/entry.ts";
import { sha256 } from "../kernel/canonical-json.ts";
import { HoldpointError } from "../kernel/errors.ts";
import type { Artifact } from "../kernel/stored-value.ts";
import { type IndexKey, type StreamRef, streamName } from "../kernel/stream.ts";
import type { Decide, DecideResult, IndexRow, Needs } from "../kernel/transaction.ts";
import type { Folds } from "../states.ts";

import { foldEvent, type Head } from "./head.ts";
import { type Declared, declareAll, declaredOf, declaring, type Known, sightOf } from "./sight.ts";

export type Ground = {
  readonly tenant: string;
  readonly folds: Folds;
  now(): number;
  random(bytes: number): Uint8Array;
  head(stream: StreamRef, name: string): Head;
  name(name: string): StreamRef | undefined;
  index(key: IndexKey): readonly IndexRow[];
};

export type PlannedStream = {
  readonly stream: StreamRef;
  readonly name: string;
  readonly before: Head;
  readonly after: Head;
  readonly entries: readonly StoredEntry[];
};

export type PlannedName = { readonly name: string; readonly stream: StreamRef };

export type Plan<Result> = {
  readonly streams: readonly PlannedStream[];
  readonly names: readonly PlannedName[];
  readonly artifacts: readonly Artifact[];
  readonly result: Result;
};

type Commit<Result> = Extract<DecideResult<Result>, { kind: "commit" }>;

/**
 * Each round names streams that were not named before, so that rules end by themselves; this stops a rule that does not. A call deep in
 * workflows that several grants cover takes nine rounds and more.
 */
export const MOST_ROUNDS = 64;

/** Yields what has to be locked before it goes on: a store whose locks take time fetches that first. */
export function* planning<Result>(
  ground: Ground,
  needs: Needs,
  decide: Decide<Result>,
): Generator<Needs, Plan<Result>, void> {
  const known = declaring();
  let more = needs;
  for (let round = 0; round < MOST_ROUNDS; round++) {
    yield more;
    declareAll(known, ground, more);
    const now = latest(ground.now(), known);
    const decision = decide(sightOf(known, { tenant: ground.tenant, folds: ground.folds, now }));
    if (decision.kind === "commit") return planned({ ground, known, now }, decision);
    more = decision.needs;
  }
  throw new HoldpointError("broken_rule", `A decision asked for more streams ${MOST_ROUNDS} times.`);
}

/** For a store that has everything at hand. */
export function makePlan<Result>(ground: Ground, needs: Needs, decide: Decide<Result>): Plan<Result> {
  const steps = planning(ground, needs, decide);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

function latest(clock: number, known: Known): number {
  let now = clock;
  for (const { head } of known.streams) now = Math.max(now, head.at);
  return now;
}

type Standing = { readonly ground: Ground; readonly known: Known; readonly now: number };

function planned<Result>(standing: Standing, commit: Commit<Result>): Plan<Result> {
  const streams: PlannedStream[] = [];
  for (const { stream, events } of commit.append) {
    const declared = declaredOf(standing.known, stream);
    if (declared?.write !== true) throw undeclared(`appended to the stream "${streamName(stream)}"`);
    if (events.length > 0) extend(standing, streams, declared, events);
  }
  const names = commit.names ?? [];
  for (const { name } of names)
    if (!standing.known.names.has(name)) throw undeclared(`took the name "${name}"`);
  const artifacts = commit.artifacts ?? [];
  for (const artifact of artifacts) checkArtifact(artifact);
  return { streams, names, artifacts, result: commit.result };
}

/** A decision may append to one stream in several goes. */
function extend(standing: Standing, streams: PlannedStream[], declared: Declared, events: Events): void {
  const { name, stream, head } = declared;
  const at = streams.findIndex((planned) => planned.name === name);
  const sofar = streams[at] ?? { stream, name, before: head, after: head, entries: [] };
  const longer = appended(standing, sofar, events);
  if (at < 0) streams.push(longer);
  else streams[at] = longer;
}

type Events = Commit<unknown>["append"][number]["events"];

function appended({ ground, now }: Standing, sofar: PlannedStream, events: Events): PlannedStream {
  const entries = [...sofar.entries];
  let head = sofar.after;
  for (const event of events) {
    const place = { tenant: ground.tenant, stream: sofar.name, seq: head.seq + 1, at: now, prev: head.hash };
    const entry = makeEntry(place, event, hexOf(ground.random(SALT_BYTES)));
    const { hash, body } = entry;
    const step = { type: event.type, tv: event.tv, at: now, seq: place.seq, body, hash };
    head = foldEvent(ground.folds, sofar.stream.kind, head, step);
    entries.push(entry);
  }
  return { ...sofar, after: head, entries };
}

function hexOf({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("hex");
}

function checkArtifact({ hash, bytes }: Artifact): void {
  if (sha256(bytes) === hash) return;
  throw new HoldpointError("broken_rule", `An artifact's bytes do not have the hash ${hash}.`);
}

function undeclared(what: string): HoldpointError {
  return new HoldpointError("broken_rule", `A decision ${what} without declaring it.`);
}

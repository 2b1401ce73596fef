/**
 * What every store does around its own reads and writes. It guards each call: none runs after the store was closed, and
 * none on a database that reported damage. And it makes one decision, from needs to entries, without I/O, between taking
 * its locks and writing: a store supplies the transaction's context and writes the returned plan. A decision sees only
 * what it declared.
 * - `now` is never before a fact that the decision can see, even if the clock was set back.
 * - A state is folded from the stored bytes, so that live and replayed states are equal.
 * - A decision that throws has planned nothing.
 */

import { type Entry, makeEntry, SALT_BYTES } from "../journal/entry.ts";
import { sha256 } from "../kernel/canonical-json.ts";
import { HoldpointError } from "../kernel/errors.ts";
import type { Artifact } from "../kernel/stored-value.ts";
import { type IndexKey, type StreamRef, streamName } from "../kernel/stream.ts";
import type { Decide, DecideResult, DecisionScope, IndexRow, Needs } from "../kernel/transaction.ts";
import type { Folds, StateAt } from "../states.ts";
import { foldEvent, foldOf, type Head } from "./head.ts";

export type StoreEnd = { damage: unknown; closed: Promise<void> | undefined };

/** The meaning of a store's own errors. */
type ErrorTranslation = {
  translated(error: unknown): unknown;
  isDamage(error: unknown): boolean;
  /** The connection was closed during the call. */
  isClosed(error: unknown): boolean;
};

export type GuardedCall = <Answer>(verb: () => Promise<Answer>) => Promise<Answer>;

export function guardCalls(
  ended: StoreEnd,
  { translated, isDamage, isClosed }: ErrorTranslation,
): GuardedCall {
  const closed = (cause?: unknown) => new HoldpointError("closed", "The store was closed.", { cause });
  return async (verb) => {
    if (ended.damage !== undefined) throw translated(ended.damage);
    if (ended.closed !== undefined) throw closed();
    try {
      return await verb();
    } catch (error) {
      if (isDamage(error)) ended.damage ??= error;
      throw isClosed(error) ? closed(error) : translated(error);
    }
  };
}

/** Half a surrogate pair has no UTF-8: two such names would become one row in a database. */
export function checkStoredText(what: string, text: string): string {
  if (text.length > 0 && text.isWellFormed()) return text;
  throw new HoldpointError("invalid_input", `A ${what} has to be valid Unicode and not empty.`);
}

type DeclaredStream = {
  readonly stream: StreamRef;
  readonly name: string;
  write: boolean;
  readonly head: Head;
};

/** A list with linear search: a decision declares a handful, and comparing is cheaper than making keys. */
type DeclaredScope = {
  readonly streams: DeclaredStream[];
  readonly names: Map<string, StreamRef | undefined>;
  readonly index: Map<string, readonly IndexRow[]>;
};

type ScopeSource = {
  head(stream: StreamRef, name: string): Head;
  name(name: string): StreamRef | undefined;
  index(key: IndexKey): readonly IndexRow[];
};

/** One text for an index and a key: no view's name has a slash. */
export const indexName = ({ view, key }: IndexKey): string => `${view}/${key}`;

const emptyScope = (): DeclaredScope => ({ streams: [], names: new Map(), index: new Map() });

function findDeclared({ streams }: DeclaredScope, { kind, id }: StreamRef): DeclaredStream | undefined {
  for (const declared of streams)
    if (declared.stream.kind === kind && declared.stream.id === id) return declared;
  return undefined;
}

function declareNeeds(known: DeclaredScope, finder: ScopeSource, needs: Needs): void {
  for (const stream of needs.write ?? []) declare(known, finder, stream, true);
  for (const stream of needs.read ?? []) declare(known, finder, stream, false);
  for (const name of needs.names ?? []) {
    if (!known.names.has(name)) known.names.set(checkStoredText("name", name), finder.name(name));
  }
  for (const key of needs.index ?? []) {
    const name = checkStoredText("key", indexName(key));
    if (!known.index.has(name)) known.index.set(name, finder.index(key));
  }
}

function declare(known: DeclaredScope, finder: ScopeSource, stream: StreamRef, write: boolean): void {
  const before = findDeclared(known, stream);
  if (before === undefined) {
    const name = checkStoredText("stream", streamName(stream));
    known.streams.push({ stream, name, write, head: finder.head(stream, name) });
  } else if (write) before.write = true;
}

type ScopeOptions = { readonly tenant: string; readonly folds: Folds; readonly now: number };

function scopeForDecision(known: DeclaredScope, { tenant, folds, now }: ScopeOptions): DecisionScope {
  return {
    tenant,
    now,
    fold: (kind) => foldOf(folds, kind),
    state: <Ref extends StreamRef>(ref: Ref) => declaredHead(known, ref).state as StateAt<Ref>,
    version: (ref) => declaredHead(known, ref).seq,
    name: (name) => {
      if (!known.names.has(name)) throw undeclaredRead(`the name "${name}"`);
      return known.names.get(name);
    },
    index: (key) => known.index.get(indexName(key)) ?? undeclaredIndex(key),
    missing: (needs) => missing(known, needs),
  };
}

function declaredHead(known: DeclaredScope, ref: StreamRef): Head {
  const declared = findDeclared(known, ref);
  if (declared === undefined) throw undeclaredRead(`the stream "${streamName(ref)}"`);
  return declared.head;
}

const mayWrite = (known: DeclaredScope, ref: StreamRef): boolean => findDeclared(known, ref)?.write === true;
const maySee = (known: DeclaredScope, ref: StreamRef): boolean => findDeclared(known, ref) !== undefined;

function hasAll(known: DeclaredScope, needs: Needs): boolean {
  for (const ref of needs.write ?? []) if (!mayWrite(known, ref)) return false;
  for (const ref of needs.read ?? []) if (!maySee(known, ref)) return false;
  for (const name of needs.names ?? []) if (!known.names.has(name)) return false;
  return needs.index === undefined || needs.index.every((key) => known.index.has(indexName(key)));
}

function missing(known: DeclaredScope, needs: Needs): Needs | undefined {
  if (hasAll(known, needs)) return undefined;
  const write = (needs.write ?? []).filter((ref) => !mayWrite(known, ref));
  const read = (needs.read ?? []).filter((ref) => !maySee(known, ref));
  const names = (needs.names ?? []).filter((name) => !known.names.has(name));
  const index = (needs.index ?? []).filter((key) => !known.index.has(indexName(key)));
  return { write, read, names, ...(index.length === 0 ? {} : { index }) };
}

function undeclaredIndex(key: IndexKey): never {
  throw undeclaredRead(`the index "${indexName(key)}"`);
}

function undeclaredRead(what: string): HoldpointError {
  return new HoldpointError("broken_rule", `A decision looked at ${what} without declaring it.`);
}

export type TransactionContext = {
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
  readonly entries: readonly Entry[];
};

export type PlannedName = { readonly name: string; readonly stream: StreamRef };

export type TransactionPlan<Result> = {
  readonly streams: readonly PlannedStream[];
  readonly names: readonly PlannedName[];
  readonly artifacts: readonly Artifact[];
  readonly result: Result;
};

type Commit<Result> = Extract<DecideResult<Result>, { kind: "commit" }>;

/**
 * Each round names streams not named before, so rules terminate by themselves; this stops a rule that does not. A call
 * deep in workflows, covered by several grants, takes nine rounds or more.
 */
export const MOST_ROUNDS = 64;

/** Yields what has to be locked before it continues: a store whose locks take time fetches that first. */
export function* planDecision<Result>(
  ground: TransactionContext,
  needs: Needs,
  decide: Decide<Result>,
): Generator<Needs, TransactionPlan<Result>, void> {
  const known = emptyScope();
  let more = needs;
  for (let round = 0; round < MOST_ROUNDS; round++) {
    yield more;
    declareNeeds(known, ground, more);
    const now = latestTime(ground.now(), known);
    const decision = decide(scopeForDecision(known, { tenant: ground.tenant, folds: ground.folds, now }));
    if (decision.kind === "commit") return planCommit({ ground, known, now }, decision);
    more = decision.needs;
  }
  throw new HoldpointError("broken_rule", `A decision asked for more streams ${MOST_ROUNDS} times.`);
}

/** For a store with everything in memory or in one transaction. */
export function planAtOnce<Result>(
  ground: TransactionContext,
  needs: Needs,
  decide: Decide<Result>,
): TransactionPlan<Result> {
  const steps = planDecision(ground, needs, decide);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Whether to make the decision in a snapshot first, without locks. */
export const isRead = ({ isLook, write = [], names = [] }: Needs): boolean =>
  names.length === 0 && (isLook === true || write.length === 0);

const isEmptyPlan = ({ streams, names, artifacts }: TransactionPlan<unknown>): boolean =>
  streams.length + names.length + artifacts.length === 0;

/** In a snapshot. undefined: the decision writes, or probably will, and is made again under locks. */
export function planReadOnly<Result>(
  ground: TransactionContext,
  needs: Needs,
  decide: Decide<Result>,
): TransactionPlan<Result> | undefined {
  const steps = planDecision(ground, needs, decide);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return isEmptyPlan(step.value) ? step.value : undefined;
    if (!isRead({ ...needs, ...step.value })) return undefined;
  }
}

function latestTime(clock: number, known: DeclaredScope): number {
  let now = clock;
  for (const { head } of known.streams) now = Math.max(now, head.at);
  return now;
}

type PlanningState = {
  readonly ground: TransactionContext;
  readonly known: DeclaredScope;
  readonly now: number;
};

function planCommit<Result>(standing: PlanningState, commit: Commit<Result>): TransactionPlan<Result> {
  const streams: PlannedStream[] = [];
  for (const { stream, events } of commit.append) {
    const declared = findDeclared(standing.known, stream);
    if (declared?.write !== true) throw undeclaredWrite(`appended to the stream "${streamName(stream)}"`);
    if (events.length > 0) extendStream(standing, streams, declared, events);
  }
  const names = commit.names ?? [];
  for (const { name } of names)
    if (!standing.known.names.has(name)) throw undeclaredWrite(`took the name "${name}"`);
  const artifacts = commit.artifacts ?? [];
  for (const artifact of artifacts) checkArtifact(artifact);
  return { streams, names, artifacts, result: commit.result };
}

/** A decision may append to one stream several times. */
function extendStream(
  standing: PlanningState,
  streams: PlannedStream[],
  declared: DeclaredStream,
  events: Events,
): void {
  const { name, stream, head } = declared;
  const at = streams.findIndex((planned) => planned.name === name);
  const sofar = streams[at] ?? { stream, name, before: head, after: head, entries: [] };
  const longer = appendEvents(standing, sofar, events);
  if (at < 0) streams.push(longer);
  else streams[at] = longer;
}

type Events = Commit<unknown>["append"][number]["events"];

function appendEvents({ ground, now }: PlanningState, sofar: PlannedStream, events: Events): PlannedStream {
  const entries = [...sofar.entries];
  let head = sofar.after;
  for (const event of events) {
    const place = { tenant: ground.tenant, stream: sofar.name, seq: head.seq + 1, at: now, prev: head.hash };
    const entry = makeEntry(place, event, saltHex(ground.random(SALT_BYTES)));
    const { hash, body } = entry;
    const step = { type: event.type, tv: event.tv, at: now, seq: place.seq, body, hash };
    head = foldEvent(ground.folds, sofar.stream.kind, head, step);
    entries.push(entry);
  }
  return { ...sofar, after: head, entries };
}

function saltHex({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("hex");
}

function checkArtifact({ hash, bytes }: Artifact): void {
  if (sha256(bytes) === hash) return;
  throw new HoldpointError("broken_rule", `An artifact's bytes do not have the hash ${hash}.`);
}

function undeclaredWrite(what: string): HoldpointError {
  return new HoldpointError("broken_rule", `A decision ${what} without declaring it.`);
}

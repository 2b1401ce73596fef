/**
 * Tests rules as given / when / then: facts in the journal, rules that run over them, facts that they append.
 *
 * ```ts
 * given([fact(switchStream("tenant"), "switch.stopped", { by: "person:ann", reason: "drill" })])
 *   .when((draft) => propose(draft, proposal))
 *   .then([fact(action, "action.proposed"), fact(action, "action.held", { code: "stopped" })]);
 * ```
 *
 * - Rules see only what they declared, as in a store, and must declare a stream for writing before they append to it.
 * - Bodies pass through canonical JSON, as in a store: a value that cannot be stored fails here too.
 */
import assert from "node:assert/strict";
import { canonicalJson } from "../kernel/canonical-json.ts";
import type { JsonObject } from "../kernel/json.ts";
import type { Artifact } from "../kernel/stored-value.ts";
import { type IndexKey, type NewEvent, type StreamRef, streamName } from "../kernel/stream.ts";
import {
  type DecideResult,
  type DecisionScope,
  type Draft,
  decideWith,
  type IndexRow,
  type Need,
  type Needs,
} from "../kernel/transaction.ts";
import type { StateAt } from "../states.ts";
import type { Projection } from "../stores/store.ts";
import { FOLDS, PROJECTIONS } from "../streams.ts";

/** One event of one stream. An expected fact names only the body fields that the test is about. */
export type Fact = NewEvent & { readonly on: StreamRef; readonly at: number };

export type World = {
  readonly facts: readonly Fact[];
  readonly names: ReadonlyMap<string, StreamRef>;
  readonly artifacts: readonly Artifact[];
};

type GivenOptions = { readonly now?: number; readonly tenant?: string };

export type Given = { when<Result>(rules: (draft: Draft) => Need | Result): Then<Exclude<Result, Need>> };

export type Then<Result> = {
  readonly answer: Result;
  /** The facts that the rules appended, in order. */
  readonly appended: readonly Fact[];
  /** All facts so far, from which the next `given` may start. */
  readonly world: World;
  /** Asserts exactly these facts in this order; of each body only the named fields. */
  then(expected: readonly Omit<Fact, "at">[]): Then<Result>;
  /** Asserts the named fields of the answer. */
  answers(expected: unknown): Then<Result>;
  state<Ref extends StreamRef>(ref: Ref): StateAt<Ref>;
};

/** Default time of tests. */
export const NOON = 1_800_000_000_000;
const MOST_ROUNDS = 64;

export function fact(on: StreamRef, type: string, body: JsonObject = {}, at: number = NOON): Fact {
  return { on, type, tv: 1, body, at };
}

export function given(
  start: readonly Fact[] | World,
  { now = NOON, tenant = "acme" }: GivenOptions = {},
): Given {
  const world = "facts" in start ? start : { facts: start, names: new Map(), artifacts: [] };
  return {
    when<Result>(rules: (draft: Draft) => Need | Result) {
      const decision = decided(world, { now, tenant }, decideWith(rules));
      return outcome(world, decision, now);
    },
  };
}

type GivenMoment = { readonly now: number; readonly tenant: string };
type Commit<Result> = Extract<DecideResult<Result>, { kind: "commit" }>;

function decided<Result>(
  world: World,
  { now, tenant }: GivenMoment,
  decide: (sight: DecisionScope) => DecideResult<Result>,
): Commit<Result> {
  const declared: Declared = { write: new Set(), read: new Set(), names: new Set(), index: new Set() };
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const decision = decide(sightOf(world, declared, { now, tenant }));
    if (decision.kind === "commit") {
      for (const { stream } of decision.append)
        assert.ok(
          declared.write.has(streamName(stream)),
          `appends to ${streamName(stream)} without declaring it`,
        );
      return decision;
    }
    declare(declared, decision.needs);
  }
  throw new assert.AssertionError({ message: `the rules asked for more streams ${MOST_ROUNDS} times` });
}

function declare(declared: Declared, { write = [], read = [], names = [], index = [] }: Needs): void {
  for (const ref of write) declared.write.add(streamName(ref));
  for (const ref of read) declared.read.add(streamName(ref));
  for (const name of names) declared.names.add(name);
  for (const key of index) declared.index.add(indexText(key));
}

type Declared = { readonly [part in "write" | "read" | "names" | "index"]: Set<string> };

const indexText = ({ view, key }: IndexKey): string => `${view}/${key}`;

function sightOf(world: World, { write, read, names, index }: Declared, place: GivenMoment): DecisionScope {
  const isSeen = (ref: StreamRef) => write.has(streamName(ref)) || read.has(streamName(ref));
  const see = (ref: StreamRef): readonly Fact[] => {
    assert.ok(isSeen(ref), `looks at ${streamName(ref)} without declaring it`);
    return on(world.facts, ref);
  };
  return {
    ...place,
    state: (ref) => fold(ref, see(ref)),
    fold: (kind) => FOLDS[kind] as ReturnType<DecisionScope["fold"]>,
    version: (ref) => see(ref).length,
    name(name) {
      assert.ok(names.has(name), `looks up "${name}" without declaring it`);
      return world.names.get(name);
    },
    index(key) {
      assert.ok(index.has(indexText(key)), `looks up ${indexText(key)} without declaring it`);
      return indexed(world.facts, key);
    },
    missing(needs: Needs) {
      const missing = {
        write: (needs.write ?? []).filter((ref) => !write.has(streamName(ref))),
        read: (needs.read ?? []).filter((ref) => !isSeen(ref)),
        names: (needs.names ?? []).filter((name) => !names.has(name)),
        index: (needs.index ?? []).filter((key) => !index.has(indexText(key))),
      };
      return Object.values(missing).every((part) => part.length === 0) ? undefined : missing;
    },
  };
}

function on(facts: readonly Fact[], ref: StreamRef): readonly Fact[] {
  return facts.filter((one) => streamName(one.on) === streamName(ref));
}

function fold<Ref extends StreamRef>(ref: Ref, facts: readonly Fact[]): StateAt<Ref> {
  const { initial, evolve } = FOLDS[ref.kind] as ReturnType<DecisionScope["fold"]>;
  return facts.reduce<unknown>(
    (state, { type, tv, body, at }, index) => evolve(state, { type, tv, body, at, seq: index + 1 }),
    initial,
  ) as StateAt<Ref>;
}

/** As a store lists them: newest first, by the rows of the product's projections. */
function indexed(facts: readonly Fact[], { view, key }: IndexKey): readonly IndexRow[] {
  const all: readonly unknown[] = PROJECTIONS;
  const projection = (all as readonly Projection[]).find((one) => one.view === view);
  assert.ok(projection !== undefined, `there is no view ${view}`);
  const streams = new Map(facts.map(({ on: ref }) => [streamName(ref), ref]));
  const rows = [...streams.values()]
    .filter(({ kind }) => kind === projection.kind)
    .flatMap((stream) => {
      const row = projection.row(stream.id, fold(stream, on(facts, stream)) as never);
      return row === undefined ? [] : [{ ...row, stream }];
    });
  return rows.filter(({ bucket }) => bucket === key).toSorted((a, b) => b.at - a.at);
}

function outcome<Result>(before: World, decision: Commit<Result>, now: number): Then<Result> {
  const appended = decision.append.flatMap(({ stream, events }) =>
    events.map((event) => ({ ...event, body: kept(event.body), on: stream, at: now })),
  );
  const world = {
    facts: [...before.facts, ...appended],
    names: new Map([
      ...before.names,
      ...(decision.names ?? []).map(({ name, stream }) => [name, stream] as const),
    ]),
    artifacts: [...before.artifacts, ...(decision.artifacts ?? [])],
  };
  const after: Then<Result> = {
    answer: decision.result,
    appended,
    world,
    // biome-ignore lint/suspicious/noThenProperty: given, when, then is the usual wording, and no test awaits it.
    then(expected) {
      assert.deepEqual(appended.map(title), expected.map(title));
      for (const [index, { body }] of expected.entries())
        assert.partialDeepStrictEqual(appended[index]?.body, body);
      return after;
    },
    answers(expected) {
      assert.partialDeepStrictEqual(decision.result, expected);
      return after;
    },
    state: (ref) => fold(ref, on(world.facts, ref)),
  };
  return after;
}

const title = ({ on: ref, type }: Pick<Fact, "on" | "type">): string => `${type} on ${streamName(ref)}`;
const kept = (body: JsonObject): JsonObject => JSON.parse(canonicalJson(body)) as JsonObject;

/** Fixture of the contract tests: a small domain, a clock that the test sets, and handles that act as processes. */
import type { TestContext } from "node:test";
import type { JsonObject } from "../../kernel/json.ts";
import { actionStream, type Fold, type NewEvent, type StreamRef } from "../../kernel/stream.ts";
import type { DecideResult, DecisionScope, StreamAppend } from "../../kernel/transaction.ts";
import type { Folds, StateOf } from "../../states.ts";
import type { Projection, Store } from "../../stores/store.ts";
import { FOLDS as PRODUCT_FOLDS } from "../../streams.ts";

type DatabaseOptions = {
  readonly folds: Folds;
  readonly projections: readonly Projection[];
  readonly clock: { now(): number };
  readonly random: (bytes: number) => Uint8Array;
};

type ContractDatabase = {
  /** A handle on the same database, as of another process. */
  open(): Promise<Store>;
  remove(): Promise<void>;
};

export type CreateDatabase = (options: DatabaseOptions) => Promise<ContractDatabase>;

export type Fixture = {
  readonly store: Store;
  readonly clock: { now(): number; set(now: number): void };
  another(): Promise<Store>;
};

export const START = 1_800_000_000_000;
export const TENANT = "acme";

/** A fresh database with one handle open. Everything is closed and removed after the test. */
export async function openFixture(context: TestContext, create: CreateDatabase): Promise<Fixture> {
  let now = START;
  const clock = {
    now: () => now,
    set(next: number) {
      now = next;
    },
  };
  const database = await create({
    folds: CONTRACT_FOLDS,
    projections: CONTRACT_PROJECTIONS,
    clock,
    random: randomOf(7),
  });
  const handles: Store[] = [];
  const another = async () => {
    const store = await database.open();
    handles.push(store);
    return store;
  };
  context.after(async () => {
    for (const store of handles) await store.close();
    await database.remove();
  });
  return { store: await another(), clock, another };
}

/** Repeatable pseudo-random bytes (mulberry32). */
export function randomOf(seed: number): (bytes: number) => Uint8Array {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) & 0xff;
  };
  return (bytes) => Uint8Array.from({ length: bytes }, next);
}

/** State of a stream that only counts: the number of events, and their merged bodies. */
export type CountState = { readonly count: number; readonly at: number; readonly said: JsonObject };

const countFold: Fold<CountState> = {
  version: 1,
  initial: { count: 0, at: 0, said: {} },
  evolve(state, { type, at, body }) {
    if (type !== "counted") throw new TypeError(`a tally met "${type}"`);
    return {
      count: state.count + 1,
      at: state.count === 0 ? at : state.at,
      said: { ...state.said, ...body },
    };
  },
};

export const CONTRACT_FOLDS: Folds = {
  ...PRODUCT_FOLDS,
  action: countFold as unknown as Fold<StateOf<"action">>,
  approval: countFold as unknown as Fold<StateOf<"approval">>,
};

export const countStateOf = (sight: DecisionScope, stream: StreamRef<"action" | "approval">): CountState =>
  sight.state(stream) as unknown as CountState;

const tallies: Projection<"action"> = {
  view: "tallies",
  kind: "action",
  version: 1,
  row(_id, state) {
    const { count, at, said } = state as unknown as CountState;
    if (said["bucket"] === "nowhere") return undefined;
    const due = typeof said["due"] === "number" ? said["due"] : null;
    return {
      bucket: String(said["bucket"] ?? "open"),
      at: Number(said["at"] ?? at),
      due,
      data: { count, said },
    };
  },
};

const budgets: Projection<"budget"> = {
  view: "budgets",
  kind: "budget",
  version: 1,
  row: (id, { spent, reserved, limit }) => ({
    bucket: limit === null ? "closed" : "open",
    at: 0,
    due: null,
    data: { id, spent: spent.toString(), reserved: reserved.toString() },
  }),
};

export const CONTRACT_PROJECTIONS: readonly Projection[] = [tallies as Projection, budgets as Projection];

export const countedEvent = (body: JsonObject = {}): NewEvent => ({ type: "counted", tv: 1, body });

export function commitResult<Result>(
  result: Result,
  ...append: readonly StreamAppend[]
): DecideResult<Result> {
  return { kind: "commit", append, result };
}

/** Appends one event to an action's stream and returns its new count. */
export function count(store: Store, id: string, body: JsonObject = {}, tenant = TENANT): Promise<number> {
  const stream = actionStream(id);
  return store.transact(tenant, { write: [stream] }, (sight) =>
    commitResult(countStateOf(sight, stream).count + 1, { stream, events: [countedEvent(body)] }),
  );
}

export function times<Item>(many: number, make: (index: number) => Item): Item[] {
  return Array.from({ length: many }, (_, index) => make(index));
}

/** Makes `many` calls, distributed over the handles. */
export function spread<Answer>(
  stores: readonly Store[],
  many: number,
  call: (store: Store, index: number) => Promise<Answer>,
): Promise<Answer[]> {
  return Promise.all(times(many, (index) => call(stores[index % stores.length] as Store, index)));
}

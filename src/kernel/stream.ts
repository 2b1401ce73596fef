/**
 * Streams. A stream is one journal in a tenant: every fact about one action, one approval and so on, named `kind/id` in
 * an entry's header. Here are references to streams, events, folds, and `defineStream`, which defines a kind once:
 * events with their effect on the state, lists, indexes, and texts of the events reference.
 * - An event that is unknown, newer than this program or erased is an error, never skipped.
 * - An event applies only to the statuses that it names; in any other it is the error `broken_rule`.
 * - An event that has to change gets a new version and an upcast from each earlier one. Entries are never rewritten.
 * - A row depends on the state alone, so that a store can rebuild every list from the journal.
 */
import { HoldpointError, isHoldpointError } from "./errors.ts";
import type { JsonObject } from "./json.ts";
import { STREAM_KINDS, type StreamKind } from "./registry.ts";

/** A fact to append, returned by a rule. `tv` is the version of the event type. */
export type NewEvent = { readonly type: string; readonly tv: number; readonly body: JsonObject };

/** A fact as a fold sees it. `body` is null if it was erased together with its salt. */
export type RecordedEvent = {
  readonly type: string;
  readonly tv: number;
  readonly at: number;
  readonly seq: number;
  readonly body: JsonObject | null;
};

/** The fold of one kind of stream. `version` must change with `evolve`: cached states are then discarded. */
export type Fold<State> = {
  readonly version: number;
  readonly initial: State;
  evolve(state: State, event: RecordedEvent): State;
  /** No further event is expected, so the state is not worth caching. */
  isOver?(state: State): boolean;
  /** Called by rules of lower capabilities on a stream of this kind. A store passes it to the draft. */
  readonly port?: unknown;
};

/** The body of a known event. An unknown, newer or erased one is an error, never skipped or guessed. */
export function eventBody(what: string, event: RecordedEvent, types: readonly string[]): JsonObject {
  const { type, tv, body, seq } = event;
  if (!types.includes(type) || tv !== 1)
    throw new HoldpointError("unknown_event", `${what} met the event "${type}" version ${tv}.`);
  if (body === null) throw new HoldpointError("body_erased", `The body of entry ${seq} is gone.`);
  return body;
}

declare const folded: unique symbol;
/** Exists for the compiler only: the state of the referenced stream. */
export type Folded<State> = { readonly [folded]?: State };

export type StreamRef<K extends StreamKind = StreamKind, State = unknown> = Folded<State> & {
  readonly kind: K;
  readonly id: string;
};

/** All streams that an index lists under one key, for example the grants of one tool. */
export type IndexKey = { readonly view: string; readonly key: string };

export function streamName(ref: StreamRef): string {
  return `${ref.kind}/${ref.id}`;
}

/** Undefined for a kind that only a newer program knows. */
export function findStreamRef(name: string): StreamRef | undefined {
  const slash = name.indexOf("/");
  const kind = STREAM_KINDS.find((known) => known === name.slice(0, slash));
  return kind === undefined ? undefined : { kind, id: name.slice(slash + 1) };
}

export function parseStreamRef(name: string): StreamRef {
  const ref = findStreamRef(name);
  if (ref !== undefined) return ref;
  throw new HoldpointError("unknown_event", `The stream "${name}" is of a kind that is not known here.`);
}

type EventIdentity = { readonly stream: string; readonly type: string; readonly tv: number };

/** A fold checks type and version first: any other error, such as for the missing body, means it knows the event. */
export function canFoldEvent(
  folds: { readonly [K in StreamKind]: Fold<unknown> },
  { stream, type, tv }: EventIdentity,
): boolean {
  const ref = findStreamRef(stream);
  if (ref === undefined) return false;
  const { evolve, initial } = folds[ref.kind];
  try {
    evolve(initial, { type, tv, at: 0, seq: 1, body: null });
  } catch (error) {
    return !isHoldpointError(error, "unknown_event");
  }
  return true;
}

export const actionStream = (id: string): StreamRef<"action"> => ({ kind: "action", id });
export const alertStream = (id: string): StreamRef<"alert"> => ({ kind: "alert", id });
export const answerStream = (id: string): StreamRef<"answer"> => ({ kind: "answer", id });
export const approvalStream = (id: string): StreamRef<"approval"> => ({ kind: "approval", id });
export const budgetStream = (id: string): StreamRef<"budget"> => ({ kind: "budget", id });
export const endpointStream = (id: string): StreamRef<"endpoint"> => ({ kind: "endpoint", id });
export const epochStream = (id: string): StreamRef<"epoch"> => ({ kind: "epoch", id });
export const grantStream = (id: string): StreamRef<"grant"> => ({ kind: "grant", id });
export const intentStream = (id: string): StreamRef<"intent"> => ({ kind: "intent", id });
export const keyStream = (id: string): StreamRef<"key"> => ({ kind: "key", id });
export const loginStream = (id: string): StreamRef<"login"> => ({ kind: "login", id });
export const messageStream = (id: string): StreamRef<"message"> => ({ kind: "message", id });
export const monitorStream = (name: string): StreamRef<"monitor"> => ({ kind: "monitor", id: name });
export const policyStream = (name: string): StreamRef<"policy"> => ({ kind: "policy", id: name });
export const sessionStream = (id: string): StreamRef<"session"> => ({ kind: "session", id });
/** `agent:mailer` and the bare name `mailer` are the same agent: a missing prefix must not miss the switch. */
export const agentScope = (agent: string): string =>
  /^(agent|service|person):/.test(agent) ? agent : `agent:${agent}`;
export const switchStream = (scope: string): StreamRef<"switch"> => ({ kind: "switch", id: scope });
export const tenantStream = (name: string): StreamRef<"tenant"> => ({ kind: "tenant", id: name });
export const workflowStream = (id: string): StreamRef<"workflow"> => ({ kind: "workflow", id });
/** The only reader that turns entries into messages. */
export const NOTIFIER: StreamRef<"notifier"> = { kind: "notifier", id: "outbox" };
/** The only list of a tenant's people: their roles, and who was suspended. */
export const ROSTER: StreamRef<"roster"> = { kind: "roster", id: "people" };
/** The only stream about the store itself. */
export const STORE_HISTORY: StreamRef<"store"> = { kind: "store", id: "history" };

type Entry = { readonly at: number; readonly seq: number };
type Upcast = (body: JsonObject) => JsonObject;

/** The effect of one type of event. `Body` exists for the compiler only. */
type EventStep<State, Body> = {
  readonly from: readonly string[] | "live";
  /** For the events reference. */
  readonly meaning: string;
  readonly upcasts: readonly Upcast[];
  apply(state: State, body: JsonObject, entry: Entry): State;
  readonly body?: Body;
};
type Steps<State> = { readonly [type: string]: EventStep<State, unknown> };
type BodyIn<Step> = Step extends EventStep<infer _State, infer Body> ? Body : never;

/** One sort order of a list. A store keeps each in its own table, named by `view`. */
type Order<State> = {
  readonly view: string;
  readonly version: number;
  /** The oldest version whose rows may coexist with these. Default: `version`. */
  readonly oldest?: number;
  /** Filters the listed states. Default: every state but the initial one. */
  readonly only?: (state: State) => boolean;
  readonly at: (state: State) => number;
  readonly due?: (state: State) => number | null;
};

type List<State> = {
  readonly bucket: (state: State) => string;
  readonly data: (state: State) => JsonObject;
  readonly orders: { readonly [order: string]: Order<State> };
  /** A row never changes while its state is listed, so it is written once. */
  readonly isFixed?: true;
  /** Whether two listed states have the same row, where that is cheaper to say than to write it. */
  readonly isSame?: (before: State, after: State) => boolean;
};

/** Streams by key, for lookups by rules inside the transaction. */
type Index<State> = Omit<Order<State>, "view" | "due"> & {
  readonly key: (state: State) => string;
  /** Data that a rule reads before it locks a stream. It must not change while the state is listed. */
  readonly data: (state: State) => JsonObject;
};

type Row = {
  readonly bucket: string;
  readonly at: number;
  readonly due: number | null;
  readonly data: JsonObject;
};
/** How a store writes the rows of a view. */
type StreamView<Kind, State> = {
  readonly view: string;
  readonly kind: Kind;
  readonly version: number;
  readonly oldest?: number;
  row(id: string, state: State): Row | undefined;
  keys(state: State): Omit<Row, "data"> | undefined;
  isSame(before: State, after: State): boolean;
};

type Stream<Kind extends StreamKind, State, Events extends Steps<State>, Indexes extends string> = {
  readonly kind: Kind;
  readonly fold: Fold<State>;
  readonly views: readonly StreamView<Kind, State>[];
  /** Exists for the compiler only: the body of each type of event. */
  readonly bodies?: { readonly [Type in keyof Events & string]: BodyIn<Events[Type]> };
  /** Every type of event with its meaning, in the order of the definition. */
  readonly reference: readonly { readonly type: string; readonly tv: number; readonly meaning: string }[];
  ref(id: string): StreamRef<Kind, State>;
  event<Type extends keyof Events & string>(type: Type, body: BodyIn<Events[Type]>): NewEvent;
  /** The key that a rule declares and looks up to find streams. */
  by(index: Indexes, key: string): IndexKey;
};

type Definition<State, Listed, Events, Indexes extends string> = {
  /** With its article, for errors: "A grant". */
  readonly what: string;
  /** Version of the fold. It must change with the effect of any event: cached states are then folded again. */
  readonly version: number;
  readonly initial: State;
  /** Words for statuses in errors. Default: the status itself. */
  readonly words?: { readonly [status: string]: string };
  readonly isOver?: (state: State) => boolean;
  readonly events: Events;
  readonly lists: readonly List<Listed>[];
  readonly indexes?: { readonly [Name in Indexes]: Index<Listed> };
};

/**
 * `defineStream<State>()` returns the two functions for writing a definition: `after` for one event, `define` for the
 * whole. Curried, because the caller names the state and the compiler infers the rest. `field`: the one with the status.
 * A state without that field is always live.
 */
export function defineStream<State, Field extends string = "status", Initial extends string = "none">(
  field: Field = "status" as Field,
) {
  type With<Status> = { readonly [Name in Field]: Status };
  type Live = Exclude<State, With<Initial>>;
  type StatusOf = State extends With<infer One extends string> ? One : never;
  type In<From> = From extends readonly string[] ? State & With<From[number]> : Live;

  /** An event that may follow these statuses; `live`: all but the initial one. */
  function after<Body, const From extends readonly StatusOf[] | "live">(
    from: From,
    meaning: string,
    apply: (state: In<From>, body: Body, entry: Entry) => State,
    upcasts: readonly Upcast[] = [],
  ): EventStep<State, Body> {
    return { from, meaning, upcasts, apply: apply as unknown as EventStep<State, Body>["apply"] };
  }

  function define<
    const Kind extends StreamKind,
    const Events extends Steps<State>,
    Indexes extends string = never,
  >(kind: Kind, definition: Definition<State, Live, Events, Indexes>): Stream<Kind, State, Events, Indexes> {
    const { events, initial } = definition;
    const statusIn = (state: State) => (state as Partial<With<string>>)[field];
    const none = statusIn(initial);
    const isLive = (state: State) => none === undefined || statusIn(state) !== none;
    const steps = definition as unknown as Definition<State, unknown, Steps<State>, string>;
    return {
      kind,
      fold: foldBy(steps, (state) => statusIn(state) ?? "live", isLive),
      views: makeViews<Kind, State, Live>(kind, definition, isLive),
      reference: Object.entries(events).map(([type, { upcasts, meaning }]) => ({
        type,
        tv: upcasts.length + 1,
        meaning,
      })),
      ref: (id) => ({ kind, id }),
      event: (type, body) => ({ type, tv: currentVersion(events[type]), body: body as JsonObject }),
      by: (view, key) => ({ view, key }),
    };
  }

  return { after, define };
}

const currentVersion = (step: { readonly upcasts: readonly Upcast[] } | undefined): number =>
  (step?.upcasts.length ?? 0) + 1;

function foldBy<State>(
  { what, version, initial, words = {}, isOver, events }: Definition<State, unknown, Steps<State>, string>,
  statusIn: (state: State) => string,
  isLive: (state: State) => boolean,
): Fold<State> {
  const inWords = (status: string) => words[status] ?? status;
  return {
    version,
    initial,
    ...(isOver === undefined ? {} : { isOver }),
    evolve(state, recorded) {
      const { type } = recorded;
      const step = Object.hasOwn(events, type) ? events[type] : undefined;
      const body = bodyIn(what, recorded, step);
      const status = statusIn(state);
      const isFit = step?.from === "live" ? isLive(state) : step?.from.includes(status);
      if (step === undefined || isFit !== true) throw outOfOrder(what, type, inWords(status));
      return step.apply(state, body, recorded);
    },
  };
}

function bodyIn(
  what: string,
  { type, tv, body, seq }: RecordedEvent,
  step: { readonly upcasts: readonly Upcast[] } | undefined,
): JsonObject {
  if (step === undefined || tv < 1 || tv > currentVersion(step))
    throw new HoldpointError("unknown_event", `${what} met the event "${type}" version ${tv}.`);
  if (body === null) throw new HoldpointError("body_erased", `The body of entry ${seq} is gone.`);
  return step.upcasts.slice(tv - 1).reduce((older, upcast) => upcast(older), body);
}

/** For events that check more than the status. */
export function outOfOrder(what: string, type: string, status: string): HoldpointError {
  const subject = what.charAt(0).toLowerCase() + what.slice(1);
  return new HoldpointError("broken_rule", `The event "${type}" cannot follow ${subject} that is ${status}.`);
}

function makeViews<Kind, State, Live>(
  kind: Kind,
  { lists, indexes }: Pick<Definition<State, Live, unknown, string>, "lists" | "indexes">,
  isLive: (state: State) => boolean,
): readonly StreamView<Kind, State>[] {
  const listed = lists.flatMap((list) =>
    Object.values(list.orders).map((order) => makeView(kind, order, list, isLive)),
  );
  const indexed = Object.entries(indexes ?? {}).map(([view, { key, data, ...order }]) =>
    makeView<Kind, State, Live>(kind, { ...order, view }, { bucket: key, data, isFixed: true }, isLive),
  );
  return [...listed, ...indexed];
}

function makeView<Kind, State, Live>(
  kind: Kind,
  { view, version, oldest, only, at, due }: Order<Live>,
  { bucket, data, isFixed, isSame }: Omit<List<Live>, "orders">,
  isLive: (state: State) => boolean,
): StreamView<Kind, State> {
  const isListed = (state: State) => isLive(state) && only?.(state as unknown as Live) !== false;
  const keysOf = (live: Live) => ({ bucket: bucket(live), at: at(live), due: due?.(live) ?? null });
  return {
    view,
    kind,
    version,
    ...(oldest === undefined ? {} : { oldest }),
    row(_id, state) {
      if (!isListed(state)) return undefined;
      const live = state as unknown as Live;
      return { ...keysOf(live), data: data(live) };
    },
    keys: (state) => (isListed(state) ? keysOf(state as unknown as Live) : undefined),
    isSame(before, after) {
      const isIn = isListed(after);
      if (isListed(before) !== isIn) return false;
      const [one, other] = [before as unknown as Live, after as unknown as Live];
      return !isIn || isFixed === true || isSame?.(one, other) === true;
    },
  };
}

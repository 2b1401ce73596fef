/**
 * One call per route, by resource: the table, the types (from the schemas of the routes) and the functions from it.
 * Calls of contracts are generated (contract-calls.ts). A test compares the table with the list of routes in both
 * directions; it omits only pages for people and event streams. The types do not exist at run time.
 *
 * Waiting for an approval, an action, a workflow or an intent to end is a call that is repeated, by its id alone.
 * - Neither side keeps state of a wait. A caller with the id can wait again after a restart of the server, of this
 *   program, or of both, and even if it has ended.
 * - No connection is held longer than the caller allows. A server that is away is polled until it is back.
 */
import type { z } from "zod";
import type { ListedRoute } from "../api/routes.ts";
import {
  backOffMs,
  type ClientError,
  type ClientRequest,
  type Connection,
  isClientError,
  mayRepeat,
  sendRequest,
} from "./connection.ts";
import { CONTRACT_CALLS } from "./contract-calls.ts";

type RouteFacts = NonNullable<ListedRoute["types"]>;
export type RouteName = RouteFacts["name"];
/** Routes that are made together share one type with all their names. */
type FactsWithName<Fact, Name> = Fact extends { readonly name: infer Known }
  ? Name extends Known
    ? Fact
    : never
  : never;
type FactsOf<Name extends RouteName> = FactsWithName<RouteFacts, Name>;

/** `never` for a schema that the route does not declare. */
type IfGiven<Schema> = z.ZodType extends Schema ? never : Schema;
type QueryOf<Name extends RouteName> = IfGiven<FactsOf<Name>["query"]>;
type BodyOf<Name extends RouteName> = IfGiven<FactsOf<Name>["body"]>;

type NameWithQuery = {
  [Name in RouteName]: [QueryOf<Name>] extends [never] ? never : Name;
}[RouteName];
type NameWithBody = { [Name in RouteName]: [BodyOf<Name>] extends [never] ? never : Name }[RouteName];
type NameAlone = Exclude<RouteName, NameWithQuery | NameWithBody>;

/** A query is text on the wire, so callers pass the type that its schema produces. */
type Meant<Input, Output> = {
  [Field in keyof Input]: unknown extends Input[Field]
    ? Field extends keyof Output
      ? Output[Field]
      : Input[Field]
    : Input[Field];
};
type QueryInput<Schema> = Schema extends z.ZodType ? Meant<z.input<Schema>, z.output<Schema>> : never;
type BodyInput<Schema> = Schema extends z.ZodType ? z.input<Schema> : never;

/** Input of a call in addition to the path parameters. */
export type InputOf<Name extends RouteName> = QueryInput<QueryOf<Name>> | BodyInput<BodyOf<Name>>;

type Answers<Declared> = {
  [Status in keyof Declared]: Declared[Status] extends z.ZodType ? z.output<Declared[Status]> : string;
}[keyof Declared];
export type AnswerOf<Name extends RouteName> = Answers<FactsOf<Name>["answers"]>;

type PathArgs<Path> = Path extends `${string}{${string}}${infer Rest}` ? [string, ...PathArgs<Rest>] : [];

export type CallOptions = {
  readonly signal?: AbortSignal;
  /** Timeout of one answer. Default: the client's. */
  readonly timeoutSeconds?: number;
  /** For a POST: requests with the same key are processed once. Default: a new key for each call. */
  readonly idempotencyKey?: string;
};

type InputArgs<Input> = [Input] extends [never]
  ? [options?: CallOptions]
  : Record<never, never> extends Input
    ? [input?: Input, options?: CallOptions]
    : [input: Input, options?: CallOptions];

/** Arguments: the path parameters in order, then the query or body, then the options. */
export type Call<Name extends RouteName> = (
  ...args: [...PathArgs<Name>, ...InputArgs<InputOf<Name>>]
) => Promise<AnswerOf<Name>>;

export type CallFacts<Name extends RouteName = RouteName> = {
  readonly route: Name;
  readonly takes: "nothing" | "query" | "body";
  /** The server keeps no answer, so an Idempotency-Key has no effect. Of these only `repeatable` ones are retried. */
  readonly unkept?: "repeatable" | "once";
  /** The answer is not JSON. */
  readonly isText?: true;
};

type Table = { readonly [resource: string]: { readonly [call: string]: CallFacts } };

const alone = <const Name extends NameAlone>(route: Name): CallFacts<Name> => ({ route, takes: "nothing" });
const query = <const Name extends NameWithQuery>(route: Name): CallFacts<Name> => ({ route, takes: "query" });
const body = <const Name extends NameWithBody>(route: Name): CallFacts<Name> => ({ route, takes: "body" });
const unkept = <Name extends RouteName>(facts: CallFacts<Name>): CallFacts<Name> => ({
  ...facts,
  unkept: "once",
});
const repeatable = <Name extends RouteName>(facts: CallFacts<Name>): CallFacts<Name> => ({
  ...facts,
  unkept: "repeatable",
});
const text = <Name extends RouteName>(facts: CallFacts<Name>): CallFacts<Name> => ({
  ...facts,
  isText: true,
});

/** Calls of routes that have no contract. */
const OTHER_CALLS = {
  workflows: {
    ...CONTRACT_CALLS.workflows,
    create: body("POST /api/workflows"),
    list: query("GET /api/workflows"),
    get: alone("GET /api/workflows/{id}"),
    stats: alone("GET /api/stats"),
    wait: query("GET /api/workflows/{id}/wait"),
  },
  actions: {
    wait: query("GET /api/actions/{id}/wait"),
  },
  approvals: {
    pending: query("GET /api/approvals/pending"),
    card: alone("GET /api/approvals/{id}/card"),
    tryEdit: repeatable(body("POST /api/approvals/{id}/try")),
    attention: alone("GET /api/attention"),
    activity: query("GET /api/activity"),
    submit: body("POST /api/approvals/submit"),
    wait: query("GET /api/approvals/{id}/wait"),
  },
  intents: {
    inbox: query("GET /api/intents/inbox"),
    wait: query("GET /api/intents/{id}/wait"),
  },
  session: {
    open: unkept(body("POST /api/session")),
    get: alone("GET /api/session"),
    end: alone("DELETE /api/session"),
    list: alone("GET /api/sessions"),
    endOne: alone("DELETE /api/sessions/{id}"),
    endAll: alone("DELETE /api/sessions"),
  },
  server: {
    health: alone("GET /api/health"),
    ready: alone("GET /api/ready"),
    metrics: text(alone("GET /metrics")),
    openApi: alone("GET /api/openapi.json"),
    example: alone("GET /api/example"),
    askExample: body("POST /api/example"),
  },
} as const satisfies Table;

type ContractCalls = typeof CONTRACT_CALLS;
type OtherCalls = typeof OTHER_CALLS;
type CallsIn<All, Name> = Name extends keyof All ? All[Name] : unknown;
type Calls = {
  readonly [Name in keyof ContractCalls | keyof OtherCalls]: CallsIn<ContractCalls, Name> &
    CallsIn<OtherCalls, Name>;
};

function withBoth(contracts: Table, others: Table): Table {
  const names = new Set([...Object.keys(contracts), ...Object.keys(others)]);
  return Object.fromEntries([...names].map((name) => [name, { ...contracts[name], ...others[name] }]));
}
export const CALLS = withBoth(CONTRACT_CALLS, OTHER_CALLS) as Calls;

export type Resources = {
  readonly [Resource in keyof Calls]: {
    readonly [Name in keyof Calls[Resource]]: Calls[Resource][Name] extends CallFacts<infer Route>
      ? Call<Route>
      : never;
  };
};

const PARAMETER = /\{\w+\}/g;

/** Fills in path parameters in order. An empty name, or one of dots, would change the path. */
function filled(path: string, names: readonly unknown[]): string {
  let at = 0;
  return path.replaceAll(PARAMETER, () => {
    const name = names[at++];
    if (typeof name !== "string" || /^\.{0,2}$/.test(name))
      throw new TypeError(`An id is needed for ${path}.`);
    return encodeURIComponent(name);
  });
}

function queryText(input: unknown): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(input ?? {}))
    if (value !== undefined) query.set(name, String(value));
  return query.size === 0 ? "" : `?${query}`;
}

/** Unlike `randomUUID`, needs no secure context in browsers. */
function freshKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Only the options that the caller set: a missing option differs from an undefined one. */
function limitsOf({ signal, timeoutSeconds }: CallOptions): Pick<ClientRequest, "signal" | "timeoutMs"> {
  return {
    ...(signal === undefined ? {} : { signal }),
    ...(timeoutSeconds === undefined ? {} : { timeoutMs: timeoutSeconds * 1_000 }),
  };
}

type Sent = Pick<ClientRequest, "path" | "body">;
function sentBy(takes: CallFacts["takes"], path: string, input: unknown): Sent {
  if (takes === "body") return { path, body: input ?? {} };
  return { path: takes === "query" ? `${path}${queryText(input)}` : path };
}

function makeCall(connection: Connection, { route, takes, unkept, isText }: CallFacts) {
  const [method = "", path = ""] = route.split(" ");
  const count = path.match(PARAMETER)?.length ?? 0;
  const isKept = method === "POST" && unkept === undefined;
  const kind = {
    method,
    safe: method === "GET" || isKept || unkept === "repeatable",
    isText: isText === true,
  };
  return async (...args: readonly unknown[]): Promise<unknown> => {
    const [input, given] = takes === "nothing" ? [undefined, args[count]] : args.slice(count);
    const options = (given ?? {}) as CallOptions;
    const headers = isKept ? { "idempotency-key": options.idempotencyKey ?? freshKey() } : {};
    const sent = sentBy(takes, filled(path, args), input);
    return sendRequest(connection, { ...kind, ...sent, headers, ...limitsOf(options) });
  };
}

export function makeResources(connection: Connection): Resources {
  const made = Object.entries(CALLS).map(([resource, calls]) => {
    const functions = Object.entries(calls).map(([name, facts]) => [name, makeCall(connection, facts)]);
    return [resource, Object.fromEntries(functions)];
  });
  return Object.fromEntries(made) as Resources;
}

export type WaitOptions = {
  /** How long one connection may be held, from 0 to 25. Default: 25. With 0 it polls every two seconds. */
  readonly holdSeconds?: number;
  /** Total time to wait. Default: no limit. */
  readonly timeoutSeconds?: number;
  readonly signal?: AbortSignal;
};

export type WaitedApproval = AnswerOf<"GET /api/approvals/{id}/wait">;
export type WaitedAction = AnswerOf<"GET /api/actions/{id}/wait">;
export type WaitedWorkflow = AnswerOf<"GET /api/workflows/{id}/wait">;
export type WaitedIntent = AnswerOf<"GET /api/intents/{id}/wait">;

/** A timeout is an answer: `is_over` is false (for an intent: `timed_out_waiting`), and the work continues. */
export type Waits = {
  /** Waits until people have decided, or the deadline has passed. */
  waitForApproval(id: string, options?: WaitOptions): Promise<WaitedApproval>;
  /** Waits for an outcome or a refusal. Takes its own id, its effect's, or the caller's request id. */
  waitForAction(id: string, options?: WaitOptions): Promise<WaitedAction>;
  /** Waits until it has ended. */
  waitForWorkflow(id: string, options?: WaitOptions): Promise<WaitedWorkflow>;
  /** Waits until it is answered, or its deadline has passed. */
  waitForIntent(id: string, options?: WaitOptions): Promise<WaitedIntent>;
};

type Hold = { readonly hold_seconds: number };
type Asks<Answer> = (id: string, hold: Hold, options: CallOptions) => Promise<Answer>;
type Waiting<Answer> = {
  readonly ask: Asks<Answer>;
  readonly isOver: (answer: Answer) => boolean;
  /** Answer for a timeout while the server is away. */
  readonly whenAway?: (id: string) => Answer;
};

const HOLD_SECONDS = 25;
const POLL_MS = 2_000;
/** Added to the hold, for the network round trip. */
const WAY_SECONDS = 15;

function holdOf({ holdSeconds = HOLD_SECONDS }: WaitOptions, leftMs: number): number {
  const most = Math.min(Math.max(holdSeconds, 0), HOLD_SECONDS);
  return Math.min(most, Math.max(0, leftMs / 1_000));
}

/** An early answer means that the server is closing: back off, since it will be gone shortly. */
function pauseMs(connection: Connection, hold: number, tookMs: number): number {
  if (hold === 0) return POLL_MS;
  return tookMs < Math.min(1_000, hold * 500) ? backOffMs(connection, 2) : 0;
}

/** Throws a permanent failure, and also a temporary one if no time is left and there is no answer to return. */
function passing<Answer>(error: unknown, leftMs: number, answer: Answer | undefined): ClientError {
  const passes = isClientError(error) && mayRepeat(error, true);
  if (passes && (leftMs > 0 || answer !== undefined)) return error;
  throw error;
}

async function wait<Answer>(
  connection: Connection,
  { ask, isOver, whenAway }: Waiting<Answer>,
  id: string,
  options: WaitOptions,
): Promise<Answer> {
  const { timeoutSeconds, signal } = options;
  const begun = Date.now();
  const left = () =>
    timeoutSeconds === undefined ? Number.POSITIVE_INFINITY : timeoutSeconds * 1_000 - (Date.now() - begun);
  const pause = (ms: number) => connection.pause(Math.max(0, Math.min(ms, left())), signal);
  let failures = 0;
  let last: Answer | undefined;
  for (;;) {
    signal?.throwIfAborted();
    const hold = holdOf(options, left());
    const asked = Date.now();
    try {
      const more = { timeoutSeconds: hold + WAY_SECONDS, ...(signal === undefined ? {} : { signal }) };
      const answer = await ask(id, { hold_seconds: hold }, more);
      failures = 0;
      last = answer;
      if (isOver(answer) || left() <= 0) return answer;
      await pause(pauseMs(connection, hold, Date.now() - asked));
    } catch (error) {
      const most = last ?? whenAway?.(id);
      const leftMs = left();
      const failure = passing(error, leftMs, most);
      if (leftMs <= 0 && most !== undefined) return most;
      await pause(backOffMs(connection, failures++, failure));
    }
  }
}

const goesOn = (id: string): WaitedIntent => ({
  intent_id: id,
  status: "timed_out_waiting",
  data: null,
  reason: null,
});

const over = ({ is_over }: { readonly is_over: boolean }): boolean => is_over;

/** `resources` sends each request once: retries and timing are decided here. */
export function makeWaits(
  connection: Connection,
  { approvals, actions, workflows, intents }: Resources,
): Waits {
  const ended = ({ status }: WaitedIntent) => status !== "timed_out_waiting";
  return {
    waitForApproval: (id, options = {}) =>
      wait(connection, { ask: approvals.wait, isOver: over }, id, options),
    waitForAction: (id, options = {}) => wait(connection, { ask: actions.wait, isOver: over }, id, options),
    waitForWorkflow: (id, options = {}) =>
      wait(connection, { ask: workflows.wait, isOver: over }, id, options),
    waitForIntent: (id, options = {}) =>
      wait(connection, { ask: intents.wait, isOver: ended, whenAway: goesOn }, id, options),
  };
}

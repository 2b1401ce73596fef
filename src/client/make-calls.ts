/** Functions out of the table of calls. */
import type { Call, CallOptions } from "./call-types.ts";
import { CALLS, type CallFacts } from "./calls.ts";
import type { Connection } from "./connection.ts";
import { type Asking, send } from "./send.ts";

type Calls = typeof CALLS;
export type Resources = {
  readonly [Resource in keyof Calls]: {
    readonly [Name in keyof Calls[Resource]]: Calls[Resource][Name] extends CallFacts<infer Route>
      ? Call<Route>
      : never;
  };
};

const PARAMETER = /\{\w+\}/g;

/** In the order of the path. An empty name, or one of dots, would be another path. */
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

/** Needs no secure context, as `randomUUID` does in browsers. */
function freshKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Only what the caller said: an option that is not there is not the same as one that is undefined. */
function limitsOf({ signal, timeoutSeconds }: CallOptions): Pick<Asking, "signal" | "timeoutMs"> {
  return {
    ...(signal === undefined ? {} : { signal }),
    ...(timeoutSeconds === undefined ? {} : { timeoutMs: timeoutSeconds * 1_000 }),
  };
}

type Sent = Pick<Asking, "path" | "body">;
function sentBy(takes: CallFacts["takes"], path: string, input: unknown): Sent {
  if (takes === "body") return { path, body: input ?? {} };
  return { path: takes === "query" ? `${path}${queryText(input)}` : path };
}

export function callOf(connection: Connection, { route, takes, unkept, isText }: CallFacts) {
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
    return send(connection, { ...kind, ...sent, headers, ...limitsOf(options) });
  };
}

export function resourcesOf(connection: Connection): Resources {
  const made = Object.entries(CALLS).map(([resource, calls]) => {
    const functions = Object.entries(calls).map(([name, facts]) => [name, callOf(connection, facts)]);
    return [resource, Object.fromEntries(functions)];
  });
  return Object.fromEntries(made) as Resources;
}

/**
 * One request and its answer.
 *
 * Q1. What is sent again is the same request: the same Idempotency-Key, the same body.
 * Q2. Sent again is only what may be done twice: reads, what the server answers once by its Idempotency-Key, and what is only
 *     looked up again.
 * Q3. The caller's signal ends it at once, wherever it is.
 */
import { backOffMs, mayRepeat } from "./back-off.ts";
import { isClientError, noAnswer, problemError, strangeAnswer } from "./client-error.ts";
import { type Connection, credentialHeaders } from "./connection.ts";

export type Asking = {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly safe: boolean;
  /** The answer is not JSON. */
  readonly isText?: boolean;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
};

const JSON_TYPE = /^application\/(?:problem\+)?json\b/;
const isRead = ({ method }: Asking): boolean => method === "GET";

function requestOf(connection: Connection, { method, body, headers }: Asking, signal: AbortSignal) {
  const content = body === undefined ? {} : { "content-type": "application/json" };
  return {
    method,
    headers: { accept: "application/json", ...credentialHeaders(connection), ...content, ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    // A credential goes to the server that it was given for, and nowhere else.
    redirect: "error",
    signal,
  } as const;
}

/** Undefined where it is not JSON. */
async function jsonOf(response: Response): Promise<unknown> {
  const text = await response.text();
  if (!JSON_TYPE.test(response.headers.get("content-type") ?? "")) return undefined;
  return JSON.parse(text) as unknown;
}

/** What a response that was not wanted says. */
export async function refusalOf({ server }: Connection, response: Response, changes: boolean) {
  const { status } = response;
  return problemError(status, await jsonOf(response)) ?? strangeAnswer(server, status, changes);
}

async function contentOf(connection: Connection, asking: Asking, response: Response): Promise<unknown> {
  const changes = !isRead(asking);
  if (!response.ok) throw await refusalOf(connection, response, changes);
  if (asking.isText === true) return response.text();
  const content = await jsonOf(response);
  if (content === undefined) throw strangeAnswer(connection.server, response.status, changes);
  return content;
}

/** A connection that breaks within the answer has not answered. */
async function attempt(connection: Connection, asking: Asking): Promise<unknown> {
  const { signal, timeoutMs = connection.timeoutMs } = asking;
  const late = AbortSignal.timeout(timeoutMs);
  const over = signal === undefined ? late : AbortSignal.any([signal, late]);
  try {
    const request = requestOf(connection, asking, over);
    const response = await connection.fetch(`${connection.server}${asking.path}`, request);
    return await contentOf(connection, asking, response);
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    if (isClientError(error)) throw error;
    throw noAnswer(connection.server, !isRead(asking), error);
  }
}

export async function send(connection: Connection, asking: Asking): Promise<unknown> {
  const { signal, safe } = asking;
  for (let failures = 0; ; failures++) {
    signal?.throwIfAborted();
    try {
      return await attempt(connection, asking);
    } catch (error) {
      const again = isClientError(error) && mayRepeat(error, safe) && failures < connection.retries;
      if (!again) throw error;
      await connection.pause(backOffMs(connection, failures, error), signal);
    }
  }
}

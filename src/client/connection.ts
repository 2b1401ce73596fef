/**
 * A connection to a server: address, credential, one request and its answer, and when to retry.
 * - A retry is the same request: the same Idempotency-Key, the same body.
 * - Only requests that may run twice are retried: reads, those the server answers once per key, and repeatable ones.
 * - The caller's signal ends it at once, at any stage.
 * - Back-off grows, has jitter, and respects the server's `retry_after`.
 */

/** Codes of the client itself. All other codes come from the server, and are in the reference of errors. */
export const CLIENT_CODES = ["no_answer", "strange_answer"] as const;
type ErrorFacts = Omit<ClientError, keyof Error>;

/** What a call throws: the server's problem with its advice, or a missing answer. */
export class ClientError extends Error {
  override readonly name = "ClientError";
  readonly code: string;
  /** 0 if there was no answer. */
  readonly status: number;
  /** The fault, without the advice that `message` adds. */
  readonly what: string;
  /** State of the data after the error. */
  readonly data: string;
  /** Advice on what to do next. */
  readonly next: string;
  readonly retryable: boolean;
  readonly details: Readonly<Record<string, unknown>>;
  /** Also in the server's log. */
  readonly correlationId: string | null;

  constructor(facts: ErrorFacts, cause?: unknown) {
    const { code, what, data, next } = facts;
    super(`${what} ${data} ${next} [${code}]`, cause === undefined ? {} : { cause });
    this.code = code;
    this.status = facts.status;
    this.what = what;
    this.data = data;
    this.next = next;
    this.retryable = facts.retryable;
    this.details = facts.details;
    this.correlationId = facts.correlationId;
  }
}

export function isClientError(error: unknown, code?: string): error is ClientError {
  return error instanceof ClientError && (code === undefined || error.code === code);
}

const UNKNOWN = "It is not known whether anything was written.";
const NOTHING = "Nothing was written.";
const textOr = (value: unknown, fallback: string): string => (typeof value === "string" ? value : fallback);

type WithoutAnswer = Pick<ErrorFacts, "code" | "status" | "what" | "next" | "retryable">;
const withoutAnswer = (facts: WithoutAnswer, changes: boolean, cause?: unknown): ClientError =>
  new ClientError({ ...facts, data: changes ? UNKNOWN : NOTHING, details: {}, correlationId: null }, cause);

/** `changes`: whether the request would have changed something. */
export function noAnswer(server: string, changes: boolean, cause: unknown): ClientError {
  const next = changes
    ? "Check the current state before doing it again, once the server answers."
    : "Check the address, and that the server runs.";
  const facts = { code: "no_answer", status: 0, what: `${server} did not answer.`, next, retryable: true };
  return withoutAnswer(facts, changes, cause);
}

/** A proxy answered, or a server that is not Holdpoint. */
function strangeAnswer(server: string, status: number, changes: boolean): ClientError {
  const what = `${server} answered ${status}, and not as Holdpoint does.`;
  const next = "Check the address, and what is between here and the server.";
  return withoutAnswer({ code: "strange_answer", status, what, next, retryable: status >= 500 }, changes);
}

const OWN = new Set(["type", "title", "status", "detail", "code", "data", "next", "retryable", "instance"]);

/** Parses an RFC 9457 problem of this server; undefined for other bodies. */
function problemError(status: number, body: unknown): ClientError | undefined {
  if (typeof body !== "object" || body === null) return undefined;
  const problem = body as Readonly<Record<string, unknown>>;
  const { code, detail, data, next, retryable, correlation_id, ...rest } = problem;
  if (typeof code !== "string" || typeof detail !== "string") return undefined;
  return new ClientError({
    code,
    status,
    what: detail,
    data: textOr(data, ""),
    next: textOr(next, ""),
    retryable: retryable === true,
    details: Object.fromEntries(Object.entries(rest).filter(([name]) => !OWN.has(name))),
    correlationId: typeof correlation_id === "string" ? correlation_id : null,
  });
}

/**
 * An API key; or, in a page of the server itself, the token from `session.get()`: the browser sends the cookie by
 * itself. `cookie` is for programs that log in with a link.
 */
export type Credential = { readonly key: string } | { readonly csrfToken: string; readonly cookie?: string };

export type ClientOptions = {
  /** Such as `https://holdpoint.example`. */
  readonly server: string;
  readonly credential?: Credential | (() => Credential | undefined);
  /** Default: the platform's. */
  readonly fetch?: typeof fetch;
  /** Timeout of one answer. Default: 30. */
  readonly timeoutSeconds?: number;
  /** How often a request is retried if that is safe. Default: 4. */
  readonly retries?: number;
  /** Resolves after that many milliseconds, or when the signal aborts. For tests. */
  readonly pause?: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** From 0 to 1. For tests. */
  readonly random?: () => number;
};

export type Connection = {
  readonly server: string;
  readonly credential: () => Credential | undefined;
  readonly fetch: typeof fetch;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly pause: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly random: () => number;
};

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", done, { once: true });
  });
}

function addressOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new TypeError(`"${text}" is not an address such as https://holdpoint.example.`);
  if (url.username !== "" || url.password !== "")
    throw new TypeError("The address holds a name or a password: give a key as the credential instead.");
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}

export function openConnection(options: ClientOptions): Connection {
  const { credential, timeoutSeconds = 30, retries = 4, pause = sleep, random = Math.random } = options;
  const given = options.fetch;
  return {
    server: addressOf(options.server),
    credential: typeof credential === "function" ? credential : () => credential,
    // Called as a plain function: browsers refuse to call `fetch` as a method of another object.
    fetch: given ?? ((input, init) => fetch(input, init)),
    timeoutMs: timeoutSeconds * 1_000,
    retries,
    pause,
    random,
  };
}

export function credentialHeaders({ credential }: Connection): Record<string, string> {
  const shown = credential();
  if (shown === undefined) return {};
  if ("key" in shown) return { authorization: `Bearer ${shown.key}` };
  const cookie = shown.cookie === undefined ? {} : { cookie: shown.cookie };
  return { "x-csrf-token": shown.csrfToken, ...cookie };
}

const FIRST_MS = 250;
const MOST_MS = 10_000;

export function backOffMs(
  { random }: Pick<Connection, "random">,
  failures: number,
  error?: ClientError,
): number {
  const grown = Math.min(MOST_MS, FIRST_MS * 2 ** Math.min(failures, 10));
  const said = error?.details["retry_after"];
  const asked = typeof said === "number" && said > 0 ? said * 1_000 : 0;
  return Math.max(asked, grown / 2) + (random() * grown) / 2;
}

/** The server answers that it cannot handle the request now. Nothing was done. */
const isLater = ({ status, code, retryable }: ClientError): boolean =>
  status === 429 || code === "closed" || (status === 503 && retryable);

/** A proxy answered in its own format. */
const BETWEEN = new Set([502, 503, 504]);
const isBroken = ({ code, status }: ClientError): boolean =>
  code === "no_answer" || (code === "strange_answer" && BETWEEN.has(status));

/**
 * `safe`: running it twice does no harm. An unsafe request is retried only if the server said that it did not start.
 */
export function mayRepeat(error: ClientError, safe: boolean): boolean {
  return safe ? isLater(error) || isBroken(error) : error.status === 429;
}

export type ClientRequest = {
  readonly method: string;
  /** Including the query. */
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
const isRead = ({ method }: ClientRequest): boolean => method === "GET";

function requestOf(connection: Connection, { method, body, headers }: ClientRequest, signal: AbortSignal) {
  const content = body === undefined ? {} : { "content-type": "application/json" };
  return {
    method,
    headers: { accept: "application/json", ...credentialHeaders(connection), ...content, ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    // No redirects: a credential is sent only to the server it was given for.
    redirect: "error",
    signal,
  } as const;
}

/** undefined if it is not JSON. */
async function jsonOf(response: Response): Promise<unknown> {
  const text = await response.text();
  if (!JSON_TYPE.test(response.headers.get("content-type") ?? "")) return undefined;
  return JSON.parse(text) as unknown;
}

/** Error from an unsuccessful response. */
export async function problemFrom({ server }: Connection, response: Response, changes: boolean) {
  const { status } = response;
  return problemError(status, await jsonOf(response)) ?? strangeAnswer(server, status, changes);
}

async function contentOf(
  connection: Connection,
  asking: ClientRequest,
  response: Response,
): Promise<unknown> {
  const changes = !isRead(asking);
  if (!response.ok) throw await problemFrom(connection, response, changes);
  if (asking.isText === true) return response.text();
  const content = await jsonOf(response);
  if (content === undefined) throw strangeAnswer(connection.server, response.status, changes);
  return content;
}

/** A connection that breaks during the answer counts as no answer. */
async function attempt(connection: Connection, asking: ClientRequest): Promise<unknown> {
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

export async function sendRequest(connection: Connection, asking: ClientRequest): Promise<unknown> {
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

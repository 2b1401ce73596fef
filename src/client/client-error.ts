/** The error that a call throws: the server's problem with its advice, or a missing answer. */

/** Codes of the client itself. All other codes come from the server, and are in the reference of errors. */
export const CLIENT_CODES = ["no_answer", "strange_answer"] as const;
type ErrorFacts = {
  readonly code: string;
  /** 0 if there was no answer. */
  readonly status: number;
  readonly what: string;
  readonly data: string;
  readonly next: string;
  readonly retryable: boolean;
  readonly details: Readonly<Record<string, unknown>>;
  readonly correlationId: string | null;
};

export class ClientError extends Error {
  override readonly name = "ClientError";
  readonly code: string;
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
    ? "Look at what stands before doing it again, once the server answers."
    : "Check the address, and that the server runs.";
  const facts = { code: "no_answer", status: 0, what: `${server} did not answer.`, next, retryable: true };
  return withoutAnswer(facts, changes, cause);
}

/** A proxy answered, or a server that is not Holdpoint. */
export function strangeAnswer(server: string, status: number, changes: boolean): ClientError {
  const what = `${server} answered ${status}, and not as Holdpoint does.`;
  const next = "Check the address, and what stands between here and the server.";
  return withoutAnswer({ code: "strange_answer", status, what, next, retryable: status >= 500 }, changes);
}

const OWN = new Set(["type", "title", "status", "detail", "code", "data", "next", "retryable", "instance"]);

/** Parses an RFC 9457 problem of this server; undefined for other bodies. */
export function problemError(status: number, body: unknown): ClientError | undefined {
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

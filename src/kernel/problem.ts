/** An error as an object: the fields of an RFC 9457 problem, with our code and its advice. */
import { ERROR_CODES, type ErrorCode, HoldpointError } from "./errors.ts";

/** `instance` and `correlation_id` say which request failed: the server adds them to the answer of that request. */
const OWN_FIELDS = [
  ...(["type", "title", "status", "detail", "code", "data"] as const),
  ...(["next", "retryable", "instance", "correlation_id"] as const),
];
const isOwn = (field: string): boolean => OWN_FIELDS.some((own) => own === field);

const titleOf = (code: string): string => {
  const words = code.replaceAll("_", " ");
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
};
const snake = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Details in addition to the standard fields. A name that is taken gets the prefix `current_`. */
function detailsOf(details: HoldpointError["details"]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(details).map(([name, value]) => {
      const field = snake(name);
      return [isOwn(field) ? `current_${field}` : field, value];
    }),
  );
}

/** `request`: fields that name the failed request. */
export function problemFields<Request extends object>(error: HoldpointError, request?: Request) {
  const { code, status, what, data, next, retryable, details } = error;
  return {
    type: `urn:holdpoint:error:${code}`,
    title: titleOf(code),
    status,
    detail: what,
    code,
    data,
    next,
    retryable,
    ...(request as Request),
    ...detailsOf(details),
  };
}

const isKnown = (code: string): code is ErrorCode => Object.hasOwn(ERROR_CODES, code);

/** The error that a problem describes. */
export function readProblem(problem: Readonly<Record<string, unknown>>): HoldpointError {
  const code = String(problem["code"]);
  const details = Object.fromEntries(Object.entries(problem).filter(([name]) => !isOwn(name)));
  return new HoldpointError(isKnown(code) ? code : "unexpected", String(problem["detail"]), {
    data: String(problem["data"]),
    next: String(problem["next"]),
    details,
  });
}

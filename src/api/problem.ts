/** Errors on the wire: RFC 9457 problems, with our codes and their advice. */
import type { z } from "zod";
import { type ErrorCode, HoldpointError, isHoldpointError } from "../kernel/errors.ts";
import { problemFields } from "../kernel/problem.ts";

export const PROBLEM_TYPE = "application/problem+json; charset=utf-8";

export type Problem = {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  readonly data: string;
  readonly next: string;
  readonly retryable: boolean;
  readonly instance: string;
  readonly correlation_id: string;
  readonly [more: string]: unknown;
};

type ProblemContext = { readonly instance: string; readonly requestId: string };

export const problemOf = (error: HoldpointError, { instance, requestId }: ProblemContext): Problem =>
  problemFields(error, { instance, correlation_id: requestId });

type Fault = { readonly field: string; readonly message: string };

/** Lists every invalid field, with the part of the request that holds it. */
export function invalidInput(part: string, issues: readonly z.core.$ZodIssue[]): HoldpointError {
  const errors: Fault[] = issues.flatMap((issue) => {
    const keys = issue.code === "unrecognized_keys" ? issue.keys : [undefined];
    return keys.map((key) => ({
      field: [part, ...issue.path, ...(key === undefined ? [] : [key])].map(String).join("."),
      message: key === undefined ? issue.message : "there is no such field",
    }));
  });
  // A contract's message is a sentence: its full stop would be doubled, or precede a semicolon.
  const named = errors.slice(0, 5).map(({ field, message }) => `${field}: ${message.replace(/\.$/, "")}`);
  const more = errors.length > named.length ? `; and ${errors.length - named.length} more` : "";
  return new HoldpointError("invalid_input", `The request does not fit: ${named.join("; ")}${more}.`, {
    details: { errors: errors.slice(0, 100) },
  });
}

/** Errors of the framework, by status. */
const BY_STATUS: { readonly [status: number]: ErrorCode } = {
  404: "unknown_route",
  405: "unknown_route",
  413: "payload_too_large",
  415: "unsupported_media_type",
};

function frameworkError(error: unknown): HoldpointError | undefined {
  const { statusCode, message } = error as { readonly statusCode?: unknown; readonly message?: unknown };
  if (typeof statusCode !== "number" || statusCode < 400 || statusCode >= 500) return undefined;
  return new HoldpointError(BY_STATUS[statusCode] ?? "invalid_input", `${String(message)}.`, {
    cause: error,
  });
}

/** An error of ours is returned unchanged. Other errors reveal no internals. */
export function asHoldpointError(error: unknown): HoldpointError {
  if (isHoldpointError(error)) return error;
  const refused = typeof error === "object" && error !== null ? frameworkError(error) : undefined;
  return (
    refused ?? new HoldpointError("unexpected", "Something went wrong that has no name.", { cause: error })
  );
}

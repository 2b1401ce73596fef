/** Operations that were asked for wrongly: recorded as such, so that a replay tells the definition the same. */

import { recordFacts } from "../../core/workflow/run.ts";
import { type ErrorCode, type HoldpointError, isHoldpointError } from "../../kernel/errors.ts";
import { textWithoutSecrets } from "./redact.ts";
import { type AskedOp, commit, type Run } from "./run.ts";

/** Errors of what was given, not of the store or the process: asking again would not help. */
const MISUSES: readonly ErrorCode[] = [
  "invalid_input",
  "invalid_args",
  "invalid_json",
  "payload_too_large",
  "reserved_key",
  "async_schema",
  "request_conflict",
  "unsatisfiable_quorum",
  "secret_missing",
  "secret_transformed",
];

export function isMisuse(error: unknown): error is HoldpointError {
  return isHoldpointError(error) && MISUSES.includes(error.code);
}

export async function refuseOp(
  run: Run,
  { op, kind }: AskedOp,
  { code, what }: HoldpointError,
): Promise<void> {
  const error = await textWithoutSecrets(run, what);
  const event = { type: "operation.refused", tv: 1, body: { op, kind, code, error } };
  await commit(run, (draft, runner, before) =>
    recordFacts(draft, runner, { phase: "run", events: () => [...before, event] }),
  );
}

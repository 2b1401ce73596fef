import { HoldpointError } from "../kernel/errors.ts";
import type { ViewQuery } from "./store.ts";

export function checkQuery({ limit, after }: ViewQuery, exists: (stream: string) => boolean): void {
  if (!Number.isSafeInteger(limit) || limit < 1) {
    throw new HoldpointError("invalid_input", "A list's limit has to be a whole number from 1.");
  }
  if (after === undefined || exists(after.stream)) return;
  throw new HoldpointError(
    "invalid_input",
    `A list cannot go on after "${after.stream}": there is no such stream.`,
  );
}

/** Writes down that a request was refused, where there is room for it. */
import type { Draft } from "./draft.ts";
import type { NewEvent } from "./event.ts";
import { hasRoom, type Refused } from "./refusals.ts";
import type { StreamRef } from "./stream.ts";

/** Answers whether there was room for it. */
export function recordRefusal(
  draft: Draft,
  ref: StreamRef,
  state: Refused,
  event: NewEvent & { readonly body: { readonly by: string } },
): boolean {
  const isRecorded = hasRoom(state, event.body.by);
  if (isRecorded) draft.append(ref, [event]);
  return isRecorded;
}

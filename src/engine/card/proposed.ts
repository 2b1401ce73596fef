/** What was asked for at first, where it was changed since. */
import type { LiveAction } from "../../core/action/state.ts";
import type { LiveApproval } from "../../core/approval/state.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { actionStream, approvalStream, type StreamRef } from "../../core/stream.ts";
import { loadValue } from "../read-state.ts";
import type { Runtime } from "../runtime.ts";

type Place = Pick<Runtime, "store" | "tenant">;

/** Of the first entry; null where that was erased. */
async function firstArgs(place: Place, ref: StreamRef): Promise<Json> {
  const [first] = await place.store.read(place.tenant, ref, { fromSeq: 1, limit: 1 });
  if (first?.body == null) return null;
  return loadValue(place, (JSON.parse(first.body) as JsonObject)["args"] ?? null);
}

/** By policy or by people: an approval that was asked after the policy's change knows only that. */
export async function proposedArgs(
  place: Place,
  id: string,
  { edited, action, argsDigest }: LiveApproval,
  state: LiveAction | null,
): Promise<Json> {
  if (state === null) return edited ? firstArgs(place, approvalStream(id)) : null;
  return state.proposedDigest === argsDigest ? null : firstArgs(place, actionStream(action));
}

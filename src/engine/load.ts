/** Fetches what rules ask for and states do not hold: artifacts by their hash, the calls that a workflow made before, grants. */
import { historyKey } from "../core/action/policy-input.ts";
import { grantsKey } from "../core/grant/fit.ts";
import type { Json } from "../core/json.ts";
import { candidatesFor } from "./grants.ts";
import { pastCallsOf } from "./past-calls.ts";
import { loadArtifact } from "./read-state.ts";
import type { Runtime } from "./runtime.ts";

const HISTORY = historyKey("");
const GRANTS = grantsKey("");

export function loaderOf(place: Pick<Runtime, "store" | "tenant">): (key: string) => Promise<Json> {
  return async (key) => {
    if (key.startsWith(GRANTS)) return candidatesFor(place, key.slice(GRANTS.length));
    if (!key.startsWith(HISTORY)) return loadArtifact(place, key);
    return (await pastCallsOf(place, key.slice(HISTORY.length))) as unknown as Json;
  };
}

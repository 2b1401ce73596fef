/**
 * Fetches what rules ask for and states do not hold: artifacts by their hash, the calls that a workflow made before,
 * grants, and what the tool at hand shows of a call.
 */
import { historyKey } from "../core/action/review.ts";
import type { Load } from "../core/action/start.ts";
import { grantsKey } from "../core/grant/fit.ts";
import type { Json } from "../core/json.ts";
import { candidatesFor } from "./grants.ts";
import { pastCallsOf } from "./past-calls.ts";
import { computePreview } from "./preview.ts";
import { loadArtifact } from "./read-state.ts";
import type { Runtime } from "./runtime.ts";
import type { Tool } from "./tool.ts";

const HISTORY = historyKey("");
const GRANTS = grantsKey("");

/** `tool` is the one whose rules ask; null where no tool is at hand, and then none asks for a preview. */
export function loaderOf(runtime: Runtime, tool: Tool | null): (load: Load) => Promise<Json> {
  return async ({ key, preview }) => {
    if (preview !== undefined && tool !== null) return computePreview(runtime, tool, preview);
    if (key.startsWith(GRANTS)) return candidatesFor(runtime, key.slice(GRANTS.length));
    if (!key.startsWith(HISTORY)) return loadArtifact(runtime, key);
    return (await pastCallsOf(runtime, key.slice(HISTORY.length))) as unknown as Json;
  };
}

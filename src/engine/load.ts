/**
 * Fetches what rules ask for and states do not hold: artifacts by their hash, the calls that a workflow made before, and
 * the preview of the tool at hand.
 */

import { historyKey } from "../core/action/review.ts";
import type { Json } from "../kernel/json.ts";
import { readPastCalls } from "../policy/past-calls.ts";
import type { Load } from "../policy/rules/tool-rules.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { loadArtifact } from "../runtime/store-access.ts";

import { computePreview } from "./preview.ts";

import type { Tool } from "./tool.ts";

const HISTORY = historyKey("");

/** `tool` is the one whose rules ask; null where no tool is at hand, and then none asks for a preview. */
export function loaderOf(runtime: Runtime, tool: Tool | null): (load: Load) => Promise<Json> {
  return async ({ key, preview }) => {
    if (preview !== undefined && tool !== null) return computePreview(runtime, tool, preview);
    if (!key.startsWith(HISTORY)) return loadArtifact(runtime, key);
    return (await readPastCalls(runtime, key.slice(HISTORY.length))) as unknown as Json;
  };
}

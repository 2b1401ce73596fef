/**
 * Runs a tool's `preview`: it sees what its function would see, and what comes back is told without secrets. It never
 * fails: the text of a failure is what people are shown.
 */

import type { ShownPreview } from "../approvals/state.ts";
import { copyJson } from "../kernel/canonical-json.ts";
import { sleepFor } from "../kernel/clock.ts";
import type { Json } from "../kernel/json.ts";
import { errorText } from "../kernel/text.ts";
import type { PreviewCall } from "../policy/rules/tool-rules.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { redactJson, redactText, resolveSecrets, revealSecrets } from "../runtime/secrets.ts";
import { resultJson } from "./attempt.ts";

import type { PreviewContext, Tool } from "./tool.ts";

type Needed = Pick<Runtime, "clock" | "secrets">;

/** For a tool that does not say how long its function may take. */
const PREVIEW_MS = 30_000;

function contextOf(
  tool: Tool,
  { action, requestId, agent }: PreviewCall,
  signal: AbortSignal,
): PreviewContext {
  return { action, requestId, agent, tool: tool.rules.name, signal };
}

async function within(clock: Runtime["clock"], ms: number, over: AbortController): Promise<never> {
  await sleepFor(clock, ms, over.signal);
  throw new Error(`no answer within ${ms} ms`);
}

async function shown(
  { clock }: Needed,
  tool: Tool,
  call: PreviewCall,
  known: ReadonlyMap<string, string>,
): Promise<ShownPreview> {
  const over = new AbortController();
  const args = revealSecrets(copyJson(call.args), known);
  try {
    const run = async () => tool.preview?.(args, contextOf(tool, call, over.signal));
    const late = within(clock, tool.timeoutMs ?? PREVIEW_MS, over);
    late.catch(() => undefined);
    const value = resultJson(await Promise.race([run(), late]));
    return { value: redactJson(value, known), failed: false };
  } catch (error) {
    return { value: errorText(error, (text) => redactText(text, known)), failed: true };
  } finally {
    over.abort();
  }
}

export async function computePreview(place: Needed, tool: Tool, call: PreviewCall): Promise<Json> {
  const known = await resolveSecrets(place.secrets, call.args).catch((error: unknown) => errorText(error));
  return typeof known === "string" ? { value: known, failed: true } : shown(place, tool, call, known);
}

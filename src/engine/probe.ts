/** Asks tools that can tell (`verify`) about their effects in doubt. */
import { type ProbeAnswer, recordProbe } from "../core/action/resolve.ts";
import { errorText } from "../core/error-text.ts";
import { actionStream } from "../core/stream.ts";
import { resultJson } from "./attempt.ts";
import type { Clock } from "./clock.ts";
import { loadValue, readStateAt } from "./read-state.ts";
import { runCommand } from "./run-command.ts";
import type { Runtime } from "./runtime.ts";
import { redactJson, redactText, resolveAll, revealSecrets } from "./secrets.ts";

const ACTIONS = "actions";
const MOST_AT_ONCE = 100;
const PATIENCE_MS = 30_000;
const ANSWERS: readonly unknown[] = ["applied", "not_applied", "unknown"];

/** A probe that fails or talks nonsense knows nothing. */
async function ask(
  verify: () => Promise<ProbeAnswer>,
  known: ReadonlyMap<string, string>,
): Promise<ProbeAnswer> {
  try {
    const said = await verify();
    if (!ANSWERS.includes(said?.answer))
      return {
        answer: "unknown",
        evidence: "verify did not answer applied, not_applied or unknown",
        result: null,
      };
    const clean = (value: unknown) => redactJson(resultJson(value), known);
    return { answer: said.answer, evidence: clean(said.evidence), result: clean(said.result) };
  } catch (error) {
    return {
      answer: "unknown",
      evidence: errorText(error, (text) => redactText(text, known)),
      result: null,
    };
  }
}

/** A probe that does not come back knows nothing, and holds nobody up. */
async function inTime<Value>(work: () => Promise<Value>, clock: Clock, signal: AbortSignal): Promise<Value> {
  const over = new AbortController();
  const late = clock.sleep(PATIENCE_MS, AbortSignal.any([signal, over.signal])).then(() => {
    throw new Error(`verify did not answer within ${PATIENCE_MS} ms`);
  });
  return Promise.race([work(), late]).finally(() => over.abort());
}

/** Probes one effect in doubt; answers whether the doubt is over. `clock` is slept on while waiting for `verify`. */
export async function probeAction(runtime: Runtime, action: string, clock: Clock): Promise<boolean> {
  const { state, now: askedAt } = await readStateAt(runtime, actionStream(action));
  if (state.phase !== "in_doubt") return false;
  const tool = runtime.tools.get(state.tool);
  const verify = tool?.verify ?? null;
  if (tool === undefined || verify === null || tool.rules.schemaDigest !== state.schema) return false;
  const args = await loadValue(runtime, state.args);
  const known = await resolveAll(runtime.secrets, args).catch(() => new Map<string, string>());
  const context = {
    args: revealSecrets(args, known),
    idempotencyKey: state.effect.id,
    action,
    startedAt: state.effect.startedAt,
  };
  const probe = await ask(() => inTime(() => verify(context), clock, runtime.closing), known);
  if (runtime.closing.aborted) return false;
  const command = { action, probe, askedAt, finalityMs: tool.rules.finalityMs };
  const answer = await runCommand(runtime, { write: [actionStream(action)] }, (draft) =>
    recordProbe(draft, command),
  );
  return answer.kind === "resolved";
}

export async function probeDoubts(runtime: Runtime, clock: Clock = runtime.clock): Promise<number> {
  const rows = await runtime.store.query(runtime.tenant, {
    view: ACTIONS,
    bucket: "in_doubt",
    limit: MOST_AT_ONCE,
  });
  let resolved = 0;
  for (const row of rows) if (await probeAction(runtime, row.stream.id, clock)) resolved++;
  return resolved;
}

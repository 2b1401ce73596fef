/** Resolves effects in doubt: calls the tool's `verify`, or records a person's statement. */

import type { Clock } from "../kernel/clock.ts";
import { HoldpointError } from "../kernel/errors.ts";
import { isId } from "../kernel/ids.ts";
import { actionStream, epochStream } from "../kernel/stream.ts";
import { displayValue, errorText } from "../kernel/text.ts";
import { redactTexts } from "../people/secret-guesses/limit.ts";
import { endIfDead } from "../runtime/epochs.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { redactJson, redactText, resolveSecrets, revealSecrets } from "../runtime/secrets.ts";
import { loadArgs, loadValue, readState, readStateAt, runCommand } from "../runtime/store-access.ts";
import { actionRows } from "./actions.ts";
import type { EffectStatement } from "./contract.ts";
import { type ProbeAnswer, type ResolveAnswer, recordProbe } from "./rules/outcome.ts";
import { actionIdOf } from "./rules/start.ts";
import { resultJson } from "./run-tool.ts";
import type { ActionIn } from "./state.ts";

const PATIENCE_MS = 30_000;
const ANSWERS: readonly unknown[] = ["applied", "not_applied", "unknown"];

/** A probe that throws or returns an invalid answer counts as `unknown`. */
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

/** A probe that does not return counts as `unknown`, and does not block others. */
async function inTime<Value>(work: () => Promise<Value>, clock: Clock, signal: AbortSignal): Promise<Value> {
  const over = new AbortController();
  const late = clock.sleep(PATIENCE_MS, AbortSignal.any([signal, over.signal])).then(() => {
    throw new Error(`verify did not answer within ${PATIENCE_MS} ms`);
  });
  return Promise.race([work(), late]).finally(() => over.abort());
}

/**
 * Whether the attempt can do nothing more. This process knows which of its own attempts returned. An attempt of another
 * process has ended when that process is dead.
 */
async function isOver(runtime: Runtime, action: string, state: ActionIn<"in_doubt">): Promise<boolean> {
  // There is no way to know whether an outside agent has stopped.
  if (state.effect.reportBy !== undefined) return false;
  const own = await runtime.epoch();
  const { epoch } = state.effect;
  if (epoch !== own.id) {
    const { life } = await readState(runtime, epochStream(epoch));
    return life === "ended" || endIfDead(runtime, epoch, own.id);
  }
  const finalityMs = runtime.tools.get(state.tool)?.rules.finalityMs ?? 0;
  const out = [...runtime.overdue].filter(([name]) => name.startsWith(`${action}#`));
  if (out.some(([, age]) => age === null || age() < finalityMs)) return false;
  for (const [name] of out) runtime.overdue.delete(name);
  return true;
}

/** Probes one effect in doubt. Returns whether that resolved it. The wait for `verify` sleeps on `clock`. */
export async function probeAction(runtime: Runtime, action: string, clock: Clock): Promise<boolean> {
  const { state, now: askedAt } = await readStateAt(runtime, actionStream(action));
  if (state.phase !== "in_doubt") return false;
  const tool = runtime.tools.get(state.tool);
  const verify = tool?.verify ?? null;
  if (tool === undefined || verify === null || tool.rules.schemaDigest !== state.schema) return false;
  const args = await loadArgs(runtime, state);
  const known = await resolveSecrets(runtime.secrets, args).catch(() => new Map<string, string>());
  const context = {
    args: revealSecrets(args, known),
    idempotencyKey: state.effect.id,
    action,
    startedAt: state.effect.startedAt,
  };
  const over = await isOver(runtime, action, state);
  const probe = await ask(() => inTime(() => verify(context), clock, runtime.closing), known);
  if (runtime.closing.aborted) return false;
  const command = { action, probe, askedAt, isOver: over, finalityMs: tool.rules.finalityMs };
  const answer = await runCommand(runtime, { write: [actionStream(action)] }, (draft) =>
    recordProbe(draft, command),
  );
  return answer.kind === "resolved";
}

/** Probes every effect in doubt whose tool has a `verify` in this process, without waiting for the answers. */
export async function startProbing(runtime: Runtime, clock: Clock = runtime.clock): Promise<void> {
  for (const row of await actionRows(runtime, "in_doubt")) {
    const tool = String(row.data["tool"]);
    const action = row.stream.id;
    if ((runtime.tools.get(tool)?.verify ?? null) === null) continue;
    void runtime.probing.run(tool, action, async () => {
      await probeAction(runtime, action, clock);
    });
  }
}

type Resolution = EffectStatement & { readonly id: string };

/** People's texts are stored in clear, so the values of the action's secrets are removed. */
export async function prepareStatement(runtime: Runtime, given: Resolution) {
  const { id, by, reason, evidence } = given;
  const action = actionIdOf(id);
  const ref = actionStream(action);
  const state = isId("act", action) ? await readState(runtime, ref) : { phase: "none" as const };
  if (state.phase === "none")
    throw new HoldpointError("unknown_id", `There is no effect ${displayValue(id)}.`);
  const args = await loadValue(runtime, state.args);
  const known = await resolveSecrets(runtime.secrets, args).catch(() => new Map<string, string>());
  const keep = (text: string) => redactTexts(runtime, { by, text, known });
  const kept = { reason: keep(reason), ...(evidence === undefined ? {} : { evidence: keep(evidence) }) };
  return { input: { ...given, ...kept }, needs: { write: [ref] } };
}

/** Throws if the rule did not resolve the effect. */
export function requireResolved(effect: string, answer: ResolveAnswer): void {
  if (answer.kind === "not_allowed")
    throw new HoldpointError("not_eligible", `The effect was not resolved: ${answer.reason}.`, {
      data: "Nothing was written; the effect is still in doubt.",
      next: "Ask somebody else, in good standing and not the requester.",
    });
  if (answer.kind === "not_in_doubt")
    throw new HoldpointError("not_in_doubt", `The effect ${effect} is ${answer.state.phase}.`, {
      details: { phase: answer.state.phase },
    });
}

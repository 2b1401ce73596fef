/**
 * Compares what the journal says of effects with what the receiver's log says happened.
 *
 * R1. A key is applied at most once, or at most once an attempt where the class may be repeated and the receiver forgets.
 * R2. `applied` means that it happened at least once; `not_applied` and everything that never started, that it did not.
 * R3. In doubt and running mean that nobody knows: whatever the log says is right, and is listed.
 * R4. What happened has an effect of its own, with the very bytes that were recorded for it.
 */
import type { ActionState, LiveAction } from "../../src/effects/state.ts";
import { canonicalJson } from "../../src/kernel/canonical-json.ts";
import type { Received } from "./effects.ts";
import type { Spec } from "./tools.ts";

export type Known = { readonly id: string; readonly state: LiveAction };
export type Doubt = { readonly effect: string; readonly tool: string; readonly applied: boolean };

export type Reconciled = {
  readonly lost: readonly string[];
  readonly duplicated: readonly string[];
  readonly unexplained: readonly string[];
  readonly doubts: readonly Doubt[];
  readonly applications: number;
};

export function knownEffects(states: ReadonlyMap<string, ActionState>): ReadonlyMap<string, Known> {
  const known = new Map<string, Known>();
  for (const [id, state] of states)
    if (state.phase !== "none") known.set(id.replace(/^act_/, "eff_"), { id, state });
  return known;
}

function applicationsByKey(received: readonly Received[]): ReadonlyMap<string, readonly Received[]> {
  const byKey = new Map<string, Received[]>();
  for (const line of received) {
    if (line.outcome !== "applied") continue;
    const lines = byKey.get(line.key);
    if (lines === undefined) byKey.set(line.key, [line]);
    else lines.push(line);
  }
  return byKey;
}

function mostOf(spec: Spec | undefined, state: LiveAction): number {
  if (spec?.applied === "never") return 0;
  return spec?.applied === "every attempt" && "effect" in state ? state.effect.attempt : 1;
}

const HAPPENED_OR_UNKNOWN: readonly string[] = ["applied", "in_doubt", "running"];

function whyUnexplained(line: Received, known: Known | undefined): string | undefined {
  if (known === undefined) return `${line.key} (${line.tool}) happened and the journal does not know it`;
  const { state } = known;
  if (!HAPPENED_OR_UNKNOWN.includes(state.phase))
    return `${line.key} (${state.tool}) happened and is recorded as ${state.phase}`;
  if (line.tool !== state.tool || line.args !== canonicalJson(state.args))
    return `${line.key} (${state.tool}) happened with other bytes than were recorded`;
  return undefined;
}

export function reconcile(
  effects: ReadonlyMap<string, Known>,
  received: readonly Received[],
  specs: readonly Spec[],
): Reconciled {
  const specOf = new Map(specs.map((spec) => [spec.name, spec]));
  const applied = applicationsByKey(received);
  const lost: string[] = [];
  const duplicated: string[] = [];
  const unexplained: string[] = [];
  const doubts: Doubt[] = [];
  for (const [key, lines] of applied) {
    const known = effects.get(key);
    const why = lines.map((line) => whyUnexplained(line, known)).find((text) => text !== undefined);
    if (why !== undefined) unexplained.push(why);
    const most = known === undefined ? 1 : mostOf(specOf.get(known.state.tool), known.state);
    if (lines.length > most)
      duplicated.push(
        `${key} (${lines[0]?.tool}) was applied ${lines.length} times and may be ${most} times`,
      );
  }
  for (const [effect, { state }] of effects) {
    const happened = applied.has(effect);
    const { tool, phase } = state;
    if (phase === "in_doubt") doubts.push({ effect, tool, applied: happened });
    if (phase === "applied" && !happened && specOf.get(tool)?.applied !== "never")
      lost.push(`${effect} (${tool}) is recorded as applied and never happened`);
  }
  const applications = [...applied.values()].reduce((sum, lines) => sum + lines.length, 0);
  return { lost, duplicated, unexplained, doubts, applications };
}

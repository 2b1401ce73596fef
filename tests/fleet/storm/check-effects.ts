/**
 * What the journal says of effects and money, against what the receiver's log says happened.
 *
 * E1. No key is applied twice: not by a tool that may not be repeated, nor where the receiver honours the key.
 * E2. What happened is applied or in doubt, with the bytes that were recorded. What is applied happened.
 * E3. A budget never holds more than its limit, and holds what effects have taken from it.
 */
import type { LiveAction } from "../../../src/effects/state.ts";
import { canonicalJson } from "../../../src/kernel/canonical-json.ts";
import type { Received } from "../../crash/effects.ts";
import type { Checker, Fault } from "./history.ts";
import { BUDGET, RESERVED, SPECS, SPENT } from "./tools.ts";

const actionOf = (key: string): string => key.replace(/^eff_/, "act_");
const HAPPENED_OR_UNKNOWN: readonly string[] = ["applied", "in_doubt", "running"];

export function appliedByKey(received: readonly Received[]): ReadonlyMap<string, readonly Received[]> {
  return Map.groupBy(
    received.filter(({ outcome }) => outcome === "applied"),
    ({ key }) => key,
  );
}

function explained(line: Received, state: LiveAction | undefined): readonly Fault[] {
  const fault = (what: string): readonly Fault[] => [
    { kind: "unexplained", what: `${line.key} (${line.tool}) happened and ${what}` },
  ];
  if (state === undefined) return fault("the journal does not know it");
  if (!HAPPENED_OR_UNKNOWN.includes(state.phase)) return fault(`is recorded as ${state.phase}`);
  if (state.tool !== line.tool || canonicalJson(state.args) !== line.args)
    return fault("was recorded with other bytes");
  return [];
}

export const checkEffects: Checker = ({ received, journal }) => {
  const applied = appliedByKey(received);
  const faults: Fault[] = [];
  for (const [key, lines] of applied) {
    const state = journal.actions.get(actionOf(key));
    const live = state === undefined || state.phase === "none" ? undefined : state;
    const [first] = lines;
    if (first !== undefined) faults.push(...explained(first, live));
    if (lines.length > 1)
      faults.push({ kind: "doubled", what: `${key} (${first?.tool}) was applied ${lines.length} times` });
  }
  for (const [id, state] of journal.actions) {
    if (state.phase !== "applied" || SPECS.get(state.tool)?.isSeen !== true) continue;
    if (!applied.has(state.effect.id))
      faults.push({
        kind: "phantom",
        what: `${id} (${state.tool}) is recorded as applied and never happened`,
      });
  }
  return faults;
};

/** Of what a person found to have happened nobody knows what it cost: all that was kept for it counts. */
function takenBy(state: LiveAction): { readonly spent: bigint; readonly reserved: bigint } {
  if (!("effect" in state) || state.effect.costs.length === 0) return { spent: 0n, reserved: 0n };
  if (state.phase === "running" || state.phase === "in_doubt") return { spent: 0n, reserved: RESERVED };
  if (state.phase !== "applied") return { spent: 0n, reserved: 0n };
  return { spent: state.outcome.by.startsWith("person:") ? RESERVED : SPENT, reserved: 0n };
}

export const checkBank: Checker = ({ journal }) => {
  const faults: Fault[] = journal.overruns.map((what) => ({ kind: "over budget", what }));
  const budget = journal.budgets.get(BUDGET);
  if (budget === undefined) return [...faults, { kind: "ledger", what: "the budget is not there" }];
  const taken = { spent: 0n, reserved: 0n };
  for (const state of journal.actions.values()) {
    if (state.phase === "none") continue;
    const { spent, reserved } = takenBy(state);
    taken.spent += spent;
    taken.reserved += reserved;
  }
  for (const part of ["spent", "reserved"] as const)
    if (budget[part] !== taken[part])
      faults.push({ kind: "ledger", what: `${part} is ${budget[part]} and effects took ${taken[part]}` });
  return faults;
};

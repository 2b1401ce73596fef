/** An agent says what became of an effect that it performed itself. */

import { plainJson } from "../../effects/arguments.ts";
import type { EffectReport } from "../../effects/rules/outcome.ts";
import { type ReportAnswer, recordReport as record } from "../../effects/rules/permit.ts";
import { type Receipt, receiptOf } from "../../effects/rules/receipt.ts";
import type { ActionIn, LiveAction } from "../../effects/state.ts";

import { HoldpointError } from "../../kernel/errors.ts";
import { checkFields, rejectInput } from "../../kernel/fields.ts";
import { actionStream } from "../../kernel/stream.ts";
import { displayValue } from "../../kernel/text.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { handlesIn, redactJson, redactText, resolveSecrets } from "../../runtime/secrets.ts";
import { loadValue, runCommand } from "../../runtime/store-access.ts";

import { checkText, notYours } from "./check-outside.ts";
import { ownAction } from "./propose.ts";
import { settleRollback } from "./roll-back.ts";

export type OutcomeReport = {
  readonly action: string;
  readonly agent: string;
  /** `unknown`: the agent cannot tell; a person has to find out. */
  readonly status: "applied" | "not_applied" | "unknown";
  /** What it gave, where it was applied. */
  readonly result?: unknown;
  /** Why not, or why nobody knows. */
  readonly reason?: string;
  /** What it really cost, in micros by budget; what was reserved, unless said. */
  readonly spent?: { readonly [budget: string]: bigint };
};

export type Reported = {
  /** `late`: it was in doubt by then and still is, unless a person has ended that; the report is kept as testimony. */
  readonly kind: "reported" | "late";
  readonly action: string;
  readonly receipt: Receipt;
};

const FIELDS = ["action", "agent", "status", "result", "reason", "spent"];
const STATUSES: readonly unknown[] = ["applied", "not_applied", "unknown"];
const LONGEST_REASON = 10_000;

function checkSpent(spent: unknown, state: LiveAction): Record<string, bigint> {
  if (spent === undefined) return {};
  const entries = Object.entries(checkFields("What was spent", spent as object, budgetsOf(state)));
  for (const [budget, micros] of entries)
    if (typeof micros !== "bigint" || micros < 0n)
      rejectInput(
        `What was spent on "${displayValue(budget)}" is a number of micros of at least 0, as a bigint.`,
      );
  return Object.fromEntries(entries) as Record<string, bigint>;
}

const budgetsOf = (state: LiveAction): readonly string[] =>
  "effect" in state ? state.effect.costs.map(({ budget }) => budget) : [];

/** Results are kept as ours are: strict JSON, without the values of secrets that stood in the arguments. */
async function reportOf(runtime: Runtime, state: LiveAction, given: OutcomeReport): Promise<EffectReport> {
  const { status, reason, result, spent } = given;
  if (!STATUSES.includes(status))
    rejectInput(`An outcome is applied, not_applied or unknown, not "${displayValue(status)}".`);
  const args = await loadValue(runtime, state.args);
  const known = await resolveSecrets(runtime.secrets, args).catch(() => new Map<string, string>());
  if (status === "applied") {
    const kept = result === undefined ? null : plainJson(result, handlesIn(args));
    return { status, result: redactJson(kept, known), spent: checkSpent(spent, state) };
  }
  if (result !== undefined) rejectInput("Only what was applied has a result.");
  if (spent !== undefined) rejectInput("Only what was applied has spent anything.");
  const why = redactText(checkText("The reason", reason, LONGEST_REASON), known);
  return { status: status === "unknown" ? "in_doubt" : status, reason: why };
}

function receipted(tenant: string, action: string, state: LiveAction): Receipt {
  return receiptOf(tenant, action, state as ActionIn<"applied">);
}

function checkTaken(runtime: Runtime, given: OutcomeReport, answer: ReportAnswer): LiveAction {
  const { action, agent, status } = given;
  switch (answer.kind) {
    case "not_yours":
      throw notYours(`The action ${action}`, agent);
    case "not_started":
      throw new HoldpointError(
        "wrong_state",
        `The action ${action} was not permitted: it is ${answer.state.phase}.`,
        {
          data: "Nothing was written.",
          details: { phase: answer.state.phase },
        },
      );
    case "conflict": {
      const told = answer.told.status === "in_doubt" ? "unknown" : answer.told.status;
      const what = `The action ${action} was reported as ${told} before, and now as ${status}.`;
      throw new HoldpointError("report_conflict", what, {
        details: { receipt: receipted(runtime.tenant, action, answer.state) },
      });
    }
    default:
      return answer.state;
  }
}

/** What was undone may have been the last thing. The report stands; if this fails, the next sweep comes. */
async function goOn(runtime: Runtime, { within }: LiveAction): Promise<void> {
  if (within === undefined) return;
  try {
    await settleRollback(runtime, within.workflow);
  } catch (error) {
    runtime.notify({ kind: "maintenance_failed", error });
  }
}

export async function reportOutcome(runtime: Runtime, given: OutcomeReport): Promise<Reported> {
  const { action, agent } = checkFields("A report", given, FIELDS);
  const state = await ownAction(runtime, action, agent);
  const report = await reportOf(runtime, state, given);
  await runtime.reach("before_outcome");
  const answer = await runCommand(runtime, { write: [actionStream(action)] }, (draft) =>
    record(draft, { action, agent, report }),
  );
  await runtime.reach("after_outcome");
  const after = checkTaken(runtime, given, answer);
  const receipt = receipted(runtime.tenant, action, after);
  await goOn(runtime, after);
  return { kind: answer.kind === "late" ? "late" : "reported", action, receipt };
}

/**
 * A remote agent reports the outcome of an effect that it performed itself. Effects without a report in time are
 * announced.
 */

import { plainJson } from "../effects/arguments.ts";
import type { EffectReport } from "../effects/rules/outcome.ts";
import { passReportTime, type ReportAnswer, recordReport as record } from "../effects/rules/permit.ts";
import { type Receipt, receiptOf } from "../effects/rules/receipt.ts";
import type { ActionIn, LiveAction } from "../effects/state.ts";
import { HoldpointError } from "../kernel/errors.ts";
import { checkFields, rejectInput } from "../kernel/fields.ts";
import { actionStream } from "../kernel/stream.ts";
import { displayValue } from "../kernel/text.ts";
import { forEachReadable } from "../runtime/lists.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { handlesIn, redactJson, redactText, resolveSecrets } from "../runtime/secrets.ts";
import { loadValue, runCommand } from "../runtime/store-access.ts";
import { checkTextLength, notYoursError } from "./remote-checks.ts";
import { loadOwnAction } from "./remote-proposal.ts";
import { settleRollback } from "./remote-rollback.ts";

export type OutcomeReport = {
  readonly action: string;
  readonly agent: string;
  /** `unknown`: the agent cannot tell; a person has to find out. */
  readonly status: "applied" | "not_applied" | "unknown";
  /** Its result, if it was applied. */
  readonly result?: unknown;
  /** Why it was not applied, or why the outcome is unknown. */
  readonly reason?: string;
  /** The actual cost in micros, by budget. Default: the reserved amount. */
  readonly spent?: { readonly [budget: string]: bigint };
};

export type Reported = {
  /** `late`: it was already in doubt and stays so until a person resolves it; the report is kept as testimony. */
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

/** Results are stored like local ones: strict JSON, without the values of secrets from the arguments. */
async function checkOutcomeReport(
  runtime: Runtime,
  state: LiveAction,
  given: OutcomeReport,
): Promise<EffectReport> {
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
  const why = redactText(checkTextLength("The reason", reason, LONGEST_REASON), known);
  return { status: status === "unknown" ? "in_doubt" : status, reason: why };
}

function receiptOfAction(tenant: string, action: string, state: LiveAction): Receipt {
  return receiptOf(tenant, action, state as ActionIn<"applied">);
}

function requireAccepted(runtime: Runtime, given: OutcomeReport, answer: ReportAnswer): LiveAction {
  const { action, agent, status } = given;
  switch (answer.kind) {
    case "not_yours":
      throw notYoursError(`The action ${action}`, agent);
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
        details: { receipt: receiptOfAction(runtime.tenant, action, answer.state) },
      });
    }
    default:
      return answer.state;
  }
}

/** This undo may have been the last one. The report is recorded in any case; after an error the next sweep retries. */
async function continueRollback(runtime: Runtime, { within }: LiveAction): Promise<void> {
  if (within === undefined) return;
  try {
    await settleRollback(runtime, within.workflow);
  } catch (error) {
    runtime.notify({ kind: "maintenance_failed", error });
  }
}

export async function reportRemoteOutcome(runtime: Runtime, given: OutcomeReport): Promise<Reported> {
  const { action, agent } = checkFields("A report", given, FIELDS);
  const state = await loadOwnAction(runtime, action, agent);
  const report = await checkOutcomeReport(runtime, state, given);
  await runtime.reach("before_outcome");
  const answer = await runCommand(runtime, { write: [actionStream(action)] }, (draft) =>
    record(draft, { action, agent, report }),
  );
  await runtime.reach("after_outcome");
  const after = requireAccepted(runtime, given, answer);
  const receipt = receiptOfAction(runtime.tenant, action, after);
  await continueRollback(runtime, after);
  return { kind: answer.kind === "late" ? "late" : "reported", action, receipt };
}

const MOST_AT_ONCE = 200;
/** One process announces each effect; if it dies, another one does after this lease. */
const LEASE_MS = 10_000;

export async function sweepOverdueReports(
  runtime: Pick<Runtime, "store" | "tenant" | "clock" | "notify">,
): Promise<number> {
  const due = { view: "actions", bucket: "running", dueBy: runtime.clock.now(), limit: MOST_AT_ONCE };
  let overdue = 0;
  const rows = await runtime.store.claim(runtime.tenant, { ...due, leaseMs: LEASE_MS });
  await forEachReadable(rows, async ({ stream: { id: action } }) => {
    const { kind, state } = await runCommand(runtime, { write: [actionStream(action)] }, (draft) =>
      passReportTime(draft, action),
    );
    if (kind !== "overdue") return;
    overdue++;
    if (state.phase !== "in_doubt") return;
    const { effect, outcome, tool } = state;
    runtime.notify({ kind: "in_doubt", action, effect: effect.id, tool, reason: outcome.reason });
  });
  return overdue;
}

/**
 * A remote agent reports the outcome of an effect that it performed itself. Effects without a report in time are
 * announced.
 */

import type { z } from "zod";
import { plainJson } from "../effects/arguments.ts";
import type { EffectReport } from "../effects/rules/outcome.ts";
import {
  passReportTime,
  type ReportAnswer,
  type ReportCommand,
  recordReport as record,
} from "../effects/rules/permit.ts";
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
import type { OutcomeReport, remote } from "./contract.ts";
import { checkTextLength, notYoursError } from "./remote-checks.ts";
import { loadOwnAction } from "./remote-proposal.ts";
import { settleRollback } from "./remote-rollback.ts";

type Report = OutcomeReport & { readonly id: string };
type Reported = z.output<(typeof remote)["verbs"]["report"]["output"]>;

const LONGEST_REASON = 10_000;

function checkSpent(spent: OutcomeReport["spent"], state: LiveAction): Record<string, bigint> {
  if (spent == null) return {};
  const entries = Object.entries(checkFields("What was spent", spent, budgetsOf(state)));
  for (const [budget, micros] of entries)
    if (micros < 0n)
      rejectInput(
        `What was spent on "${displayValue(budget)}" is a number of micros of at least 0, as a bigint.`,
      );
  return Object.fromEntries(entries);
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
  const args = await loadValue(runtime, state.args);
  const known = await resolveSecrets(runtime.secrets, args).catch(() => new Map<string, string>());
  if (status === "applied") {
    const kept = result === undefined ? null : plainJson(result, handlesIn(args));
    return { status, result: redactJson(kept, known), spent: checkSpent(spent, state) };
  }
  if (result !== undefined) rejectInput("Only what was applied has a result.");
  if (spent != null) rejectInput("Only what was applied has spent anything.");
  const why = redactText(checkTextLength("The reason", reason, LONGEST_REASON), known);
  return { status: status === "unknown" ? "in_doubt" : status, reason: why };
}

function receiptOfAction(tenant: string, action: string, state: LiveAction): Receipt {
  return receiptOf(tenant, action, state as ActionIn<"applied">);
}

function requireAccepted(
  runtime: Runtime,
  { action, agent, report }: ReportCommand,
  answer: ReportAnswer,
): LiveAction {
  const status = report.status === "in_doubt" ? "unknown" : report.status;
  switch (answer.kind) {
    case "not_yours":
      throw notYoursError(`The action ${action}`, agent);
    case "not_started":
      throw new HoldpointError(
        "wrong_state",
        `The action ${action} was not permitted: it is ${answer.state.phase}.`,
        {
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

export async function prepareReport(runtime: Runtime, given: Report) {
  const { id: action, agent } = given;
  const state = await loadOwnAction(runtime, action, agent);
  const report = await checkOutcomeReport(runtime, state, given);
  await runtime.reach("before_outcome");
  return { input: { action, agent, report }, needs: { write: [actionStream(action)] } };
}

export const decideReport = record;

export async function answerReport(
  runtime: Runtime,
  answer: ReportAnswer,
  command: ReportCommand,
): Promise<Reported> {
  await runtime.reach("after_outcome");
  const { action } = command;
  const after = requireAccepted(runtime, command, answer);
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

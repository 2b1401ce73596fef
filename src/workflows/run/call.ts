/** `ctx.call`: a gated action whose place in the workflow is journaled with it. */

import { type Answer, loadAnswer, type PendingAnswer, toSettledAnswer } from "../../effects/answer.ts";
import { plainJson } from "../../effects/arguments.ts";
import { captureContext } from "../../effects/call-context.ts";
import { TurnedAway } from "../../effects/execute.ts";
import { proposeCall } from "../../effects/gate.ts";
import { giveUpHeld } from "../../effects/rules/propose.ts";
import type { SettledAnswer } from "../../effects/rules/receipt.ts";
import type { ActionState, Within } from "../../effects/state.ts";
import type { Tool } from "../../effects/tool.ts";
import { digestOf } from "../../kernel/canonical-json.ts";
import { checkFields, checkRationale, rejectInput } from "../../kernel/fields.ts";
import type { Json } from "../../kernel/json.ts";
import { isPrincipal } from "../../kernel/principal.ts";
import { actionStream, approvalStream, budgetStream, streamName } from "../../kernel/stream.ts";
import { overlayPolicy, replaceRules } from "../../policy/apply-to-tool.ts";
import { mergeNotes } from "../../policy/rules/combine-verdicts.ts";
import type { Cost } from "../../policy/rules/tool-rules.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { readState, runCommand } from "../../runtime/store-access.ts";
import type { WorkflowCallOptions } from "../definition.ts";
import type { RecordedOp, Settlement } from "../rules/operations.ts";
import { obstacleName } from "../state.ts";
import { underPoliciesAbove } from "../workflow-policy.ts";
import { askOperation, type Branch } from "./operation.ts";
import {
  keepValues,
  noteSecrets,
  readNews,
  recordFact,
  startAgain,
  textWithoutSecrets,
  type WorkflowRun,
} from "./run.ts";
import { HELD_RECHECK_MS } from "./runnable.ts";

const OPTIONS = ["rationale", "agent", "approvalRequired", "rollbackEnabled", "continueInDoubt"];

export function checkFlags(what: string, options: object, flags: readonly string[]): void {
  for (const flag of flags) {
    const value = (options as Readonly<Record<string, unknown>>)[flag];
    if (value !== undefined && typeof value !== "boolean")
      rejectInput(`${what} has ${flag} that is not true or false.`);
  }
}

function checkCallOptions(options: WorkflowCallOptions): void {
  checkFields("What ctx.call takes", options, OPTIONS);
  checkFlags("A call in a workflow", options, ["approvalRequired", "rollbackEnabled", "continueInDoubt"]);
  const { agent, rationale } = options;
  if (agent !== undefined && !(isPrincipal(agent) && agent.startsWith("agent:")))
    rejectInput("An agent is agent:<name>.");
  checkRationale(rationale);
}

/** The same tool, but a person is asked if the policy would have approved the call. */
function withApprovalRequired(tool: Tool): Tool {
  const reason = "the workflow asks for an approval of this step";
  const rules = overlayPolicy(tool.rules, {
    digest: (own) => digestOf([own, "approvalRequired"]),
    policy: (own) => (input) => {
      const said = own(input);
      if (said.verdict !== "approve") return said;
      return { verdict: "escalate", reason, rule: "approvalRequired", ...mergeNotes(said) };
    },
  });
  return { ...tool, rules };
}

/** The highest amount per currency: a tool's costs for several budgets are the same money. */
function dearest(costs: readonly Cost[]): readonly Cost["amount"][] {
  const amounts = new Map<string, Cost["amount"]>();
  for (const { amount } of costs) {
    const before = amounts.get(amount.currency);
    if (before === undefined || before.micros < amount.micros) amounts.set(amount.currency, amount);
  }
  return [...amounts.values()];
}

function countedOnBudget(tool: Tool, budget: string): Tool {
  const costs = (args: Json): readonly Cost[] => {
    const own = tool.rules.costs(args);
    if (own.some((cost) => cost.budget === budget)) return own;
    return [...own, ...dearest(own).map((amount) => ({ budget, amount }))];
  };
  return { ...tool, rules: replaceRules(tool.rules, { costs }) };
}

/** The terms it was started with (approval of every call, budget) apply in every process and on every run. */
function underTerms(tool: Tool, { approvalRequired, budget }: WorkflowRun["state"]): Tool {
  const asked = approvalRequired === true ? withApprovalRequired(tool) : tool;
  return budget === undefined || !tool.hasCosts ? asked : countedOnBudget(asked, budget);
}

export function settledCallAnswer(settlement: Settlement): SettledAnswer {
  if (settlement.kind !== "answer") throw new TypeError("a call settled as something else");
  return settlement.answer;
}

/** The same tool, whose functions see the async context of the definition that calls it now. */
export function inCaller(tool: Tool): Tool {
  const inContext = captureContext();
  const { runInTransaction, preview } = tool;
  return {
    ...tool,
    run: (args, context) => inContext(() => tool.run(args, context)),
    runInTransaction:
      runInTransaction && ((args, sql, context) => inContext(() => runInTransaction(args, sql, context))),
    preview: preview && ((args, context) => inContext(() => preview(args, context))),
  };
}

type PlacedCall = {
  readonly tool: Tool;
  readonly args: Json;
  readonly options: WorkflowCallOptions;
};

/** Whether it is about to continue and needs its tool. Without people's approval it does not. */
async function needsTool(runtime: Runtime, state: ActionState): Promise<boolean> {
  if (state.phase !== "waiting") return state.phase === "open" || state.phase === "running";
  const { status } = await readState(runtime, approvalStream(state.approval));
  return status === "approved" || status === "modified";
}

/**
 * The call was made with another version of the tool, and this process would refuse it or put it in doubt for good. A
 * process that has that version may continue it.
 */
async function isOtherTool(
  { runtime }: WorkflowRun,
  { rules }: Tool,
  { body }: RecordedOp,
): Promise<boolean> {
  const state = await readState(runtime, actionStream(String(body["action"])));
  if (state.phase === "none") return false;
  const isSame = rules.schemaDigest === state.schema && rules.effectClass === state.effectClass;
  return !isSame && needsTool(runtime, state);
}

/** Proceeds as far as possible now: to its end, to people, or to doubt. */
export async function placeAndRun(
  run: WorkflowRun,
  op: string,
  call: PlacedCall,
  record: RecordedOp | null,
): Promise<void> {
  const { args, options } = call;
  const tool = underTerms(underPoliciesAbove(call.tool, run), run.state);
  // A run with its own definition has no other process to wait for.
  const isShared = run.definition.isOfOneRun !== true;
  if (isShared && record !== null && (await isOtherTool(run, tool, record))) {
    run.changed ??= `the tool of "${record.key}" is another than the one that it was called with`;
    return;
  }
  if (run.values.length === 0) await run.given;
  else await keepValues(run);
  const within = { workflow: run.id, op, undoes: null, goesOn: options.continueInDoubt === true };
  const rollback = options.rollbackEnabled ?? run.state.rollbackEnabled;
  const place = { ...within, epoch: run.epoch, rollback };
  try {
    const answer = await proposeCall(run.runtime, tool, args, {
      requestId: op,
      rationale: options.rationale === undefined ? null : await textWithoutSecrets(run, options.rationale),
      waitMs: 0,
      placement: place,
      isKnown: record !== null,
      requester: run.state.requester,
      ...(options.agent === undefined ? {} : { agent: options.agent }),
    });
    await readNews(run);
    await followAnswer(run, within, answer);
  } catch (error) {
    if (error instanceof TurnedAway) return turnedAway(run, op);
    throw error;
  }
}

/** Nothing begins while a checkpoint is pending; the call is requested again afterwards. */
async function turnedAway(run: WorkflowRun, op: string): Promise<void> {
  await readNews(run);
  startAgain(run, op);
}

/** The budget that it was started with: it is not expected to get room, and stopping at it is its purpose. */
function isOwnBudget({ state: { budget } }: WorkflowRun, answer: PendingAnswer): boolean {
  return budget !== undefined && obstacleName(answer) === streamName(budgetStream(budget));
}

async function giveUpCall(run: WorkflowRun, action: string): Promise<void> {
  await runCommand(run.runtime, { write: [actionStream(action)] }, (draft) => giveUpHeld(draft, action));
  await readNews(run);
}

async function followAnswer(
  run: WorkflowRun,
  { op, goesOn }: Pick<Within, "op" | "goesOn">,
  answer: Answer<Json>,
): Promise<void> {
  const record = run.table.byAction.get(answer.action);
  if (record === undefined || record.settled !== null) return;
  if (answer.status === "pending" && answer.waitingFor === "approval") {
    // Decided in the meantime, and already read: no event would wake the run.
    if (run.woken.delete(answer.approval)) return startAgain(run, op);
    run.waits.set(record.key, { op, kind: "approval", on: answer.approval, until: null });
    return;
  }
  if (answer.status === "in_doubt" && !goesOn) {
    run.waits.set(record.key, { op, kind: "doubt", on: answer.effect, until: null });
    return;
  }
  // Not an end: it continues by itself when the switch is released or the budget has room.
  if (answer.status === "pending") {
    if (run.definition.givesUpHeld === true || isOwnBudget(run, answer))
      return giveUpCall(run, answer.action);
    const until = run.runtime.clock.now() + HELD_RECHECK_MS;
    run.waits.set(record.key, { op, kind: "held", on: obstacleName(answer), until });
    return;
  }
  const body = { op, action: answer.action, answer: toSettledAnswer(answer) };
  await recordFact(run, "call.settled", body);
}

export function callTool(
  run: WorkflowRun,
  branch: Branch,
  named: { readonly tool: Tool; readonly args: unknown },
  options: WorkflowCallOptions,
): Promise<Answer<Json>> {
  checkCallOptions(options);
  const args = plainJson(named.args);
  const digest = digestOf(args);
  noteSecrets(run, args);
  const tool = inCaller(options.approvalRequired === true ? withApprovalRequired(named.tool) : named.tool);
  const { name } = tool.rules;
  return askOperation(run, branch, {
    kind: "call",
    name,
    differs: (record) =>
      record.body["argsDigest"] === digest
        ? undefined
        : `the arguments of "${record.key}" are not those recorded`,
    start: (op, record) => placeAndRun(run, op, { tool, args, options }, record),
    read: (settlement) => loadAnswer(run.runtime, settledCallAnswer(settlement)),
  });
}

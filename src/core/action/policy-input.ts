/**
 * What a policy is told about an action.
 *
 * P1. History is whole: calls that have settled are handed in and used only while the workflow says that none has settled
 *     since; open ones are read under the lock. Two calls side by side see each other.
 */
import type { Draft, Need } from "../draft.ts";
import type { Json } from "../json.ts";
import { actionStream, workflowStream } from "../stream.ts";
import type { PastCall, PolicyInput } from "../verdict.ts";
import type { LiveWorkflow } from "../workflow/state.ts";
import type { Executor, Load } from "./start.ts";
import type { ActionState, LiveAction } from "./state.ts";

/** The settled calls of a workflow as they stood at an entry of it. */
export type PastCalls = { readonly settledSeq: number; readonly calls: readonly PastCall[] };

export const historyKey = (workflow: string): string => `history/${workflow}`;

const STATUS = {
  open: "waiting",
  waiting: "waiting",
  running: "running",
  applied: "applied",
  not_applied: "not_applied",
  in_doubt: "in_doubt",
  refused: "refused",
} as const satisfies Record<LiveAction["phase"], PastCall["status"]>;

export function pastCall(action: string, state: LiveAction, undone: boolean): PastCall {
  return {
    action,
    tool: state.tool,
    args: state.args,
    status: STATUS[state.phase],
    result: state.phase === "applied" ? state.outcome.result : null,
    generation: Number(state.within?.op.split("/")[1] ?? 1),
    undone,
    at: state.proposedAt,
  };
}

const isCall = (state: ActionState): state is LiveAction =>
  state.phase !== "none" && state.within?.undoes === null;

function openCalls(draft: Draft, ids: readonly string[]): readonly PastCall[] {
  return ids.flatMap((id) => {
    const state = draft.state(actionStream(id));
    return isCall(state) ? [pastCall(id, state, false)] : [];
  });
}

function historyOf(
  draft: Draft,
  id: string,
  flow: LiveWorkflow,
  { state, loaded }: { readonly state: LiveAction; readonly loaded: ReadonlyMap<string, Json> },
): Need | Load | readonly PastCall[] {
  const workflow = state.within?.workflow ?? "";
  const others = flow.open.filter((one) => one.startsWith("act_") && one !== id);
  const more = draft.need({ read: others.map(actionStream) });
  if (more !== undefined) return more;
  const settled = loaded.get(historyKey(workflow)) as unknown as PastCalls | undefined;
  if (settled === undefined || settled.settledSeq !== flow.settledSeq)
    return { kind: "load", key: historyKey(workflow) };
  const calls = [...settled.calls, ...openCalls(draft, others)];
  return calls.toSorted((a, b) => a.at - b.at);
}

const isAsking = (answer: Need | Load | readonly PastCall[]): answer is Need | Load => "kind" in answer;

/** `args` are those that would run: as proposed, revised or edited. */
export function policyInput(
  draft: Draft,
  id: string,
  args: Json,
  { rules, loaded }: Pick<Executor, "rules" | "loaded">,
): Need | Load | { readonly kind: "input"; readonly input: PolicyInput } {
  const state = draft.state(actionStream(id)) as LiveAction;
  const { tool, effectClass, agent, requester, requestId, within } = state;
  const known = { tool, effectClass, args, agent, requester, requestId, now: draft.now };
  if (within === undefined) return { kind: "input", input: { ...known, workflow: null, history: [] } };
  const ref = workflowStream(within.workflow);
  const more = draft.need({ read: [ref] });
  if (more !== undefined) return more;
  const flow = draft.state(ref) as LiveWorkflow;
  const history = rules.usesHistory ? historyOf(draft, id, flow, { state, loaded }) : [];
  if (isAsking(history)) return history;
  const workflow = { id: within.workflow, name: flow.name, generation: flow.generation };
  return { kind: "input", input: { ...known, workflow, history } };
}

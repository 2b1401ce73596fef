/**
 * One turn of a supervised run: the prompt (goal, status, last steps, tools), the recorded result of the model step,
 * and the result of the run. `trace` and `history` together are the audit; their field names are those of the wire
 * format.
 */

import type { ExecutedFrom } from "../../effects/state.ts";
import { canonicalJson } from "../../kernel/canonical-json.ts";
import type { Json, JsonObject } from "../../kernel/json.ts";
import type { ModelProposal } from "./proposal.ts";
import type { InvalidAction, StopReason, SupervisePhase } from "./stop-reason.ts";

export type Tokens = { readonly input: number; readonly output: number; readonly cached?: number };

/** The model's text, with usage and timing. */
export type ModelOutput = {
  readonly text: string;
  readonly tokens: Tokens;
  readonly model: string;
  readonly finish: string;
  /** Milliseconds spent in the model. */
  readonly ms: number;
};

export type FailureKind = "overloaded" | "unreachable" | "timeout" | "refused" | "empty";

export type Turn =
  | (ModelOutput & { readonly kind: "proposed"; readonly proposal: ModelProposal })
  | (ModelOutput & { readonly kind: "invalid"; readonly stop_reason: InvalidAction; readonly raw: Json })
  | {
      readonly kind: "failed";
      readonly failure: FailureKind;
      readonly message: string;
      readonly retryAfterMs: number | null;
      readonly ms: number;
    }
  | { readonly kind: "out_of_time"; readonly spentMs: number }
  /** The kill switch is on, so the model was not called. */
  | { readonly kind: "stopped"; readonly by: string };

const FAILURES = {
  overloaded: "llm_overloaded",
  unreachable: "llm_timeout",
  timeout: "llm_timeout",
  refused: "llm_error",
  empty: "llm_empty",
} as const satisfies Record<FailureKind, StopReason>;

export const isFailureKind = (failure: unknown): failure is FailureKind =>
  typeof failure === "string" && Object.hasOwn(FAILURES, failure);

/** An overloaded or unreachable model may recover soon. The other failures would recur. */
export const isRetryable = (failure: FailureKind): boolean =>
  failure === "overloaded" || failure === "unreachable";

export const stopOfFailure = (failure: FailureKind): StopReason => FAILURES[failure];

/** Step names in the journal. */
export const PROPOSE_STEP = "propose";
export const FINALIZE_STEP = "finalize";
/** The tool that delivers the final answer, so that policy reviews the answer like any other call. */
export const FINAL_TOOL = "final";

type SupervisorDecision = "approve" | "revise" | "block" | "escalate";

export type TraceRow = {
  readonly step: number;
  /** `final` for an answer, `invalid` for an output without a valid proposal. */
  readonly tool: string;
  readonly args_hash?: string;
  readonly supervisor_decision?: SupervisorDecision;
  readonly executed_from?: ExecutedFrom;
  readonly human_approved?: boolean;
  /** The standing grant that replaced an approval. */
  readonly standing_grant?: string;
  readonly risk_score?: number;
  readonly stop_reason?: StopReason;
  /** The call was executed, then undone when the run was rolled back. */
  readonly undone?: true;
  readonly ok: boolean;
};

export type SupervisorInfo = {
  readonly decision: SupervisorDecision;
  readonly reason: string;
  /** The action as revised by policy, before any approval was requested. */
  readonly revised_action?: ModelProposal;
  /** Policy's revisions that preceded a different decision, in order. */
  readonly revised?: readonly { readonly reason: string; readonly rule: string }[];
};

export type HumanApproval = {
  readonly approved: boolean;
  readonly by: readonly string[];
  readonly comment: string;
  /** Only if an approver changed the action. */
  readonly revised_action?: ModelProposal;
};

export type HistoryRow = {
  readonly step: number;
  /** Absent if the model's output was not a valid action. */
  readonly action?: ModelProposal;
  readonly raw_action?: Json;
  readonly supervisor?: SupervisorInfo;
  readonly human_approval?: HumanApproval;
  /** null if nothing was executed. */
  readonly executed_action: ModelProposal | null;
  readonly executed_from: ExecutedFrom | null;
  readonly observation: Json;
  /** The action was undone when the run was rolled back. */
  readonly undone?: true;
};

export type SuperviseResult = {
  readonly status: "ok" | "stopped";
  readonly stop_reason: StopReason;
  readonly phase?: SupervisePhase;
  readonly answer?: string;
  readonly raw_action?: Json;
  readonly action?: ModelProposal;
  readonly trace: readonly TraceRow[];
  readonly history: readonly HistoryRow[];
  /** Workflow id of the run. `holdpoint show` prints it in full. */
  readonly workflow: string;
  readonly tokens: Tokens;
};

/** How a run ended, as recorded by its workflow. */
export type RunEnd = Pick<SuperviseResult, "status" | "stop_reason" | "phase" | "answer">;

export const WORKER_PROMPT = `
You are a worker that proposes one action at a time. You execute nothing: every proposal is reviewed before it runs.
Return exactly one JSON object, in one of these two shapes:
1) {"kind":"tool","name":"<tool_name>","args":{...}}
2) {"kind":"final","answer":"<short final answer>"}
Rules:
- Use only tools from available_tools, with arguments that fit their schema.
- Collect the facts first, then act; propose an answer when the goal is reached or cannot be reached.
- An observation with "status": "refused", "pending" or "failed" did not run. Its reason is true and binding: propose something else.
- No markdown, no text around the object, no other keys.
`.trim();

export const FINAL_PROMPT = `
You write the final answer of a run that has used up its steps.
Say in a few sentences of plain text what was done, whether a person had to approve it, and what was refused and why. State only
what the history shows.
`.trim();

export type ListedTool = {
  readonly name: string;
  readonly description: string;
  readonly schemaText: string | null;
};

const RECENT = 3;
const LARGEST_BYTES = 32_768;

/** Shows only the beginning of a large value, marked as cut. */
function cutLarge(value: Json): Json {
  const text = canonicalJson(value);
  if (text.length <= LARGEST_BYTES) return value;
  return { cut: true, characters: text.length, beginning: text.slice(0, LARGEST_BYTES).toWellFormed() };
}

const cutRow = (row: HistoryRow): Json =>
  Object.fromEntries(Object.entries(row).map(([field, value]) => [field, cutLarge(value as Json)]));

function toolOfAction(action: HistoryRow["action"] | null): string | null {
  if (action == null) return null;
  return action.kind === "tool" ? action.name : "final";
}

function stateSummary(history: readonly HistoryRow[]): Json {
  const last = history.at(-1);
  return {
    steps_completed: history.length,
    tools_used: history.flatMap(({ action }) => (action?.kind === "tool" ? action.name : [])),
    supervisor_decisions: history.flatMap(({ supervisor }) => supervisor?.decision ?? []),
    last_step: last === undefined ? null : cutRow(last),
  };
}

function statusOf(observation: Json): Json {
  if (typeof observation !== "object" || observation === null || Array.isArray(observation)) return null;
  const { status, executed } = observation as JsonObject;
  return status ?? (executed === false ? "refused" : null);
}

/** The approvers' comments. */
function commentOf({ human_approval }: HistoryRow): { readonly human_comment?: string } {
  const comment = human_approval?.comment ?? "";
  return comment === "" ? {} : { human_comment: comment };
}

function recentSteps(history: readonly HistoryRow[]): Json {
  return history.slice(-RECENT).map((row) => ({
    step: row.step,
    proposed_tool: toolOfAction(row.action),
    supervisor_decision: row.supervisor?.decision ?? null,
    executed_tool: toolOfAction(row.executed_action),
    executed_from: row.executed_from,
    observation_status: statusOf(row.observation),
    ...commentOf(row),
  }));
}

export function workerPrompt(
  goal: string,
  history: readonly HistoryRow[],
  tools: readonly ListedTool[],
): string {
  return JSON.stringify({
    goal,
    state_summary: stateSummary(history),
    recent_step_summaries: recentSteps(history),
    available_tools: tools.map(({ name, description, schemaText }) => ({
      name,
      description,
      args: schemaText === null ? {} : (JSON.parse(schemaText) as Json),
    })),
  });
}

export function finalPrompt(goal: string, history: readonly HistoryRow[]): string {
  return JSON.stringify({ goal, history: history.map(cutRow) });
}

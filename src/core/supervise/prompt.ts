/** What the model is shown: the goal, where the run stands, its last steps, and the tools. */
import { canonicalJson } from "../../kernel/canonical-json.ts";
import type { Json, JsonObject } from "../../kernel/json.ts";

import type { HistoryRow } from "./result.ts";

export const WORKER_PROMPT = `
You are a worker that proposes one action at a time. You execute nothing: every proposal is reviewed before it runs.
Return exactly one JSON object, in one of these two shapes:
1) {"kind":"tool","name":"<tool_name>","args":{...}}
2) {"kind":"final","answer":"<short final answer>"}
Rules:
- Use only tools from available_tools, with arguments that fit their schema.
- Collect the facts first, then act; propose an answer when the goal is reached or cannot be reached.
- An observation with "executed": false was refused. Its reason is true and binding: propose something else.
- No markdown, no text around the object, no other keys.
`.trim();

export const FINAL_PROMPT = `
You write the final answer of a run that has used up its steps.
Say in a few sentences of plain text what was done, whether a person had to approve it, and what was refused and why. State only
what the history shows.
`.trim();

export type Listed = {
  readonly name: string;
  readonly description: string;
  readonly schemaText: string | null;
};

const RECENT = 3;
const LARGEST_BYTES = 32_768;

/** What is large is shown by its beginning, and said to be cut. */
function cut(value: Json): Json {
  const text = canonicalJson(value);
  if (text.length <= LARGEST_BYTES) return value;
  return { cut: true, characters: text.length, beginning: text.slice(0, LARGEST_BYTES).toWellFormed() };
}

const shown = (row: HistoryRow): Json =>
  Object.fromEntries(Object.entries(row).map(([field, value]) => [field, cut(value as Json)]));

function toolOf(action: HistoryRow["action"] | null): string | null {
  if (action == null) return null;
  return action.kind === "tool" ? action.name : "final";
}

function stateSummary(history: readonly HistoryRow[]): Json {
  const last = history.at(-1);
  return {
    steps_completed: history.length,
    tools_used: history.flatMap(({ action }) => (action?.kind === "tool" ? action.name : [])),
    supervisor_decisions: history.flatMap(({ supervisor }) => supervisor?.decision ?? []),
    last_step: last === undefined ? null : shown(last),
  };
}

function statusOf(observation: Json): Json {
  if (typeof observation !== "object" || observation === null || Array.isArray(observation)) return null;
  const { status, executed } = observation as JsonObject;
  return status ?? (executed === false ? "refused" : null);
}

/** What the people who decided about it had to say. */
function commentOf({ human_approval }: HistoryRow): { readonly human_comment?: string } {
  const comment = human_approval?.comment ?? "";
  return comment === "" ? {} : { human_comment: comment };
}

function recentSteps(history: readonly HistoryRow[]): Json {
  return history.slice(-RECENT).map((row) => ({
    step: row.step,
    proposed_tool: toolOf(row.action),
    supervisor_decision: row.supervisor?.decision ?? null,
    executed_tool: toolOf(row.executed_action),
    executed_from: row.executed_from,
    observation_status: statusOf(row.observation),
    ...commentOf(row),
  }));
}

export function workerPrompt(goal: string, history: readonly HistoryRow[], tools: readonly Listed[]): string {
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
  return JSON.stringify({ goal, history: history.map(shown) });
}

/** An action that nobody proposed, as somebody writes it down to see what a policy would say of it. */

import type { KnownTool } from "../../core/policy/known-tool.ts";
import { FINAL } from "../../core/policy/tool-pattern.ts";
import type { PolicyInput } from "../../core/verdict.ts";
import type { Json } from "../../kernel/json.ts";

/** Whoever it is. */
export const SOMEONE = "agent:someone";

export const agentNamed = (name: string): string => (name.startsWith("agent:") ? name : `agent:${name}`);

/** The tool's own class, where that is known; an answer goes through a read. */
export function usualEffect(tool: string, known: readonly KnownTool[]): string {
  const own = known.find(({ name }) => name === tool)?.effectClass;
  return own ?? (tool === FINAL ? "read" : "once");
}

export type WrittenAction = { readonly tool: string; readonly args: Json; readonly agent?: string };

/** Alone, and outside of any workflow. */
export function inputOfWritten(
  { tool, args, agent = SOMEONE }: WrittenAction,
  known: readonly KnownTool[],
  now: number,
): PolicyInput {
  const who = agentNamed(agent);
  const effectClass = usualEffect(tool, known);
  const facts = { tool, effectClass, args, agent: who, requester: [who], requestId: null };
  return { ...facts, workflow: null, history: [], now };
}

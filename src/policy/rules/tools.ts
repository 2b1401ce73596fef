/**
 * Tools in a policy. A pattern is a name, a name with `*` for any run of characters, a list of those, or nothing for
 * all. Also the known properties of a tool when a policy is read, the tools that a document names, and whether a policy
 * judges a call or its undo. Loads nothing of the policy language.
 */

import { isJsonObject, type Json, type JsonObject } from "../../kernel/json.ts";
import type { ToolPattern } from "./document.ts";

/**
 * A worker's final answer is reviewed under this name, with the arguments `{ answer }`. It is not a tool, so `*` does
 * not match it: only a rule with this exact name applies.
 */
export const FINAL = "final";

export function isPattern(name: string): boolean {
  return name.includes("*");
}

/** Takes at most the product of both lengths: backtracking only returns to the last star. */
export function matchesGlob(pattern: string, name: string): boolean {
  let at = 0;
  let star = -1;
  let resume = 0;
  let index = 0;
  while (index < name.length) {
    if (pattern[at] === "*") {
      star = at++;
      resume = index;
    } else if (at < pattern.length && pattern[at] === name[index]) {
      at += 1;
      index += 1;
    } else if (star >= 0) {
      at = star + 1;
      resume += 1;
      index = resume;
    } else return false;
  }
  while (pattern[at] === "*") at += 1;
  return at === pattern.length;
}

export function patternsOf(pattern: ToolPattern | undefined): readonly string[] {
  if (pattern === undefined) return ["*"];
  return typeof pattern === "string" ? [pattern] : pattern;
}

export function matchesTool(pattern: ToolPattern | undefined, tool: string): boolean {
  const patterns = patternsOf(pattern);
  if (tool === FINAL) return patterns.includes(FINAL);
  return patterns.some((one) => matchesGlob(one, tool));
}

/** What a policy judges: a call, or its compensation. */
export const CALL_KINDS = ["call", "undo"] as const;
export type CallKind = (typeof CALL_KINDS)[number];

/** Rule id with which a document allows a compensation that no rule matches. */
export const UNDO_NOT_NAMED = "undo:not_named";

/** `pay.undo` and `*.undo` mean the compensation. `pay*`, or no pattern, means calls. */
export function meansUndo(pattern: ToolPattern | undefined, tool: string): boolean {
  const call = tool.replace(/\.undo$/, "");
  return patternsOf(pattern).some(
    (one) => one === tool || (matchesGlob(one, tool) && !matchesGlob(one, call)),
  );
}

/** From the name alone, if nothing else is known. */
export const callKindOfTool = (tool: string): CallKind => (tool.endsWith(".undo") ? "undo" : "call");

/** What is known of a tool when a policy is read. */
export type KnownTool = {
  readonly name: string;
  readonly effectClass: string;
  /** JSON Schema of the arguments; null if unknown. */
  readonly schema: JsonObject | null;
  /** No program or run that the policy is read for calls the tool. Expressions are not checked against it. */
  readonly isElsewhere?: true;
};

const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);
const partsOf = (value: unknown): readonly JsonObject[] =>
  (Array.isArray(value) ? value : []).filter(isJsonObject);

/** Tools that a document names, even if the document has other faults. */
export function namedTools(document: unknown): readonly KnownTool[] {
  if (!isJsonObject(document)) return [];
  const { rules, risk, totals, tools } = document;
  const spoken = [
    ...partsOf(rules).flatMap(({ tool }) => asList(tool)),
    ...partsOf(isJsonObject(risk) ? risk["conditions"] : null).flatMap(({ tool }) => asList(tool)),
    ...Object.values(isJsonObject(totals) ? totals : {}).flatMap((one) =>
      isJsonObject(one) ? asList(one["tool"]) : [],
    ),
    ...Object.keys(isJsonObject(tools) ? tools : {}),
  ];
  const names = spoken.filter((name): name is string => typeof name === "string" && !name.includes("*"));
  return [...new Set(names)].map((name) => ({ name, effectClass: classOf(tools, name), schema: null }));
}

function classOf(tools: Json | undefined, name: string): string {
  const terms = isJsonObject(tools) && Object.hasOwn(tools, name) ? tools[name] : null;
  const effect = isJsonObject(terms) ? terms["effect"] : undefined;
  return typeof effect === "string" ? effect : "once";
}

/** A policy may exist before its tools were ever called, so a tool that is not in the journal is not a fault. */
export function mergeNamedTools(
  recorded: readonly KnownTool[],
  named: readonly KnownTool[],
): readonly KnownTool[] {
  const known = new Set(recorded.map(({ name }) => name));
  return [...recorded, ...named.filter(({ name }) => !known.has(name) && name !== FINAL)];
}

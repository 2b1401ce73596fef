/** Which tools a rule speaks of: a name, a name with `*` for any run of characters, a list of those, or nothing for all. */
import type { ToolPattern } from "./document.ts";

/**
 * What a worker says in the end is reviewed under this name, with the arguments `{ answer }`. Only a rule that spells the
 * name out speaks of it: it is no tool, so that `*` does not mean it.
 */
export const FINAL = "final";

export function isPattern(name: string): boolean {
  return name.includes("*");
}

/** In time that grows with the product of both lengths: a star is tried again from one place only. */
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

/** What a policy is asked about: a call, or what takes one back. */
export type Asked = "call" | "undo";

/** The rule under which a document lets a compensation be, of which no rule speaks. */
export const UNDO_NOT_NAMED = "undo:not_named";

/** `pay.undo` and `*.undo` mean the compensation; `pay*`, or nothing, was written with calls in mind. */
export function meansUndo(pattern: ToolPattern | undefined, tool: string): boolean {
  const call = tool.replace(/\.undo$/, "");
  return patternsOf(pattern).some(
    (one) => one === tool || (matchesGlob(one, tool) && !matchesGlob(one, call)),
  );
}

/** By its name alone, where nobody knows more. */
export const askedBy = (tool: string): Asked => (tool.endsWith(".undo") ? "undo" : "call");

/** Conditions that can never be true, and tools that they name and nobody has. */
import type { Workshop } from "./compile-expressions.ts";
import type { PolicyRule, ToolPattern } from "./document.ts";
import { keyOf, listedIn, literalOf } from "./expression/implies.ts";
import { isNever, type Known } from "./expression/never.ts";
import { parse } from "./expression/parse.ts";
import { type Node, partsOf, pathText } from "./expression/syntax.ts";
import type { PolicyFault } from "./fault.ts";
import { nearest } from "./nearest.ts";
import { FINAL, matchesTool } from "./tool-pattern.ts";

const TOOL_NAME = "tool.name";
const SUBJECT = keyOf({
  kind: "field",
  of: { kind: "name", name: "tool", at: 0 },
  name: "name",
  at: 0,
});

type Condition = {
  /** Who has it, for people. */
  readonly id: string;
  readonly tool: ToolPattern | undefined;
  readonly when: PolicyRule["when"];
  readonly path: PolicyFault["path"];
  /** Totals see calls of before, and no `tool`. */
  readonly seesTool: boolean;
};

function conditionsIn({ document }: Workshop): readonly Condition[] {
  const { rules = [], risk, totals = {} } = document;
  return [
    ...rules.map(({ id, tool, when }, index) => {
      return { id, tool, when, path: ["rules", index, "when"], seesTool: true };
    }),
    ...(risk?.conditions ?? []).map(({ id, tool, when }, index) => {
      return { id, tool, when, path: ["risk", "conditions", index, "when"], seesTool: true };
    }),
    ...Object.entries(totals).map(([id, { tool, when }]) => {
      return { id: `totals.${id}`, tool, when, path: ["totals", id, "when"], seesTool: false };
    }),
  ];
}

type Named = { readonly name: unknown; readonly at: number };

function namesAt(node: Node): readonly Named[] {
  if (node.kind === "in" && pathText(node.left) === TOOL_NAME)
    return (listedIn(node.right) ?? []).map((name) => ({ name, at: node.right.at }));
  if (node.kind !== "compare" || node.op !== "==") return [];
  const { left, right } = node;
  if (pathText(left) === TOOL_NAME) return [{ name: literalOf(right), at: right.at }];
  return pathText(right) === TOOL_NAME ? [{ name: literalOf(left), at: left.at }] : [];
}

/** What a condition says that the tool is called, where it says so. */
const namesIn = (node: Node): readonly Named[] => [...namesAt(node), ...partsOf(node).flatMap(namesIn)];

/** Several programs may share a policy, so this is only worth a look. */
function checkNames({ tools, report }: Workshop, { path, tool }: Condition, node: Node): void {
  if (tools === null) return;
  const known = tools.map(({ name }) => name);
  for (const { name, at } of namesIn(node)) {
    if (typeof name !== "string" || name === FINAL || known.includes(name)) continue;
    // One that the rule does not speak of is told of already.
    if (!matchesTool(tool, name)) continue;
    const meant = nearest(name, known);
    const message = `there is no tool ${name} here${meant === undefined ? "" : ` (did you mean ${meant}?)`}`;
    report.warnings.push({ path, message, offset: at });
  }
}

const isWrittenFalse = (when: Condition["when"]): boolean =>
  when === false || (typeof when === "string" && when.trim() === "false");

function whyNever({ tool, seesTool }: Condition, node: Node): string | undefined {
  if (isNever(node)) return "its condition can never be true";
  const spoken: Known = {
    subject: SUBJECT,
    may: (name) => typeof name === "string" && matchesTool(tool, name),
  };
  const isOther = seesTool && isNever(node, [spoken]);
  return isOther ? "its condition wants a tool that it does not speak of" : undefined;
}

export function checkNever(shop: Workshop): void {
  for (const condition of conditionsIn(shop)) {
    const { id, when, path } = condition;
    // Said as it is written, where that is all.
    const parsed = typeof when === "string" && !isWrittenFalse(when) ? parse(when) : undefined;
    if (parsed?.ok !== true) continue;
    const why = whyNever(condition, parsed.node);
    if (why !== undefined) shop.report.warnings.push({ path, message: `${id} can never match: ${why}` });
    checkNames(shop, condition, parsed.node);
  }
}

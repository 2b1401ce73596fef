/** Conditions that can never be true, and tools that they name and nobody has. */

import { closestName } from "../../kernel/spelling.ts";
import type { Workshop } from "./compile-expressions.ts";
import type { PolicyRule, ToolPattern } from "./document.ts";
import { keyOf, listedIn, literalOf } from "./expression/implies.ts";
import { isNever, type Known } from "./expression/never.ts";
import { parse } from "./expression/parse.ts";
import { type Node, partsOf, pathText } from "./expression/syntax.ts";
import type { PolicyFault } from "./fault.ts";
import type { KnownTool } from "./known-tool.ts";
import { argumentsOf, classesOf, countsIn, riskOf } from "./lint-known.ts";
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
  /** Rules see it; what makes it up does not. */
  readonly hasRisk: boolean;
};

function conditionsIn({ document }: Workshop): readonly Condition[] {
  const { rules = [], risk, totals = {} } = document;
  return [
    ...rules.map(({ id, tool, when }, index) => {
      return { id, tool, when, path: ["rules", index, "when"], seesTool: true, hasRisk: true };
    }),
    ...(risk?.conditions ?? []).map(({ id, tool, when }, index) => {
      return { id, tool, when, path: ["risk", "conditions", index, "when"], seesTool: true, hasRisk: false };
    }),
    ...Object.entries(totals).map(([id, { tool, when }]) => {
      return {
        id: `totals.${id}`,
        tool,
        when,
        path: ["totals", id, "when"],
        seesTool: false,
        hasRisk: false,
      };
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
    const meant = closestName(name, known);
    const message = `there is no tool ${name} here${meant === undefined ? "" : ` (did you mean ${meant}?)`}`;
    report.warnings.push({ path, message, offset: at });
  }
}

const isWrittenFalse = (when: Condition["when"]): boolean =>
  when === false || (typeof when === "string" && when.trim() === "false");

type Why = { readonly words: string; readonly known: readonly Known[] };

/** What takes a call back has a class of its own, which is not known here. */
const mayBeUndo = (tool: ToolPattern | undefined, tools: readonly KnownTool[]): boolean =>
  tools.some(({ name }) => matchesTool(tool, `${name}.undo`));

/** What may be known of the facts, one after the other; each with what is told where that alone rules it out. */
function grounds({ document, tools }: Workshop, { tool, hasRisk }: Condition): readonly Why[] {
  const spoken = {
    subject: SUBJECT,
    may: (name: unknown) => typeof name === "string" && matchesTool(tool, name),
  };
  const spokenOf = (tools ?? []).filter(({ name }) => matchesTool(tool, name));
  return [
    { words: "its condition wants a tool that it does not speak of", known: [spoken] },
    ...(hasRisk
      ? [{ words: "the risk never comes to what its condition asks for", known: riskOf(document) }]
      : []),
    {
      words: "no tool that it speaks of is of the class that its condition asks for",
      known: mayBeUndo(tool, tools ?? [])
        ? []
        : classesOf(spokenOf, matchesTool(tool, FINAL) ? ["read"] : []),
    },
  ];
}

/** Of every tool that it speaks of; an answer is no tool, and has no schema of a tool. */
function isOfNoTool({ tools }: Workshop, { tool }: Condition, node: Node, counts: readonly Known[]): boolean {
  const spokenOf = (tools ?? []).filter(({ name }) => matchesTool(tool, name));
  const isAsked = spokenOf.length > 0 && !matchesTool(tool, FINAL);
  return isAsked && spokenOf.every((one) => isNever(node, [...counts, ...argumentsOf(one)]));
}

function whyNever(shop: Workshop, condition: Condition, node: Node): string | undefined {
  const counts = countsIn(node, condition.seesTool ? (shop.document.totals ?? {}) : {});
  if (isNever(node, counts)) return "its condition can never be true";
  if (!condition.seesTool) return undefined;
  const why = grounds(shop, condition).find(({ known }) => isNever(node, [...counts, ...known]));
  if (why !== undefined) return why.words;
  const isOf = isOfNoTool(shop, condition, node, counts);
  return isOf ? "no tool that it speaks of takes arguments of which its condition is true" : undefined;
}

export function checkNever(shop: Workshop): void {
  for (const condition of conditionsIn(shop)) {
    const { id, when, path } = condition;
    // Said as it is written, where that is all.
    const parsed = typeof when === "string" && !isWrittenFalse(when) ? parse(when) : undefined;
    if (parsed?.ok !== true) continue;
    const why = whyNever(shop, condition, parsed.node);
    if (why !== undefined) shop.report.warnings.push({ path, message: `${id} can never match: ${why}` });
    checkNames(shop, condition, parsed.node);
  }
}

/** Rules that never have a say, because another one that comes first matches whatever they match. */
import { isOfCall, type Workshop } from "./compile-expressions.ts";
import type { PolicyRule } from "./document.ts";
import { namesIn } from "./expression/cost.ts";
import { implies, impliesSome, type Weighed, weigh } from "./expression/implies.ts";
import { parse } from "./expression/parse.ts";
import { askedBy, FINAL, matchesGlob, meansUndo, patternsOf } from "./tool-pattern.ts";

type Condition = { readonly kind: "always" | "unknown" } | ({ readonly kind: "weighed" } & Weighed);
type Placed = { readonly rule: PolicyRule; readonly at: number; readonly condition: Condition };

function conditionOf({ when = true }: PolicyRule): Condition {
  if (when === true || (typeof when === "string" && when.trim() === "true")) return { kind: "always" };
  const parsed = typeof when === "string" ? parse(when) : undefined;
  return parsed?.ok === true ? { kind: "weighed", ...weigh(parsed.node) } : { kind: "unknown" };
}

/** Does one speak of every tool that the other speaks of? */
function covers(wide: PolicyRule, narrow: PolicyRule): boolean {
  const patterns = patternsOf(wide.tool);
  return patternsOf(narrow.tool).every((one) => {
    if (one === FINAL) return patterns.includes(FINAL);
    if (askedBy(one) === "undo" && !meansUndo(wide.tool, one) && readsCall(wide)) return false;
    return patterns.some((pattern) => pattern === one || matchesGlob(pattern, one));
  });
}

/** A rule for calls that reads their arguments is not asked about what takes one back. */
function readsCall({ when, set = {} }: PolicyRule): boolean {
  const parsed = typeof when === "string" ? parse(when) : undefined;
  const names = parsed?.ok === true ? [...namesIn(parsed.node)] : [];
  const isRead = names.some((name) => name.startsWith("args.") && isOfCall(name.slice("args.".length)));
  return isRead || Object.keys(set).some(isOfCall);
}

function matchesAll(wide: Condition, narrow: Condition): boolean {
  if (wide.kind === "always") return true;
  return wide.kind === "weighed" && narrow.kind === "weighed" && implies(narrow, wide);
}

const STRENGTH = { approve: 0, escalate: 1, revise: 2, block: 3 } as const;

/** A revision steps aside once it is made, so it hides nothing; a rule on trial neither hides nor is hidden. */
const mayHide = ({ rule }: Placed): boolean => rule.shadow !== true && rule.verdict !== "revise";

function comesFirst(wide: Placed, narrow: Placed): boolean {
  const stronger = STRENGTH[wide.rule.verdict] - STRENGTH[narrow.rule.verdict];
  return stronger > 0 || (stronger === 0 && wide.at < narrow.at);
}

function hides(wide: Placed, narrow: Placed): boolean {
  const isFirst = comesFirst(wide, narrow) && matchesAll(wide.condition, narrow.condition);
  return isFirst && covers(wide.rule, narrow.rule);
}

type Weighty = Placed & { readonly condition: Extract<Condition, { kind: "weighed" }> };
const isWeighed = (one: Placed): one is Weighty => one.condition.kind === "weighed";

/** None of them hides it alone, and all of them do: each of the ways in which it matches is another's too. */
function hiddenBySome(narrow: Placed, hiding: readonly Placed[]): readonly Placed[] {
  if (!isWeighed(narrow)) return [];
  const others = hiding
    .filter(isWeighed)
    .filter((one) => one.at !== narrow.at && comesFirst(one, narrow) && covers(one.rule, narrow.rule));
  return others.length < 2 ? [] : (impliesSome(narrow.condition, others) ?? []);
}

function wordsOfSome({ rule }: Placed, by: readonly Placed[]): string {
  const ids = by.map((one) => one.rule.id);
  const named = `${ids.slice(0, -1).join(", ")} or ${ids.at(-1)}`;
  return `${rule.id} never comes to its ${rule.verdict}: whatever it matches, ${named} matches as well, and that comes first`;
}

function words({ rule }: Placed, by: Placed): string {
  const first = `and its ${by.rule.verdict} comes first`;
  if (by.condition.kind === "always")
    return `${rule.id} is never the answer: ${by.rule.id} always matches, ${first}`;
  return `${rule.id} never comes to its ${rule.verdict}: whatever it matches, ${by.rule.id} matches as well, ${first}`;
}

export function checkReach({ document, report }: Workshop): void {
  const placed = (document.rules ?? []).map((rule, at) => ({ rule, at, condition: conditionOf(rule) }));
  const hiding = placed.filter(mayHide);
  for (const one of placed.filter(({ rule }) => rule.shadow !== true)) {
    const by = hiding.find((other) => other.at !== one.at && hides(other, one));
    const path = ["rules", one.at];
    if (by !== undefined) {
      report.warnings.push({ path, message: words(one, by) });
      continue;
    }
    const some = hiddenBySome(one, hiding);
    if (some.length > 0) report.warnings.push({ path, message: wordsOfSome(one, some) });
  }
}

/** A policy's verdict the slow and obvious way, written from the documentation and sharing nothing with `src/policy`. */

import type { Json } from "../../src/kernel/json.ts";
import type { PastCall, PolicyInput } from "../../src/policy/rules/verdict.ts";
import type { DrawnPolicy, DrawnRule, DrawnTerms, DrawnTotal } from "./policy-draw.ts";
import type { Tree } from "./policy-draw-expression.ts";
import { answer, ERROR, isKeyed, type Outcome, sorted, type World } from "./policy-reference-expression.ts";
import { momentOf } from "./policy-reference-time.ts";

function reads(tree: Tree | undefined, name: string): boolean {
  if (tree === undefined) return false;
  return JSON.stringify(tree).includes(`["${name}"`);
}

const expressions = new Map<string, RegExp>();

function starred(pattern: string): RegExp {
  const known = expressions.get(pattern);
  if (known !== undefined) return known;
  const parts = pattern.split("*").map((part) => part.replace(/\W/g, "\\$&"));
  const made = new RegExp(`^${parts.join(".*")}$`, "s");
  expressions.set(pattern, made);
  return made;
}

/** A star stands for anything; `final` is meant by its name only. */
function speaksOf(pattern: string | readonly string[] | undefined, tool: string): boolean {
  const patterns = [pattern ?? "*"].flat();
  return tool === "final" ? patterns.includes("final") : patterns.some((one) => starred(one).test(tool));
}

/** Nothing where it does not count. */
function amountOf({ when, sum }: DrawnTotal, { status, args, result }: PastCall): Outcome {
  const world = { args, result };
  const isOpen = status !== "applied";
  const counts = when === undefined || (isOpen && reads(when, "result")) || answer(when, world);
  if (counts === false) return 0;
  if (counts !== true || (isOpen && reads(sum, "result"))) return ERROR;
  return sum === undefined ? 1 : answer(sum, world);
}

function totalOf(total: DrawnTotal, history: readonly PastCall[]): Outcome {
  const amounts = history
    .filter(({ undone, tool }) => !undone && speaksOf(total.tool, tool))
    .filter(({ status }) => ["applied", "running", "in_doubt"].includes(status))
    .map((past) => amountOf(total, past));
  let whole = 0;
  for (const amount of amounts) {
    if (typeof amount !== "number" || !Number.isFinite(whole + amount)) return ERROR;
    whole += amount;
  }
  return whole;
}

type Said = {
  readonly verdict: string;
  readonly rule: string;
  readonly set?: Json;
  readonly reason?: string;
  readonly asks?: DrawnTerms;
};

function outcomeOf(rule: DrawnRule, args: Json, world: World): Said | "error" | null {
  const said = heldBy(rule, args, world);
  if (said === null || said === "error") return said;
  const reason = rule.reason === undefined ? `rule ${rule.id}` : answer(rule.reason, world);
  return typeof reason === "string" ? { ...said, reason } : "error";
}

function heldBy(rule: DrawnRule, args: Json, world: World): Said | "error" | null {
  const holds = rule.when === undefined ? true : answer(rule.when, world);
  if (holds === false) return null;
  if (holds !== true) return "error";
  if (rule.verdict !== "revise")
    return { verdict: rule.verdict, rule: rule.id, ...(rule.asks === undefined ? {} : { asks: rule.asks }) };
  const set = Object.entries(rule.set ?? {}).map(([key, tree]) => [key, answer(tree, world)] as const);
  if (set.some(([, value]) => value === ERROR)) return "error";
  const same =
    isKeyed(args) &&
    set.every(([key, value]) => sorted((args as Record<string, unknown>)[key]) === sorted(value));
  return same ? null : { verdict: "revise", rule: rule.id, set: Object.fromEntries(set) as Json };
}

const squeezed = (value: unknown): unknown => {
  if (typeof value === "string") return value.trim().split(/\s+/).join(" ");
  if (Array.isArray(value)) return value.map(squeezed);
  if (!isKeyed(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, squeezed(part)]));
};

type Limit = { readonly allowed: boolean; readonly over: string | null; readonly repeated: boolean };

function limitsOf(policy: DrawnPolicy, input: PolicyInput): Limit {
  const none = { allowed: true, over: null, repeated: false };
  if (input.tool === "final" || (!policy.limited && policy.tools === undefined)) return none;
  const named = Object.entries(policy.tools ?? {});
  const terms = (named.find(([name]) => name === input.tool) ??
    named.find(([name]) => speaksOf(name, input.tool)))?.[1];
  const allowed = policy.tools === undefined || terms !== undefined;
  if (input.workflow === null) return { ...none, allowed };
  const mine = input.history
    .filter(({ generation }) => generation === input.workflow?.generation)
    .filter(({ status }) => status !== "waiting" && status !== "refused");
  const same = mine.filter(({ tool }) => tool === input.tool);
  const repeats = same.filter(({ args }) => sorted(squeezed(args)) === sorted(squeezed(input.args)));
  const most = terms?.repeats ?? (input.effectClass === "read" ? 2 : 1);
  const calls = same.length + 1 > (terms?.calls ?? 2) ? "limit:calls" : null;
  const over =
    policy.toolCalls !== undefined && mine.length + 1 > policy.toolCalls ? "limit:tool_calls" : calls;
  return { allowed, over, repeated: repeats.length + 1 > most };
}

const LEVELS = [
  [90, "critical"],
  [60, "high"],
  [30, "medium"],
] as const;

function riskOf(policy: DrawnPolicy, input: PolicyInput, world: World) {
  const conditions = (policy.risk?.conditions ?? []).filter(({ tool }) => speaksOf(tool, input.tool));
  const held: { readonly id: string; readonly weight: number }[] = [];
  for (const { id, when, weight } of conditions) {
    const holds = answer(when, world);
    if (typeof holds !== "boolean") return { failed: `risk:${id}` } as const;
    if (holds) held.push({ id, weight });
  }
  const score = held.reduce((sum, { weight }) => sum + weight, 0);
  const level = LEVELS.find(([least]) => score >= least)?.[1] ?? "low";
  return { score, level, conditions: held.map(({ id }) => id) } as const;
}

export type Reference = {
  readonly verdict: string;
  readonly rule: string;
  readonly set: Json | null;
  /** null where it is Holdpoint's own words. */
  readonly reason: string | null;
  readonly asks: DrawnTerms;
  readonly risk: {
    readonly score: number;
    readonly level: string;
    readonly conditions: readonly string[];
  } | null;
  readonly shadow: readonly { readonly rule: string; readonly verdict: string }[];
};

function decide(policy: DrawnPolicy, input: PolicyInput, world: World, route: Said | undefined): Said {
  const rules = policy.rules.filter((rule) => !rule.shadow && speaksOf(rule.tool, input.tool));
  const said = rules.flatMap((rule): readonly Said[] => {
    const one = outcomeOf(rule, input.args, world);
    return one === null ? [] : [one === "error" ? { verdict: "block", rule: rule.id } : one];
  });
  const all = route === undefined ? said : [...said, route];
  const first = (verdict: string) => all.find((one) => one.verdict === verdict);
  const { allowed, over, repeated } = limitsOf(policy, input);
  const blocked = (rule: string | null | false) => (rule ? { verdict: "block", rule } : undefined);
  const isAnswer = input.tool === "final" && rules.length === 0;
  return (
    first("block") ??
    blocked(!allowed && "tools:not_allowed") ??
    blocked(over) ??
    first("revise") ??
    blocked(repeated && "limit:repeats") ??
    first("escalate") ??
    first("approve") ??
    (isAnswer
      ? { verdict: "approve", rule: "final:not_named" }
      : { verdict: policy.fallback ?? "block", rule: "default" })
  );
}

export function referenceVerdict(policy: DrawnPolicy, input: PolicyInput): Reference {
  const totals = Object.fromEntries(
    policy.totals.map((total) => [total.name, totalOf(total, input.history)]),
  );
  const { id, name, generation } = input.workflow ?? { id: "", name: "", generation: 0 };
  const facts = {
    args: input.args,
    tool: { name: input.tool, effect: input.effectClass },
    agent: input.agent,
    workflow: { id, name, generation },
    history: input.history,
    totals,
    now: momentOf(input.now),
  };
  const isNamed = policy.rules.some((rule) => !rule.shadow && speaksOf(rule.tool, input.tool));
  const scores = policy.risk !== undefined && (input.tool !== "final" || isNamed);
  const scored = scores ? riskOf(policy, input, facts) : null;
  const failed = scored !== null && "failed" in scored;
  const risk = scored !== null && !("failed" in scored) ? scored : null;
  const { score = 0, level = "low" } = risk ?? {};
  const world = { ...facts, risk: { score, level } };
  const routed = policy.risk?.routes[risk?.level ?? "low"];
  const route =
    risk === null || routed === undefined ? undefined : { verdict: routed, rule: `risk:${level}` };
  const said = failed ? { verdict: "block", rule: scored.failed } : decide(policy, input, world, route);
  const shadow = policy.rules
    .filter((rule) => rule.shadow && speaksOf(rule.tool, input.tool))
    .flatMap((rule) => {
      const one = outcomeOf(rule, input.args, world);
      return one === null ? [] : [{ rule: rule.id, verdict: one === "error" ? "error" : one.verdict }];
    });
  const set = "set" in said ? (said.set ?? null) : null;
  const { reason = null, asks = {} } = said as Said;
  return { verdict: said.verdict, rule: said.rule, set, reason, asks, risk, shadow };
}

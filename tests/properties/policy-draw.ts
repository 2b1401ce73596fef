/** Random policies and actions, drawn from a seed. */

import type { Json } from "../../src/kernel/json.ts";
import type { PolicyText } from "../../src/policy/rules/document.ts";
import type { PastCall, PolicyInput } from "../../src/policy/rules/verdict.ts";
import {
  type Draw,
  drawNumber,
  drawText,
  drawTruth,
  KEYS,
  literal,
  NUMBERS,
  OVER_CALLS,
  OVER_RISK,
  OVER_RULES,
  type Sight,
  type Tree,
  textOf,
  WORDS,
} from "./policy-draw-expression.ts";
import { drawNow } from "./policy-draw-time.ts";
import { canSit } from "./policy-reference-seats.ts";

const TOOLS = ["pay", "refund", "read_file", "wire", "final"];
const PATTERNS = ["pay", "refund", "*", "re*", "*f*", "final", ["pay", "final"], ["nothing", "r*d"]] as const;

export type DrawnRule = {
  readonly id: string;
  readonly tool?: string | readonly string[];
  readonly when?: Tree;
  readonly verdict: "approve" | "revise" | "block" | "escalate";
  readonly set?: Readonly<Record<string, Tree>>;
  /** A text of its own, or one made of the call. */
  readonly reason?: Tree;
  readonly asks?: DrawnTerms;
  readonly shadow: boolean;
};
export type DrawnTerms = {
  readonly from?: readonly string[];
  readonly quorum?: number;
  readonly seconds?: number;
  /** Instead of the two before. */
  readonly stages?: readonly DrawnStage[];
  readonly onTimeout?: "expire" | "escalate" | "extend";
};
export type DrawnStage = Pick<DrawnTerms, "from" | "quorum" | "seconds">;
export type DrawnTotal = {
  readonly name: string;
  readonly tool: string;
  readonly when?: Tree;
  readonly sum?: Tree;
};
export type DrawnRisk = {
  readonly conditions: readonly {
    readonly id: string;
    readonly tool?: string;
    readonly when: Tree;
    readonly weight: number;
  }[];
  readonly routes: Readonly<
    Partial<Record<"low" | "medium" | "high" | "critical", "approve" | "block" | "escalate">>
  >;
};
export type DrawnPolicy = {
  readonly fallback?: "approve" | "block" | "escalate";
  readonly toolCalls?: number;
  readonly limited: boolean;
  readonly tools?: Readonly<Record<string, { readonly calls?: number; readonly repeats?: number }>>;
  readonly totals: readonly DrawnTotal[];
  readonly risk?: DrawnRisk;
  readonly rules: readonly DrawnRule[];
};

const PEOPLE = ["person:ann", "person:bob", "person:cat"];

function drawStage(draw: Draw): DrawnStage {
  const first = draw.upTo(2);
  const from = PEOPLE.slice(first, first + 1 + draw.upTo(2));
  return {
    ...(draw.chance(0.6) ? { from, quorum: 1 + draw.upTo(from.length - 1) } : {}),
    ...(draw.chance(0.3) ? { seconds: 1 + draw.upTo(90) } : {}),
  };
}

/** Stages that nobody could ever meet are a fault of the file: others are drawn. */
function drawStages(draw: Draw): readonly DrawnStage[] {
  for (;;) {
    const stages = Array.from({ length: 1 + draw.upTo(2) }, () => drawStage(draw));
    if (canSit(stages, [])) return stages;
  }
}

function drawTerms(draw: Draw): DrawnTerms {
  const isStaged = draw.chance(0.4);
  const { seconds, ...people } = drawStage(draw);
  const stages = isStaged ? { stages: drawStages(draw) } : people;
  const isSeveral = isStaged && (stages as DrawnTerms).stages?.length !== 1;
  const ends = isSeveral ? (["expire", "escalate", "extend"] as const) : (["expire", "extend"] as const);
  return {
    ...stages,
    ...(seconds === undefined ? {} : { seconds }),
    ...(draw.chance(0.4) ? { onTimeout: draw.pick(ends) } : {}),
  };
}

const A: Tree = { is: "read", path: ["args", "a"] };

/** Goes round until its number is high enough: what is revised, and how often, is what a review is about. */
function drawCounting(draw: Draw, id: string): DrawnRule {
  const when: Tree = { is: "two", op: "<", left: A, right: literal(2 + draw.upTo(7)) };
  const set = { a: { is: "two", op: "+", left: A, right: literal(1) } as const };
  return { id, tool: draw.pick(["pay", "re*", "*"]), when, verdict: "revise", set, shadow: false };
}

function drawRule(draw: Draw, index: number, sight: Sight): DrawnRule {
  if (draw.chance(0.15)) return drawCounting(draw, `r${index}`);
  const verdict = draw.pick(["approve", "approve", "revise", "revise", "block", "escalate"] as const);
  return {
    id: `r${index}`,
    ...(draw.chance(0.6) ? { tool: draw.pick(PATTERNS) } : {}),
    ...(draw.chance(0.85) ? { when: drawTruth(draw, sight) } : {}),
    verdict,
    ...(verdict === "revise"
      ? {
          set: {
            [draw.pick(KEYS)]: draw.chance(0.5) ? literal(draw.pick(NUMBERS)) : drawNumber(draw, sight),
          },
        }
      : {}),
    ...(draw.chance(0.2) ? { reason: drawReason(draw, sight) } : {}),
    ...(verdict === "escalate" ? { asks: drawTerms(draw) } : {}),
    shadow: draw.chance(0.15),
  };
}

/** Not empty where it is written as it stands: that would be a fault of the file. */
function drawReason(draw: Draw, sight: Sight): Tree {
  const text = drawText(draw, sight);
  return text.is === "literal" && text.value === "" ? literal("because") : text;
}

function drawTotals(draw: Draw): readonly DrawnTotal[] {
  return Array.from({ length: draw.upTo(2) }, (_, index) => ({
    name: `t${index}`,
    tool: draw.pick(["pay", "re*", "*"]),
    ...(draw.chance(0.5) ? { when: drawTruth(draw, OVER_CALLS) } : {}),
    ...(draw.chance(0.6) ? { sum: drawNumber(draw, OVER_CALLS) } : {}),
  }));
}

function drawRisk(draw: Draw, sight: Sight): DrawnRisk {
  const conditions = Array.from({ length: draw.upTo(3) }, (_, index) => ({
    id: `c${index}`,
    ...(draw.chance(0.4) ? { tool: draw.pick(["pay", "re*", "final"]) } : {}),
    when: drawTruth(draw, sight),
    weight: draw.pick([-10, 10, 30, 45.5, 60]),
  }));
  const levels = (["low", "medium", "high", "critical"] as const).filter(() => draw.chance(0.3));
  return {
    conditions,
    routes: Object.fromEntries(
      levels.map((level) => [level, draw.pick(["approve", "block", "escalate"] as const)]),
    ),
  };
}

export function drawPolicy(draw: Draw): DrawnPolicy {
  const totals = drawTotals(draw);
  const names = totals.map(({ name }) => name);
  const limited = draw.chance(0.3);
  return {
    ...(draw.chance(0.7) ? { fallback: draw.pick(["approve", "block", "escalate"] as const) } : {}),
    limited,
    ...(limited && draw.chance(0.7) ? { toolCalls: draw.upTo(5) } : {}),
    ...(draw.chance(0.3)
      ? { tools: { pay: { calls: draw.upTo(3) }, "re*": { repeats: draw.upTo(2) }, refund: {} } }
      : {}),
    totals,
    ...(draw.chance(0.4) ? { risk: drawRisk(draw, OVER_RISK(names)) } : {}),
    rules: Array.from({ length: draw.upTo(6) }, (_, index) => drawRule(draw, index, OVER_RULES(names))),
  };
}

export function documentOf(policy: DrawnPolicy): PolicyText {
  const { fallback, toolCalls, limited, tools, totals, risk, rules } = policy;
  return {
    policy: "drawn",
    ...(fallback === undefined ? {} : { default: fallback }),
    ...(limited ? { limits: toolCalls === undefined ? {} : { tool_calls: toolCalls } } : {}),
    ...(tools === undefined ? {} : { tools: { ...tools } }),
    totals: Object.fromEntries(
      totals.map(({ name, tool, when, sum }) => [
        name,
        {
          tool,
          ...(when === undefined ? {} : { when: textOf(when) }),
          ...(sum === undefined ? { count: true as const } : { sum: textOf(sum) }),
        },
      ]),
    ),
    ...(risk === undefined
      ? {}
      : {
          risk: {
            conditions: risk.conditions.map((one) => ({ ...one, when: textOf(one.when) })),
            routes: risk.routes,
          },
        }),
    rules: rules.map(({ when, set, reason, asks, shadow, ...rule }) => ({
      ...rule,
      ...(reason === undefined ? {} : { reason: reasonText(reason) }),
      ...(asks === undefined ? {} : termsText(asks)),
      ...(when === undefined ? {} : { when: textOf(when) }),
      ...(set === undefined
        ? {}
        : {
            set: Object.fromEntries(Object.entries(set).map(([key, tree]) => [key, { expr: textOf(tree) }])),
          }),
      ...(shadow ? { shadow } : {}),
    })),
  };
}

function reasonText(reason: Tree): string | { readonly expr: string } {
  return reason.is === "literal" ? String(reason.value) : { expr: textOf(reason) };
}

const secondsText = ({ seconds }: DrawnStage) => (seconds === undefined ? {} : { decide_by: `${seconds}s` });

function termsText({ from, quorum, seconds, stages, onTimeout }: DrawnTerms) {
  const list = stages?.map(({ seconds: own, ...stage }) => ({
    ...stage,
    ...secondsText(own === undefined ? {} : { seconds: own }),
  }));
  return {
    ...(list === undefined ? {} : { stages: list }),
    ...(onTimeout === undefined ? {} : { on_timeout: onTimeout }),
    ...(from === undefined ? {} : { approvers: { from, ...(quorum === undefined ? {} : { quorum }) } }),
    ...(seconds === undefined ? {} : { decide_by: `${seconds}s` }),
  };
}

/** What a tool takes, by argument: anything that is not here. Revisions are checked against it. */
export type DrawnShape = {
  readonly numbers: readonly string[];
  readonly texts: readonly string[];
  readonly most?: number;
  /** Dropped where it is given, as schemas do with what they do not know. */
  readonly dropped?: string;
};

export function drawShape(draw: Draw): DrawnShape {
  return {
    numbers: ["a", "b"].filter(() => draw.chance(0.5)),
    texts: draw.chance(0.2) ? ["s"] : [],
    ...(draw.chance(0.5) ? { most: draw.pick([3, 5, 100]) } : {}),
    ...(draw.chance(0.2) ? { dropped: draw.pick(["b", "o", "list"]) } : {}),
  };
}

function drawJson(draw: Draw): Json {
  return draw.pick<() => Json>([
    () => draw.pick(NUMBERS),
    () => draw.pick(WORDS),
    () => draw.chance(0.5),
    () => null,
    () =>
      Array.from({ length: draw.upTo(3) }, () => (draw.chance(0.8) ? draw.pick(NUMBERS) : draw.pick(WORDS))),
    () => ({ a: draw.pick(NUMBERS) }),
  ])();
}

function drawArgs(draw: Draw): Json {
  const usual: Readonly<Record<string, () => Json>> = {
    a: () => draw.pick(NUMBERS),
    b: () => draw.pick(NUMBERS),
    s: () => draw.pick(WORDS),
    list: () => Array.from({ length: draw.upTo(3) }, () => draw.pick(NUMBERS)),
    o: () => ({ a: draw.pick(NUMBERS) }),
    constructor: () => draw.pick(WORDS),
  };
  const entries = Object.entries(usual).filter(() => draw.chance(0.85));
  return Object.fromEntries(entries.map(([key, make]) => [key, draw.chance(0.9) ? make() : drawJson(draw)]));
}

export function drawPast(draw: Draw): PastCall {
  const status = draw.pick([
    "waiting",
    "running",
    "applied",
    "applied",
    "applied",
    "in_doubt",
    "not_applied",
    "refused",
  ] as const);
  return {
    action: "act_past",
    tool: draw.pick(["pay", "refund", "read_file"]),
    args: drawArgs(draw),
    status,
    result: status === "applied" && draw.chance(0.8) ? { n: draw.pick(NUMBERS) } : null,
    generation: 1 + draw.upTo(1),
    undone: draw.chance(0.15),
    at: draw.upTo(1_000_000),
  };
}

/** `past`: what histories are put together from; drawn anew for each unless given. */
export function drawAction(draw: Draw, past?: readonly PastCall[]): PolicyInput {
  const inWorkflow = draw.chance(0.7);
  const one = () => (past === undefined ? drawPast(draw) : draw.pick(past));
  const history = inWorkflow ? Array.from({ length: draw.upTo(5) }, one) : [];
  const tool = draw.pick(TOOLS);
  // A call that was made before is not rare: that is what a limit looks for.
  const before = history.find((call) => call.tool === tool && draw.chance(0.4));
  return {
    tool,
    effectClass: tool === "final" ? "read" : draw.pick(["read", "once"]),
    args: before?.args ?? drawArgs(draw),
    agent: draw.pick(["agent:one", "agent:two"]),
    requester: draw.chance(0.2) ? ["agent:one", "person:ann"] : ["agent:one"],
    requestId: null,
    workflow: inWorkflow
      ? { id: "wf_1", name: draw.pick(["pay", "late"]), generation: 1 + draw.upTo(1) }
      : null,
    history,
    now: drawNow(draw),
  };
}

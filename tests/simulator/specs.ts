/**
 * Simulated tools, workflows and grants as data: what the production code is given as functions and expressions, the
 * oracle evaluates again on its own. Grants and previews are drawn apart, for every second seed.
 */

import type { Json } from "../../src/kernel/json.ts";
import type { EffectClass } from "../../src/policy/rules/tool-rules.ts";
import type { OnTimeout, Verdict } from "../../src/policy/rules/verdict.ts";
import { createRandom, type Random } from "./random.ts";

export type AskStage = {
  readonly quorum: number;
  readonly from: readonly string[] | null;
  readonly veto: boolean;
  readonly decideWithinMs: number | null;
};

export type Ask = {
  /** Instead of the rule beside it. */
  readonly stages?: readonly AskStage[];
  readonly onTimeout?: OnTimeout;
  readonly quorum: number;
  readonly from: readonly string[] | null;
  readonly veto: boolean;
  readonly decideWithinMs: number | null;
  readonly executeWithinMs: number | null;
  /** Who may decide as well from half time on; only where people are named. */
  readonly also?: readonly string[];
  /** Larger amounts are asked about in another way. */
  readonly above?: { readonly amount: number; readonly ask: Ask };
};

export type PolicySpec =
  | { readonly kind: "approve" }
  | { readonly kind: "block" }
  | { readonly kind: "throws" }
  | { readonly kind: "escalate"; readonly ask: Ask }
  /** Small amounts are free, larger ones asked about, the largest blocked. */
  | { readonly kind: "bands"; readonly free: number; readonly asked: number; readonly ask: Ask }
  /** Larger amounts are cut down first. */
  | { readonly kind: "cap"; readonly cap: number; readonly ask: Ask | null };

type ReceiverMode = "plain" | "honours" | "ignores" | "forgets" | "doubles";

export type ToolVersion = { readonly policy: PolicySpec; readonly schema: number };

export type ToolSpec = {
  readonly name: string;
  readonly effect: Exclude<EffectClass, "transactional">;
  readonly receiver: ReceiverMode;
  /** How long the receiver really remembers a key, and how long its probe is really wrong. */
  readonly remembersMs: number;
  readonly probeLagMs: number;
  readonly keyRetentionMs: number;
  readonly finalityMs: number;
  readonly timeoutMs: number | null;
  readonly attempts: number;
  readonly costs: readonly { readonly budget: string; readonly perUnit: number }[];
  readonly dedupeWindowMs: number | null;
  /** How often it refuses whatever else happens; never unless set. */
  readonly refuses?: number;
};

export type Args = {
  readonly amount: number;
  readonly to: string;
  readonly n: number;
  readonly token?: Json;
  readonly pad?: string;
};

export const CURRENCY = "EUR";
/** The largest amount that any schema version lets through. */
export const MOST = 100;

function escalate(ask: Ask, amount: number): Verdict {
  const { quorum, from, veto, decideWithinMs, executeWithinMs, stages, onTimeout, also, above } = ask;
  if (above !== undefined && amount > above.amount) return escalate(above.ask, amount);
  const half = also === undefined || from === null ? {} : { escalateAtHalf: also };
  const staged = stages?.map(({ decideWithinMs: length, ...rule }) =>
    length === null ? rule : { ...rule, decideWithinMs: length },
  );
  return {
    verdict: "escalate",
    ...(staged === undefined ? { approvers: { quorum, from, veto, ...half } } : { stages: staged }),
    ...(onTimeout === undefined ? {} : { onTimeout }),
    ...(decideWithinMs === null ? {} : { decideWithinMs }),
    ...(executeWithinMs === null ? {} : { executeWithinMs }),
  };
}

export function verdictFor(policy: PolicySpec, args: Pick<Args, "amount">): Verdict {
  switch (policy.kind) {
    case "approve":
      return { verdict: "approve" };
    case "block":
      return { verdict: "block", reason: "not today" };
    case "throws":
      throw new Error("a policy with a bug");
    case "escalate":
      return escalate(policy.ask, args.amount);
    case "bands":
      if (args.amount <= policy.free) return { verdict: "approve" };
      return args.amount <= policy.asked
        ? escalate(policy.ask, args.amount)
        : { verdict: "block", reason: "too much", rule: "most" };
    case "cap":
      if (args.amount > policy.cap)
        return { verdict: "revise", set: { amount: policy.cap }, reason: "cut down", rule: "cap" };
      return policy.ask === null ? { verdict: "approve" } : escalate(policy.ask, args.amount);
  }
}

export function drawAsk(random: Random, people: readonly string[]): Ask {
  const named = random.chance(0.6);
  const from = named ? people.filter(() => random.chance(0.75)) : null;
  const size = from?.length ?? people.length;
  const quorum = random.chance(0.5) ? 1 : Math.max(1, Math.min(random.between(2, 3), size - 1));
  return {
    quorum,
    from: from !== null && from.length < quorum + 1 ? [...people] : from,
    veto: random.chance(0.75),
    decideWithinMs: random.chance(0.7) ? random.between(300, 15_000) : null,
    executeWithinMs: random.chance(0.5) ? random.between(200, 8_000) : null,
  };
}

export function drawPolicy(random: Random, people: readonly string[]): PolicySpec {
  const ask = drawAsk(random, people);
  const roll = random.float();
  if (roll < 0.22) return { kind: "approve" };
  if (roll < 0.26) return { kind: "block" };
  if (roll < 0.28) return { kind: "throws" };
  if (roll < 0.62) return { kind: "escalate", ask };
  if (roll < 0.87) return { kind: "bands", free: random.int(50), asked: random.between(50, MOST), ask };
  return { kind: "cap", cap: random.between(10, 80), ask: random.chance(0.5) ? ask : null };
}

const RECEIVERS: { readonly [K in ToolSpec["effect"]]: readonly ReceiverMode[] } = {
  read: ["plain"],
  idempotent: ["plain"],
  keyed: ["honours", "honours", "forgets", "forgets", "ignores", "ignores", "doubles"],
  probed: ["plain", "plain", "doubles"],
  once: ["plain", "plain", "plain", "doubles"],
};
const CLASSES = ["once", "keyed", "probed", "idempotent", "read"] as const;

type ToolDraw = {
  readonly index: number;
  readonly budgets: readonly string[];
  /** Contracts in time hold only while the database's clock is sane. */
  readonly saneClock: boolean;
  /** How long a packet may be under way at most. */
  readonly flightMs: number;
};

export function drawTool(random: Random, { index, budgets, saneClock, flightMs }: ToolDraw): ToolSpec {
  const effect = CLASSES[index % CLASSES.length] ?? "once";
  const drawn = random.pick(RECEIVERS[effect]);
  const receiver = drawn === "forgets" && !saneClock ? "honours" : drawn;
  const probeLagMs = saneClock && random.chance(0.6) ? random.between(200, 6_000) : 0;
  const keyRetentionMs = saneClock && random.chance(0.7) ? random.between(500, 10_000) : 3_600_000 * 24;
  return {
    name: `${effect}.${index}`,
    effect,
    receiver,
    remembersMs: keyRetentionMs + flightMs,
    probeLagMs,
    keyRetentionMs,
    finalityMs: probeLagMs + flightMs,
    timeoutMs: random.chance(0.7) ? random.between(100, 3_000) : null,
    attempts: random.between(1, 4),
    costs: budgets
      .filter(() => random.chance(0.6))
      .map((budget) => ({ budget, perUnit: random.between(1, 5) })),
    dedupeWindowMs: random.chance(0.2) ? random.between(1_000, 30_000) : null,
  };
}

export type GatedClass = "once" | "keyed" | "idempotent";

export type OpSpec =
  | {
      readonly kind: "call";
      readonly tool: string;
      readonly goesOn: boolean;
      readonly rollback: boolean | null;
      /** The definition fails if it was not done. */
      readonly must: boolean;
    }
  /** Fails so often before it succeeds. */
  | {
      readonly kind: "step";
      readonly name: string;
      readonly fails: number;
      readonly attempts: number;
      readonly backOffMs: number;
    }
  | {
      readonly kind: "gated";
      readonly name: string;
      readonly effect: GatedClass;
      readonly asks: boolean;
      readonly undo: boolean;
    }
  | { readonly kind: "checkpoint"; readonly name: string }
  | { readonly kind: "sleep"; readonly ms: number }
  | { readonly kind: "question"; readonly name: string; readonly withinMs: number | null }
  | { readonly kind: "child"; readonly workflow: string }
  | { readonly kind: "value"; readonly what: "now" | "random" | "log" }
  | { readonly kind: "parallel"; readonly branches: readonly (readonly OpSpec[])[] }
  /** Throws, the first time or always. */
  | { readonly kind: "failure"; readonly always: boolean };

export type CheckpointSpec = {
  readonly name: string;
  readonly asks: boolean;
  readonly canRollback: boolean;
  readonly timeoutSeconds: number | null;
  readonly approvers: Pick<Ask, "quorum" | "from" | "veto">;
};

export type WorkflowSpec = {
  readonly name: string;
  readonly ops: readonly OpSpec[];
  readonly checkpoints: readonly CheckpointSpec[];
  readonly attempts: number;
  readonly rollbackEnabled: boolean;
  readonly onIrreversible: "fail" | "continue";
};

/** How a tool is undone: a tool of its own, nothing to undo, or no way back. */
export type UndoSpec =
  | { readonly kind: "nothing" | "none" }
  | { readonly kind: "tool"; readonly spec: ToolSpec; readonly policy: PolicySpec };

export type WorkflowSpecs = {
  /** Children come before their parents. */
  readonly workflows: readonly WorkflowSpec[];
  readonly undos: ReadonlyMap<string, UndoSpec>;
  /** Tools that stand for gated steps, and those that undo them. */
  readonly steps: readonly { readonly spec: ToolSpec; readonly policy: PolicySpec }[];
  /** How many are started. */
  readonly starts: number;
};

export const NO_WORKFLOWS: WorkflowSpecs = { workflows: [], undos: new Map(), steps: [], starts: 0 };

export type PriorPermissions = {
  /** People give standing grants. */
  readonly grants: boolean;
  /** Tools that show what they would do. */
  readonly previewed: ReadonlySet<string>;
};

export const NO_PRIOR_PERMISSIONS: PriorPermissions = { grants: false, previewed: new Set() };

const PERMISSIONS_EVERY = 2n;
const SALT = 0x9e37_79b9_7f4a_7c15n;

export function drawPriorPermissions(seed: bigint, tools: readonly ToolSpec[]): PriorPermissions {
  if (seed % PERMISSIONS_EVERY !== 0n) return NO_PRIOR_PERMISSIONS;
  const random = createRandom(seed ^ SALT);
  const shown = tools.filter(() => random.chance(0.5)).map(({ name }) => name);
  return { grants: random.chance(0.8), previewed: new Set(shown) };
}

/** The terms of a grant as data: what production is given as expressions, the oracle evaluates on its own. */
type GrantSpec = {
  readonly most: number | null;
  readonly agent: string | null;
  readonly uses: number;
  /** In units; null: no limit. */
  readonly total: number | null;
  readonly forMs: number;
};

export function drawGrant(random: Random): GrantSpec {
  return {
    most: random.chance(0.35) ? random.between(20, 90) : null,
    agent: random.chance(0.15) ? `agent:a${random.int(3)}` : null,
    uses: random.between(1, 4),
    total: random.chance(0.4) ? random.between(30, 300) : null,
    forMs: random.chance(0.3) ? random.between(300, 4_000) : random.between(4_000, 40_000),
  };
}

export const grantCondition = ({ most }: GrantSpec): string | null =>
  most === null ? null : `args.amount <= ${most}`;
/** The bound in a condition that `whenOf` made. */
export const boundInCondition = (when: string): number => Number(/<= (\d+)$/.exec(when)?.[1]);

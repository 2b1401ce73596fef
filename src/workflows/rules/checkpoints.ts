/**
 * Checkpoints as a workflow declares them: which of them are in force (all, or the set for tasks this complex), and
 * whether one asks people when it is reached.
 * Anything unknown is a reason to ask: an undeclared checkpoint, a missing figure, a condition that fails.
 */

import { rejectInput } from "../../kernel/fields.ts";
import type { JsonObject } from "../../kernel/json.ts";
import { type Money, moneyText } from "../../kernel/money.ts";
import { displayValue, errorText } from "../../kernel/text.ts";
import type { ApproverRule, OnTimeout, PolicyInput, StageRule, Verdict } from "../../policy/rules/verdict.ts";
import type { Declared } from "../events.ts";
import type { Captured } from "./snapshot.ts";

/** Input of a condition. */
export type CheckpointFacts = {
  readonly name: string;
  /** As captured at this checkpoint; null if none was captured. */
  readonly confidence: number | null;
  /** Spent since the workflow began; null if unknown, zero if known to be nothing. */
  readonly cost: Money | null;
  /** Names of the tools called since the previous checkpoint. */
  readonly tools: readonly string[];
  readonly captured: Captured;
  /** 1-based attempt of the workflow: grows by one with each rollback, after which checkpoints are reached again. */
  readonly attempt: number;
};

/** Conditions under which people are asked. Any one of them is enough. */
export type CheckpointConditions = {
  /** Asks if the captured confidence is lower than this (0 to 1), or if none was captured. */
  readonly confidenceBelow?: number;
  /** Asks if more than this was spent, or if the amount is unknown or in another currency. */
  readonly costAbove?: Money;
  /** Asks if any of these tools was called since the previous checkpoint. */
  readonly tools?: readonly string[];
};

/**
 * When a checkpoint asks: under conditions, or as a function decides. The function must be pure and synchronous. If it
 * throws, or returns anything but true or false, people are asked.
 */
type CheckpointWhen = CheckpointConditions | ((facts: CheckpointFacts) => boolean);

export type CheckpointDefinition = {
  /** The name that the program uses; unique within a set. */
  readonly name: string;
  /** Default: derived from the name. */
  readonly id?: string;
  readonly description?: string;
  /** False: state is captured and the workflow goes on. Default: true. */
  readonly requiresApproval?: boolean;
  /** False: a rejection here ends the workflow. Default: true. */
  readonly canRollback?: boolean;
  /** How long people have to decide. Default: null, no limit. */
  readonly timeoutSeconds?: number | null;
  /**
   * What happens after that time. `expire` (default): treated like a rejection. `escalate`: the next stage is asked.
   * `extend`: the same time again, once.
   */
  readonly onTimeout?: OnTimeout;
  /** Asks only under these conditions. Default: always. */
  readonly when?: CheckpointWhen;
  /**
   * Undoes what led to this checkpoint when it is rejected or rolled back past, before the tools called since the
   * previous checkpoint undo their effects. It is an action of its own, run once.
   */
  readonly undo?: CheckpointUndo;
  /** Who has to agree. Default: any one person. */
  readonly approvers?: Partial<ApproverRule>;
  /** Instead of `approvers`: asked one after the other. `timeoutSeconds` applies to each stage without its own. */
  readonly stages?: readonly StageRule[];
};

export type CheckpointSet = {
  readonly checkpoints: readonly CheckpointDefinition[];
  /** Amount locked for the work if this set is chosen. */
  readonly escrow?: Money;
};

/** Complexity of a task, from the least supervision to the most. */
export const COMPLEXITIES = ["simple", "medium", "complex"] as const;
type Complexity = (typeof COMPLEXITIES)[number];
export type CheckpointSets = { readonly [complexity in Complexity]?: CheckpointSet };

export type CheckpointUndo = {
  /** Gets the captured outputs. */
  readonly run: (
    outputs: JsonObject,
    context: { readonly attempt: number; readonly signal: AbortSignal; readonly idempotencyKey: string },
  ) => unknown;
  /** Its promise about being repeated. Default: `once`. */
  readonly effect?: (typeof UNDO_EFFECTS)[number];
  /** Who decides. Default: `approve`. The arguments are `{ args: { checkpoint }, result }`; `result`: the outputs. */
  readonly policy?: PolicyAnswer | ((call: PolicyInput) => PolicyAnswer);
};

type PolicyAnswer = "approve" | "escalate" | "block" | Verdict;

export const UNDO_EFFECTS = ["idempotent", "keyed", "once"] as const;

type AskDecision = { readonly asks: boolean; readonly why: string };

function confidenceReason(below: number, { confidence }: CheckpointFacts): string | undefined {
  if (confidence === null) return `no confidence was captured, and ${below} is asked for`;
  return confidence < below ? `the confidence ${confidence} is below ${below}` : undefined;
}

function costReason(above: Money, { cost }: CheckpointFacts): string | undefined {
  if (cost === null) return `what was spent is not known, and the limit is ${moneyText(above)}`;
  if (cost.currency !== above.currency)
    return `${moneyText(cost)} cannot be compared with the limit of ${moneyText(above)}`;
  return cost.micros > above.micros
    ? `${moneyText(cost)} is more than the limit of ${moneyText(above)}`
    : undefined;
}

function toolReason(watched: readonly string[], { tools }: CheckpointFacts): string | undefined {
  const called = [...new Set(tools)].filter((tool) => watched.includes(tool));
  return called.length === 0 ? undefined : `${called.join(", ")} was called`;
}

function underConditions(when: CheckpointConditions, facts: CheckpointFacts): AskDecision {
  const { confidenceBelow, costAbove, tools } = when;
  const reasons = [
    confidenceBelow === undefined ? undefined : confidenceReason(confidenceBelow, facts),
    costAbove === undefined ? undefined : costReason(costAbove, facts),
    tools === undefined ? undefined : toolReason(tools, facts),
  ].filter((reason) => reason !== undefined);
  if (reasons.length > 0) return { asks: true, why: reasons.join("; ") };
  return { asks: false, why: "none of its conditions holds" };
}

function byFunction(when: (facts: CheckpointFacts) => unknown, facts: CheckpointFacts): AskDecision {
  try {
    const said = when(facts);
    if (typeof said === "boolean")
      return { asks: said, why: said ? "its condition holds" : "its condition does not hold" };
    if (!(said instanceof Promise))
      return { asks: true, why: "its condition answered neither true nor false" };
    // No code awaits this promise; its rejection must not end the process.
    said.catch(() => undefined);
    return { asks: true, why: "its condition answered a promise, and cannot be waited for" };
  } catch (error) {
    return { asks: true, why: `its condition failed: ${errorText(error)}` };
  }
}

/** Whether people are asked at a reached checkpoint, and why or why not. */
export function whetherToAsk(
  definition: CheckpointDefinition | undefined | "left_out",
  facts: CheckpointFacts,
): AskDecision {
  if (definition === undefined) return { asks: true, why: "nothing says when it asks, so it asks each time" };
  if (definition === "left_out")
    return { asks: false, why: "it is left out by the set of checkpoints that was chosen" };
  const { requiresApproval = true, when } = definition;
  if (!requiresApproval) return { asks: false, why: "it needs no approval" };
  if (when === undefined) return { asks: true, why: "it always asks" };
  return typeof when === "function" ? byFunction(when, facts) : underConditions(when, facts);
}

/** Also honors the declaration at creation: a checkpoint that required approval then still asks. */
export function whetherToAskStill(
  asking: AskDecision,
  definition: CheckpointDefinition | undefined | "left_out",
  recorded: Pick<Declared, "requiresApproval"> | undefined,
): AskDecision {
  if (asking.asks || recorded?.requiresApproval !== true) return asking;
  // Conditions are judged as defined now: only a removed approval requirement is overridden.
  const isWaved = definition === "left_out" || definition?.requiresApproval === false;
  return isWaved ? { asks: true, why: "it asked for an approval when the workflow was created" } : asking;
}

/** One list for every run, or a list per complexity. */
export type Checkpoints = readonly CheckpointDefinition[] | CheckpointSets;

/** The checkpoints in force for one run, and the names that only other sets have. */
type ChosenSet = CheckpointSet & { readonly leftOut: readonly string[] };

export const isCheckpointList = (given: Checkpoints): given is readonly CheckpointDefinition[] =>
  Array.isArray(given);

const namesOf = (set: CheckpointSet | undefined): readonly string[] =>
  set?.checkpoints.map(({ name }) => name) ?? [];

/** The set for a complexity. Default: the set for the most complex tasks. */
export function chosenSet(given: Checkpoints, complexity: string | null = null): ChosenSet {
  if (isCheckpointList(given)) return { checkpoints: given, leftOut: [] };
  const declared = COMPLEXITIES.filter((one) => given[one] !== undefined);
  const chosen = complexity === null ? declared.at(-1) : declared.find((one) => one === complexity);
  const set = chosen === undefined ? undefined : given[chosen];
  if (set === undefined)
    return rejectInput(
      `There is no set of checkpoints for "${displayValue(complexity)}"; there are ${declared.join(", ")}.`,
    );
  const kept = new Set(namesOf(set));
  const all = new Set(declared.flatMap((one) => namesOf(given[one])));
  return { ...set, leftOut: [...all].filter((name) => !kept.has(name)) };
}

/** The checkpoint of this name, in the form that `whetherToAsk` takes. */
export function checkpointNamed(
  { checkpoints, leftOut }: ChosenSet,
  name: string,
): CheckpointDefinition | "left_out" | undefined {
  return checkpoints.find((one) => one.name === name) ?? (leftOut.includes(name) ? "left_out" : undefined);
}

const usd = (whole: bigint): Money => ({ currency: "USD", micros: whole * 1_000_000n });

const ADAPTIVE: { readonly [complexity in Complexity]: { readonly most: number; readonly escrow: Money } } = {
  simple: { most: 1, escrow: usd(50n) },
  medium: { most: 2, escrow: usd(100n) },
  complex: { most: 4, escrow: usd(100n) },
};

/** At most this many of a list, evenly spaced, always including the last. */
function spaced<Item>(list: readonly Item[], most: number): readonly Item[] {
  const count = Math.min(most, list.length);
  const endOf = (part: number) => Math.ceil((part * list.length) / count) - 1;
  const kept = new Set(Array.from({ length: count }, (_, index) => endOf(index + 1)));
  return list.filter((_, index) => kept.has(index));
}

/**
 * Derives sets from one list, which is in the order in which its checkpoints are reached. Simple: the last one, 50 USD
 * in escrow. Medium: the one halfway and the last, 100 USD. Complex: four, evenly spaced, 100 USD.
 */
export function adaptiveCheckpoints(all: readonly CheckpointDefinition[]): Required<CheckpointSets> {
  if (!Array.isArray(all)) rejectInput("adaptiveCheckpoints takes a list of checkpoints.");
  const cut = (complexity: Complexity): CheckpointSet => {
    const { most, escrow } = ADAPTIVE[complexity];
    return { checkpoints: spaced(all, most), escrow };
  };
  return { simple: cut("simple"), medium: cut("medium"), complex: cut("complex") };
}

/** The checkpoint's id. Default: derived from its name. */
export function checkpointId({ id, name }: Pick<CheckpointDefinition, "id" | "name">): string {
  return id ?? `cp_${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "_")}`;
}

/**
 * The complete terms of an escalation: approvers per stage, deadlines, and what happens at a deadline.
 * - A quorum that the people of a stage cannot meet is a fault. So are stages that need the same person twice: each
 *   person decides once.
 * - One stage is the same as `approvers` alone.
 */

import { fullDataFault } from "../../kernel/fields.ts";
import type { RosterState } from "../../people/stream.ts";
import {
  APPROVER_FIELDS,
  type ApproverRule,
  approverRule,
  type EligibilityContext,
  excludedPeople,
  type OnTimeout,
  peopleNamed,
  plainRule,
  type StageRule,
  type Verdict,
  whyUnsatisfiable,
} from "./verdict.ts";

/** About three hundred years. A longer time is a mistake, and a much longer one exceeds the range of dates. */
export const LONGEST_MS = 1e13;
export const MOST_STAGES = 10;

export type Stage = ApproverRule & { readonly decideWithinMs: number | null };

export type ApprovalTerms = {
  /** Of the first stage. */
  readonly approvers: ApproverRule;
  readonly decideWithinMs: number | null;
  readonly executeWithinMs: number | null;
  /** Only if there are several. */
  readonly stages?: readonly Stage[];
  /** Only if not `expire`. */
  readonly onTimeout?: Exclude<OnTimeout, "expire">;
};

type Escalation = Pick<
  Extract<Verdict, { verdict: "escalate" }>,
  "approvers" | "stages" | "onTimeout" | "decideWithinMs" | "executeWithinMs"
>;

const ON_TIMEOUT: readonly unknown[] = ["expire", "escalate", "extend"] satisfies readonly OnTimeout[];

function isDuration(value: unknown): boolean {
  return (
    value === undefined || (Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= LONGEST_MS)
  );
}

/** Approver rules per stage, without their deadlines. */
export function listStageRules(terms: Pick<ApprovalTerms, "approvers" | "stages">): readonly ApproverRule[] {
  return (terms.stages ?? [terms.approvers]).map(plainRule);
}

const STAGE_FIELDS = [...APPROVER_FIELDS, "decideWithinMs"];

function stageOf(given: unknown, number: number, usualMs: number | undefined): Stage | string {
  const unread = fullDataFault(`stage ${number}`, given, STAGE_FIELDS);
  if (unread !== undefined) return unread;
  const { decideWithinMs = usualMs, ...approvers } = given as StageRule;
  const rule = approverRule(approvers);
  if (typeof rule === "string") return `stage ${number}: ${rule.replaceAll("approvers.", "")}`;
  if (!isDuration(decideWithinMs)) return `stage ${number}: its deadline is not a number of milliseconds`;
  return { ...rule, decideWithinMs: decideWithinMs === undefined ? null : Number(decideWithinMs) };
}

/** `decideWithinMs` next to `stages` is the default for stages without their own. */
function stagesOf({ approvers, stages, decideWithinMs }: Escalation): readonly Stage[] | string {
  if (stages === undefined) {
    const rule = approverRule(approvers);
    return typeof rule === "string" ? rule : [{ ...rule, decideWithinMs: decideWithinMs ?? null }];
  }
  if (approvers !== undefined) return "approvers and stages exclude each other";
  if (!Array.isArray(stages) || stages.length === 0 || stages.length > MOST_STAGES)
    return `stages is not a list of 1 to ${MOST_STAGES}`;
  const list = stages.map((one: unknown, index) => stageOf(one, index + 1, decideWithinMs));
  return list.find((one) => typeof one === "string") ?? (list as readonly Stage[]);
}

/** The complete terms, or their fault. */
export function approvalTerms(given: Escalation): ApprovalTerms | string {
  const { onTimeout = "expire", decideWithinMs, executeWithinMs } = given;
  if (!isDuration(decideWithinMs) || !isDuration(executeWithinMs))
    return "a deadline is not a number of milliseconds";
  if (!ON_TIMEOUT.includes(onTimeout)) return "onTimeout is not expire, escalate or extend";
  const list = stagesOf(given);
  if (typeof list === "string") return list;
  const [first] = list as readonly [Stage];
  return {
    approvers: plainRule(first),
    decideWithinMs: first.decideWithinMs,
    executeWithinMs: executeWithinMs ?? null,
    ...(list.length === 1 ? {} : { stages: list }),
    ...(onTimeout === "expire" ? {} : { onTimeout }),
  };
}

const isNoTime = (ms: unknown): boolean => ms === 0;
const addsNobody = (rule: Partial<ApproverRule> | undefined): boolean => rule?.escalateAtHalf?.length === 0;

/**
 * Checks terms from a caller more strictly than stored ones, like a policy file: every deadline leaves some time,
 * `escalateAtHalf` names at least one person, and `escalate` has a next stage.
 */
export function checkWrittenTerms(given: Escalation): ApprovalTerms | string {
  // A rule that is undefined by mistake would let any one person decide.
  const unset = (["approvers", "stages"] as const).find((one) => one in given && given[one] === undefined);
  if (unset !== undefined) return `${unset} is undefined: leave it out, or say who decides`;
  const terms = approvalTerms(given);
  if (typeof terms === "string") return terms;
  const { approvers, stages = [], onTimeout, decideWithinMs, executeWithinMs } = given;
  if ([decideWithinMs, executeWithinMs, ...stages.map((one) => one.decideWithinMs)].some(isNoTime))
    return "a deadline of 0 milliseconds leaves people no time";
  if ([approvers, ...stages].some(addsNobody)) return "escalateAtHalf names no person";
  if (onTimeout === "escalate" && stages.length < 2)
    return 'onTimeout: "escalate" hands over to the next stage, and there are not two stages';
  return terms;
}

/** Who may not take a seat under a rule. */
export type SeatExclusion = (person: string, rule: ApproverRule) => boolean;

/**
 * Each required vote is a seat with its eligible people, and each person takes at most one. Without the roster, members
 * of a role or group are unknown, and such a rule counts as met.
 */
export function canBeSeated(
  rules: readonly ApproverRule[],
  without: SeatExclusion,
  roster?: RosterState,
): boolean {
  const seats = rules.flatMap((rule) => {
    const people = rule.from === null ? undefined : peopleNamed(rule.from, roster);
    const free = people?.filter((who) => !without(who, rule));
    return free === undefined ? [] : Array.from({ length: rule.quorum }, () => free);
  });
  const seated = new Map<string, number>();
  const findSeat = (seat: number, tried: Set<string>): boolean => {
    for (const person of seats[seat] ?? []) {
      if (tried.has(person)) continue;
      tried.add(person);
      const other = seated.get(person);
      if (other !== undefined && !findSeat(other, tried)) continue;
      seated.set(person, seat);
      return true;
    }
    return false;
  };
  return seats.every((_, seat) => findSeat(seat, new Set()));
}

export const TOO_FEW_PEOPLE =
  "each person decides once, and the stages together need more people than they name";

/** Why these terms can never be met; undefined if they can. */
export function whyUnmeetable(
  terms: Pick<ApprovalTerms, "approvers" | "stages">,
  requester: readonly string[],
  known: EligibilityContext = {},
): string | undefined {
  const rules = listStageRules(terms);
  for (const [index, rule] of rules.entries()) {
    const fault = whyUnsatisfiable(rule, requester, known);
    if (fault !== undefined) return rules.length === 1 ? fault : `stage ${index + 1}: ${fault}`;
  }
  const isOut: SeatExclusion = (who, rule) => excludedPeople(rule, requester, known.apart).includes(who);
  if (rules.length === 1 || canBeSeated(rules, isOut, known.roster)) return undefined;
  return TOO_FEW_PEOPLE;
}

/**
 * Input and output of a policy, and the approvers that a verdict names. Independent of the policy language. An approver
 * rule defines who has to approve; `from: null` means any person. The requester never counts. A role or group means the
 * people listed in the roster at that time. A person written by name counts in any case.
 */

import { fullDataFault } from "../../kernel/fields.ts";
import type { Json, JsonObject } from "../../kernel/json.ts";
import { peopleAmong, ROLES, type RosterState } from "../../people/stream.ts";

const EMPTY: RosterState = { suspended: [], members: new Map() };
const GROUP = /^group:[^\s/][^\n\r\t]{0,199}$/u;

const isWritten = (name: string): boolean => !/^(role|group):/.test(name);

/** Whether the roster is needed to resolve these names. */
export const namesGroups = (from: readonly string[] | null): boolean =>
  from !== null && !from.every(isWritten);

const notPeople = (name: string): string =>
  /^(agent|service):/.test(name)
    ? `${name} does not decide, only people do; name them as person:…, role:… or group:…`
    : `${name} is not a person; write person:${name}, role:… or group:…`;

/** Why a name can never match a person; undefined if it can. */
export function nameFault(name: string): string | undefined {
  if (!/^(person|role|group):/.test(name)) return notPeople(name);
  if (name.startsWith("role:") && !ROLES.some((role) => name === `role:${role}`))
    return `${name} is not a role; there are ${ROLES.join(", ")}`;
  if (name.startsWith("group:") && !GROUP.test(name)) return `${name} is not a group; write group:<name>`;
  return undefined;
}

const MOST_NAMES = 1_000;
const LONGEST_NAME = 210;

/** Checks a field that should be a list of names. */
function namesFault(field: string, names: unknown): string | undefined {
  if (!Array.isArray(names) || !names.every((name) => typeof name === "string"))
    return `${field} is not a list of people`;
  if (names.length > MOST_NAMES) return `${field} has over ${MOST_NAMES} names`;
  if (names.some(({ length }) => length > LONGEST_NAME))
    return `${field} has a name of over ${LONGEST_NAME} characters`;
  const fault = names.map(nameFault).find((one) => one !== undefined);
  return fault === undefined ? undefined : `${field}: ${fault}`;
}

/** All people that the names mean; undefined if that cannot be resolved without the roster. */
export function peopleNamed(
  names: readonly string[],
  roster: RosterState | undefined,
): readonly string[] | undefined {
  if (roster === undefined && namesGroups(names)) return undefined;
  return peopleAmong(roster ?? EMPTY, names);
}

/** Why too few of the named people are eligible, worded to follow the count. */
function tooFewText(
  names: readonly string[],
  { out, roster = EMPTY }: { readonly out: readonly string[]; readonly roster: RosterState | undefined },
): string {
  const empty = names.filter((name) => !isWritten(name) && peopleAmong(roster, [name]).length === 0);
  const apart = peopleAmong(roster, names).filter((who) => out.includes(who));
  const said = [
    ...[...new Set(empty)].map((name) => `${name} has no members`),
    ...apart.map((who) => `${who} may not decide this`),
  ];
  return said.length === 0 ? "" : `; ${said.join("; ")}`;
}

/** Who has to approve. `from: null` means any person. The requester never counts. */
export type ApproverRule = {
  readonly quorum: number;
  /** For example `person:ann`, `role:supervisor`, `group:finance`. */
  readonly from: readonly string[] | null;
  /** One rejection ends the approval. Default: true. */
  readonly veto: boolean;
  /** Additional approvers after half of the decision time. */
  readonly escalateAtHalf?: readonly string[];
  /** Interval between reminders, with or without a deadline. */
  readonly remindEveryMs?: number;
  /** Separation of duties: poster and executor of the work cannot decide, and an editor cannot be the only approver. */
  readonly separate?: boolean;
};

export const ANY_ONE_PERSON: ApproverRule = { quorum: 1, from: null, veto: true };

const EVERY_FIELD: { readonly [field in keyof ApproverRule]-?: true } = {
  ...{ quorum: true, from: true, veto: true },
  ...{ escalateAtHalf: true, remindEveryMs: true, separate: true },
};
/** Fields of an approver rule in code. */
export const APPROVER_FIELDS: readonly string[] = Object.keys(EVERY_FIELD);

/** Applies in files, over HTTP and in code. */
export const MOST_QUORUM = 1_000;

export const RISK_LEVELS = ["low", "medium", "high", "critical"] as const;
export type RiskLevel = (typeof RISK_LEVELS)[number];

/** Risk that a policy assigns to an action: the sum of the weights of the conditions that hold. */
export type Risk = {
  readonly score: number;
  readonly level: RiskLevel;
  readonly conditions: readonly string[];
  /** Digest of the document that scored; absent for a policy in code. */
  readonly document?: string;
};

/** What a shadow rule would have decided. */
export type ShadowVerdict = {
  readonly rule: string;
  readonly verdict: string;
  readonly reason: string;
  /** Digest of the document that contains the rule. */
  readonly document?: string;
};

/** Fields that every verdict can have. */
export type VerdictNotes = {
  readonly rule?: string;
  /** The highest risk, if several policies score. */
  readonly risk?: Risk;
  /** All risks, if several policies score. */
  readonly risks?: readonly Risk[];
  readonly shadow?: readonly ShadowVerdict[];
};

/** What happens when a stage's deadline passes without a decision. */
export type OnTimeout = "expire" | "escalate" | "extend";

/** One of several stages, as written in a policy. */
export type StageRule = Partial<ApproverRule> & { readonly decideWithinMs?: number };

/** Origin of a limit that no policy set: `run` if the program set it for its run, `usual` for a default. */
export const RUN_LIMITS = ["run", "usual"] as const;
export type RunLimitOf = (typeof RUN_LIMITS)[number];
/** A limit of a supervised run that would also have refused what a policy blocks. */
export type LimitBehind = { readonly of: RunLimitOf; readonly rule: string };

/** A policy's decision on an action. */
export type Verdict =
  | (VerdictNotes & { readonly verdict: "approve"; readonly reason?: string })
  | (VerdictNotes & {
      readonly verdict: "block";
      readonly reason: string;
      readonly limitOf?: RunLimitOf;
      readonly limitBehind?: LimitBehind;
    })
  | (VerdictNotes & { readonly verdict: "revise"; readonly set: JsonObject; readonly reason: string })
  | (VerdictNotes & {
      readonly verdict: "escalate";
      readonly reason?: string;
      readonly approvers?: Partial<ApproverRule>;
      /** Instead of `approvers`: each stage starts once the one before has approved. */
      readonly stages?: readonly StageRule[];
      /** Milliseconds to decide. Default: no deadline. */
      readonly decideWithinMs?: number;
      /** At a deadline: expire, go to the next stage, or extend once by the same time. Default: `expire`. */
      readonly onTimeout?: OnTimeout;
      /** Milliseconds after the decision deadline in which execution may still start. */
      readonly executeWithinMs?: number;
    });

export const PAST_STATUSES = ["waiting", "running", "applied", "in_doubt", "not_applied", "refused"] as const;

/** An earlier call of the same workflow, as a policy sees it. */
export type PastCall = {
  readonly action: string;
  readonly tool: string;
  /** The arguments as executed, or as they would be. */
  readonly args: Json;
  /** `running` and `in_doubt` calls may have taken effect, so a policy that counts must include them. */
  readonly status: (typeof PAST_STATUSES)[number];
  /** The tool's result; null unless the call was applied. */
  readonly result: Json;
  /** The workflow attempt that made the call. A rollback starts a new attempt. */
  readonly generation: number;
  /** The effect was undone. */
  readonly undone: boolean;
  readonly at: number;
};

export type PolicyInput = {
  readonly tool: string;
  readonly effectClass: string;
  readonly args: Json;
  readonly agent: string;
  readonly requester: readonly string[];
  readonly requestId: string | null;
  /** The workflow that makes the call; null outside a workflow. */
  readonly workflow: {
    readonly id: string;
    readonly name: string;
    readonly generation: number;
    /** Who posted the workflow; absent if unknown. */
    readonly poster?: string;
  } | null;
  /** Oldest first; empty outside a workflow. Loaded only for a policy that reads it. */
  readonly history: readonly PastCall[];
  readonly now: number;
};

/** More frequent reminders would only fill the journal. */
const LEAST_REMIND_MS = 60_000;
const MOST_REMIND_MS = 1e13;

function moreFault({ from, escalateAtHalf: also, remindEveryMs: every, separate }: Partial<ApproverRule>) {
  if (separate !== undefined && typeof separate !== "boolean")
    return "approvers.separate is not true or false";
  if (
    every !== undefined &&
    !(Number.isSafeInteger(every) && every >= LEAST_REMIND_MS && every <= MOST_REMIND_MS)
  )
    return `approvers.remindEveryMs is not a number of milliseconds of at least ${LEAST_REMIND_MS}`;
  if (also === undefined) return undefined;
  if (from === null) return "approvers.escalateAtHalf adds nobody where any person may decide";
  return namesFault("approvers.escalateAtHalf", also);
}

/** The complete rule, or its fault. A misspelt or undefined field is a fault: it could require fewer people. */
export function approverRule(given: unknown = {}): ApproverRule | string {
  const unread = fullDataFault("approvers", given, APPROVER_FIELDS);
  if (unread !== undefined) return unread;
  const whole = { ...ANY_ONE_PERSON, ...(given as Partial<ApproverRule>) };
  const { quorum, from, veto } = whole;
  if (typeof quorum !== "number") return "approvers.quorum is not a number";
  const fault = from === null ? undefined : namesFault("approvers.from", from);
  if (fault !== undefined) return fault;
  if (typeof veto !== "boolean") return "approvers.veto is not true or false";
  return moreFault(whole) ?? plainRule({ ...whole, quorum, from, veto });
}

/** Only fields that are set: the rule is part of what people approve. */
export function plainRule(rule: ApproverRule): ApproverRule {
  const { quorum, from, veto, escalateAtHalf, remindEveryMs, separate } = rule;
  return {
    quorum,
    from,
    veto,
    ...(escalateAtHalf === undefined || escalateAtHalf.length === 0 ? {} : { escalateAtHalf }),
    ...(remindEveryMs === undefined ? {} : { remindEveryMs }),
    ...(separate === true ? { separate } : {}),
  };
}

/** Known in addition to the requester: people excluded by separation of duties, and the roster if it is loaded. */
export type EligibilityContext = { readonly apart?: readonly string[]; readonly roster?: RosterState };

/** People whose votes do not count under a rule. */
export const excludedPeople = (
  { separate }: ApproverRule,
  requester: readonly string[],
  apart: readonly string[] = [],
): readonly string[] => (separate === true ? [...requester, ...apart] : requester);

/** Why an approver rule can never be met; undefined if it can. */
export function whyUnsatisfiable(
  rule: ApproverRule,
  requester: readonly string[],
  { apart, roster }: EligibilityContext = {},
): string | undefined {
  if (!Number.isInteger(rule.quorum) || rule.quorum < 1 || rule.quorum > MOST_QUORUM)
    return `a quorum is a whole number from 1 to ${MOST_QUORUM}`;
  if (rule.from === null) return undefined;
  const people = peopleNamed(rule.from, roster);
  if (people === undefined) return undefined;
  const out = excludedPeople(rule, requester, apart);
  const eligible = people.filter((who) => !out.includes(who));
  if (eligible.length >= rule.quorum) return undefined;
  const short = tooFewText(rule.from, { out, roster });
  const asked = rule.quorum === 1 ? "1 person is" : `${rule.quorum} people are`;
  return `${asked} asked for and ${eligible.length} of those named may vote${short}`;
}

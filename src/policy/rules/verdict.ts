/**
 * What a policy is asked and what it answers, and the approvers that an answer names. No policy language in here.
 * An approver rule says who has to agree; `from: null` means any person. The requester never counts.
 * A role or group means whoever the roster lists at that moment; a person written by name is meant in any case.
 */

import { fullDataFault } from "../../kernel/fields.ts";
import type { Json, JsonObject } from "../../kernel/json.ts";
import { peopleAmong, ROLES, type RosterState } from "../../people/stream.ts";

const EMPTY: RosterState = { suspended: [], members: new Map() };
const GROUP = /^group:[^\s/][^\n\r\t]{0,199}$/u;

const isWritten = (name: string): boolean => !/^(role|group):/.test(name);

/** Whether the roster has to be read to know who is meant. */
export const namesGroups = (from: readonly string[] | null): boolean =>
  from !== null && !from.every(isWritten);

const notPeople = (name: string): string =>
  /^(agent|service):/.test(name)
    ? `${name} does not decide, only people do; name them as person:…, role:… or group:…`
    : `${name} is not a person; write person:${name}, role:… or group:…`;

/** Why a name means nobody, ever; undefined when it may. */
export function nameFault(name: string): string | undefined {
  if (!/^(person|role|group):/.test(name)) return notPeople(name);
  if (name.startsWith("role:") && !ROLES.some((role) => name === `role:${role}`))
    return `${name} is not a role; there are ${ROLES.join(", ")}`;
  if (name.startsWith("group:") && !GROUP.test(name)) return `${name} is not a group; write group:<name>`;
  return undefined;
}

const MOST_NAMES = 1_000;
const LONGEST_NAME = 210;

/** Of a field that should be a list of names. */
function namesFault(field: string, names: unknown): string | undefined {
  if (!Array.isArray(names) || !names.every((name) => typeof name === "string"))
    return `${field} is not a list of people`;
  if (names.length > MOST_NAMES) return `${field} has over ${MOST_NAMES} names`;
  if (names.some(({ length }) => length > LONGEST_NAME))
    return `${field} has a name of over ${LONGEST_NAME} characters`;
  const fault = names.map(nameFault).find((one) => one !== undefined);
  return fault === undefined ? undefined : `${field}: ${fault}`;
}

/** Everybody who is meant; undefined where that cannot be told without the roster. */
export function peopleNamed(
  names: readonly string[],
  roster: RosterState | undefined,
): readonly string[] | undefined {
  if (roster === undefined && namesGroups(names)) return undefined;
  return peopleAmong(roster ?? EMPTY, names);
}

/** Why those who are named are too few, in words that follow the count. */
function tooFewText(
  names: readonly string[],
  { out, roster = EMPTY }: { readonly out: readonly string[]; readonly roster: RosterState | undefined },
): string {
  const empty = names.filter((name) => !isWritten(name) && peopleAmong(roster, [name]).length === 0);
  const apart = peopleAmong(roster, names).filter((who) => out.includes(who));
  const said = [
    ...[...new Set(empty)].map((name) => `nobody is in ${name}`),
    ...apart.map((who) => `${who} may not decide this`),
  ];
  return said.length === 0 ? "" : `; ${said.join("; ")}`;
}

/** Who has to agree. `from: null` means any person; the requester never counts. */
export type ApproverRule = {
  readonly quorum: number;
  /** `person:ann`, `role:supervisor`, `group:finance`. */
  readonly from: readonly string[] | null;
  /** One rejection ends it (the default). */
  readonly veto: boolean;
  /** Who may decide as well, once half of the time is over. */
  readonly escalateAtHalf?: readonly string[];
  /** People are reminded that often, with or without a deadline. */
  readonly remindEveryMs?: number;
  /** Separation of duties: nobody who posted or executes the work decides, and no editor is alone. */
  readonly separate?: boolean;
};

export const ANY_ONE_PERSON: ApproverRule = { quorum: 1, from: null, veto: true };

const EVERY_FIELD: { readonly [field in keyof ApproverRule]-?: true } = {
  ...{ quorum: true, from: true, veto: true },
  ...{ escalateAtHalf: true, remindEveryMs: true, separate: true },
};
/** The fields of an approver rule, as a program writes them. */
export const APPROVER_FIELDS: readonly string[] = Object.keys(EVERY_FIELD);

/** In files, over HTTP and in code. */
export const MOST_QUORUM = 1_000;

export const RISK_LEVELS = ["low", "medium", "high", "critical"] as const;
export type RiskLevel = (typeof RISK_LEVELS)[number];

/** How dangerous a policy thinks an action is: the sum of the weights of the conditions that hold. */
export type Risk = {
  readonly score: number;
  readonly level: RiskLevel;
  readonly conditions: readonly string[];
  /** Digest of the document that thinks so; absent where a policy in code does. */
  readonly document?: string;
};

/** What a rule on trial would have said. */
export type ShadowVerdict = {
  readonly rule: string;
  readonly verdict: string;
  readonly reason: string;
  /** Digest of the document that it stands in. */
  readonly document?: string;
};

/** What a policy adds to whatever it says. */
export type VerdictNotes = {
  readonly rule?: string;
  /** Of several policies that score, the highest. */
  readonly risk?: Risk;
  /** All of them, where several score. */
  readonly risks?: readonly Risk[];
  readonly shadow?: readonly ShadowVerdict[];
};

/** What happens to a stage that nobody decided in time. */
export type OnTimeout = "expire" | "escalate" | "extend";

/** One of several stages, as a policy writes it. */
export type StageRule = Partial<ApproverRule> & { readonly decideWithinMs?: number };

/** Whose limit it is that no policy has said: one that the program set for its run, or the usual one where nobody counts. */
export type RunLimitOf = "run" | "usual";
/** A limit of a supervised run that would have refused what a policy blocks. */
export type LimitBehind = { readonly of: RunLimitOf; readonly rule: string };

/** What a policy says of an action. */
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
      /** Instead of `approvers`: each is asked once the one before has agreed. */
      readonly stages?: readonly StageRule[];
      /** Milliseconds people have to decide; absent: it never expires. */
      readonly decideWithinMs?: number;
      /** At a deadline: it expires unless set; or the next stage is asked; or there is as much time again, once. */
      readonly onTimeout?: OnTimeout;
      /** Milliseconds after that in which it may still start. */
      readonly executeWithinMs?: number;
    });

export const PAST_STATUSES = ["waiting", "running", "applied", "in_doubt", "not_applied", "refused"] as const;

/** A call that the same workflow made before, as a policy sees it. */
export type PastCall = {
  readonly action: string;
  readonly tool: string;
  /** As they ran, or would run. */
  readonly args: Json;
  /** `running` and `in_doubt` may have happened: whoever counts has to count them. */
  readonly status: (typeof PAST_STATUSES)[number];
  /** What the tool returned; null unless it was applied. */
  readonly result: Json;
  /** The attempt of the workflow that made it; a rollback begins another. */
  readonly generation: number;
  /** Its effect was taken back. */
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
  /** The workflow that makes the call; null outside of one. */
  readonly workflow: {
    readonly id: string;
    readonly name: string;
    readonly generation: number;
    /** Who posted it; nobody where it is not known. */
    readonly poster?: string;
  } | null;
  /** Oldest first; empty outside of a workflow. It is read only for a policy that looks at it. */
  readonly history: readonly PastCall[];
  readonly now: number;
};

/** More often would only fill the journal. */
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

/** The rule in full; or the fault in it. A field that is misspelt or undefined is a fault: it would ask fewer people. */
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

/** Only what is said stands in the rule: it is part of what people approve. */
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

/** What is known beside the requester: whom separation of duties leaves out, and the roster where it is at hand. */
export type EligibilityContext = { readonly apart?: readonly string[]; readonly roster?: RosterState };

/** Who is not to be counted under a rule. */
export const excludedPeople = (
  { separate }: ApproverRule,
  requester: readonly string[],
  apart: readonly string[] = [],
): readonly string[] => (separate === true ? [...requester, ...apart] : requester);

/** Why an approver rule can never be met, or undefined when it can. */
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

/**
 * What the oracle knows of a journal, its workflows and the stages of its approvals: gathered from raw events alone,
 * without the production code's folds or rules.
 */

import type { ApprovalQuestion } from "../../../src/approvals/state.ts";
import type { Grant, ReservedCost, Within } from "../../../src/effects/state.ts";
import type { GrantTerms } from "../../../src/grants/stream.ts";
import type { Json, JsonObject } from "../../../src/kernel/json.ts";
import type { RollbackReport, Wait } from "../../../src/workflows/events.ts";
import { fail, type Sim, type SimProcess } from "../sim.ts";

export type SeenCall = {
  readonly op: string;
  readonly action: string;
  readonly tool: string;
  readonly seq: number;
  /** Undone by itself when the workflow fails. */
  readonly rollback: boolean;
};

export type SeenUndo = { readonly action: string; status: "open" | "undone" | "not_undone" };

/** An answer that a definition is to hear: which operation, and what it was told. */
type SettledAnswer = {
  readonly key: string;
  readonly op: string;
  readonly seq: number;
  readonly what: string;
};

type Opened = {
  readonly op: string;
  readonly kind: string;
  readonly seq: number;
  readonly body: JsonObject;
};

type SeenRollback = {
  readonly toSeq: number;
  readonly scope: string;
  readonly after: string;
};

export type SeenFlow = {
  readonly id: string;
  readonly name: string;
  readonly parent: { readonly workflow: string; readonly op: string } | null;
  readonly onIrreversible: string;
  status: string;
  runner: string | null;
  /** Nobody runs it and somebody should. */
  isReady: boolean;
  generation: number;
  pending: { readonly op: string; readonly approval: string } | null;
  /** In the order of the journal, without what a rollback went back over. */
  calls: SeenCall[];
  opened: Map<string, Opened>;
  /** What each generation's definition hears, in order. */
  readonly settled: Map<number, SettledAnswer[]>;
  rollback: SeenRollback | null;
  /** Undone on the way back to a checkpoint, and no longer there. */
  readonly gone: Set<string>;
  /** Every question that it ever asked. */
  readonly asked: Set<string>;
  waits: readonly Wait[];
  wakeAt: number | null;
  end: { readonly status: "completed" | "failed"; readonly report: RollbackReport | null } | null;
};

/** `workflow/generation/branch/name#occurrence` without its first two parts. */
export const operationKey = (op: string): string => op.split("/").slice(2).join("/");
export const generationOf = (op: string): number => Number(op.split("/")[1]);

export type Event = {
  readonly tenant: string;
  readonly stream: string;
  /** The stream's id, without its kind. */
  readonly id: string;
  readonly type: string;
  readonly at: number;
  readonly seq: number;
  readonly body: JsonObject;
};

export type Phase = "open" | "waiting" | "running" | "applied" | "not_applied" | "in_doubt" | "refused";

export type SeenAction = {
  readonly id: string;
  readonly tool: string;
  readonly effectClass: string;
  readonly schema: string;
  readonly agent: string;
  readonly requester: readonly string[];
  readonly requestId: string | null;
  /** The place in a workflow, if it has one. */
  readonly within: Within | null;
  readonly proposedAt: number;
  args: Json;
  argsDigest: string;
  phase: Phase;
  held: string | null;
  approval: string | null;
  verdict: { readonly verdict: string; readonly policy: string } | null;
  epoch: string;
  attempt: number;
  startedAt: number;
  doubtAt: number;
  executeBy: number | null;
  costs: readonly ReservedCost[];
  grant: Grant | null;
};

/** `cast`: the stage that was asked when it was cast. */
export type SeenVote = {
  readonly by: string;
  readonly decision: string;
  readonly binding: string;
  readonly cast: number;
};

type SeenHand = { readonly by: string; readonly to: string; readonly stage: number };

export type SeenApproval = {
  question: ApprovalQuestion;
  status: string;
  votes: SeenVote[];
  edited: boolean;
  decisions: number;
  /** When it was decided, in true milliseconds. */
  decidedAt: number;
  /** When it was asked, or asked again. */
  begunAt: number;
  stage: number;
  deadline: number | null;
  executeBy: number | null;
  handedOver: Set<number>;
  /** Stages that were given more time by themselves. */
  extended: Set<number>;
  /** When the stage began, or was last given time. */
  since: number;
  /** Stages whose half time was recorded. */
  widened: Set<number>;
  /** Seats that are handed over. */
  hands: SeenHand[];
  remindedAt: number;
};

export type SeenGrant = {
  readonly terms: GrantTerms;
  /** Micros by effect, of uses that count. */
  readonly used: Map<string, bigint>;
  revoked: boolean;
};

export type SeenBudget = {
  limit: bigint | null;
  spent: bigint;
  readonly reserved: Map<string, bigint>;
};

export type SeenTenant = {
  readonly name: string;
  readonly heads: Map<string, { readonly seq: number; readonly hash: string; readonly at: number }>;
  readonly actions: Map<string, SeenAction>;
  readonly approvals: Map<string, SeenApproval>;
  readonly budgets: Map<string, SeenBudget>;
  readonly grants: Map<string, SeenGrant>;
  readonly stopped: Set<string>;
  readonly suspended: Set<string>;
  /** By person: roles and groups, as approver rules name them. */
  readonly places: Map<string, readonly string[]>;
  readonly epochs: Map<string, { readonly life: SimProcess; ended: boolean }>;
  readonly requests: Map<string, string>;
  readonly flows: Map<string, SeenFlow>;
  /** Compensations by what they undo: a parent's may have been its child's before. */
  readonly undos: Map<string, SeenUndo[]>;
  /** The last word that each request id got. */
  readonly answers: Map<string, string>;
  logged: number;
};

/** One commit: all of its events, and who made it. */
export type Commit = {
  readonly sim: Sim;
  readonly seen: SeenTenant;
  readonly life: SimProcess;
  readonly events: readonly Event[];
};

export const emptyTenant = (name: string): SeenTenant => ({
  name,
  heads: new Map(),
  actions: new Map(),
  approvals: new Map(),
  budgets: new Map(),
  grants: new Map(),
  stopped: new Set(),
  suspended: new Set(),
  places: new Map(),
  epochs: new Map(),
  requests: new Map(),
  flows: new Map(),
  undos: new Map(),
  answers: new Map(),
  logged: 0,
});

/** Invariants are named as in `architecture.md` section 6. */
export function expect(commit: Pick<Commit, "sim">, holds: boolean, invariant: string, what: string): void {
  if (!holds) fail(commit.sim, invariant, what);
}

export const text = (value: Json | undefined): string => String(value);

export function has(commit: Commit, type: string, stream: string): Event | undefined {
  return commit.events.find((event) => event.type === type && event.stream === stream);
}

export const micros = (value: Json | undefined): bigint => BigInt(text(value ?? "0"));

type SeenRule = {
  readonly quorum: number;
  readonly from: readonly string[] | null;
  readonly veto: boolean;
  readonly escalateAtHalf?: readonly string[];
};

export const rulesOf = ({ stages, approvers }: ApprovalQuestion): readonly SeenRule[] =>
  stages ?? [approvers];

export const ruleNow = ({ question, stage }: SeenApproval): SeenRule =>
  rulesOf(question)[stage - 1] ?? question.approvers;

export function lengthOf({ question, begunAt }: SeenApproval, stage: number): number | null {
  const { stages, decideBy } = question;
  if (stages !== undefined) return stages[stage - 1]?.decideWithinMs ?? null;
  return decideBy === null ? null : decideBy - begunAt;
}

const isMeant = ({ places }: SeenTenant, person: string, names: readonly string[]): boolean =>
  names.includes(person) || (places.get(person) ?? []).some((place) => names.includes(place));

/** Never, whoever hands over what. */
export function isBarred({ question }: SeenApproval, seen: SeenTenant, person: string): boolean {
  return !person.startsWith("person:") || question.requester.includes(person) || seen.suspended.has(person);
}

/** In their own right, or in the place of somebody who could; and not handed on. */
export function mayDecide(
  approval: SeenApproval,
  seen: SeenTenant,
  person: string,
  stage = approval.stage,
): boolean {
  const { from, escalateAtHalf = [] } = rulesOf(approval.question)[stage - 1] ?? approval.question.approvers;
  const names = from === null ? null : [...from, ...(approval.widened.has(stage) ? escalateAtHalf : [])];
  const hands = approval.hands.filter((one) => one.stage === stage);
  const isSeated = (who: string): boolean =>
    !isBarred(approval, seen, who) &&
    (names === null || isMeant(seen, who, names) || hands.some(({ by, to }) => to === who && isSeated(by)));
  return !hands.some(({ by }) => by === person) && isSeated(person);
}

/** Distinct eligible people who approved, in that stage, exactly what the binding says. */
export function approversInStage(
  approval: SeenApproval,
  seen: SeenTenant,
  stage: number,
): ReadonlySet<string> {
  const { binding } = approval.question;
  const people = new Set<string>();
  for (const vote of approval.votes) {
    const counts = vote.decision === "approve" && vote.binding === binding && vote.cast === stage;
    if (counts && mayDecide(approval, seen, vote.by, stage)) people.add(vote.by);
  }
  return people;
}

const counting = (approval: SeenApproval): readonly number[] =>
  rulesOf(approval.question)
    .map((_, index) => index + 1)
    .filter((stage) => !approval.handedOver.has(stage));

export function approversStanding(approval: SeenApproval, seen: SeenTenant): ReadonlySet<string> {
  return new Set(counting(approval).flatMap((stage) => [...approversInStage(approval, seen, stage)]));
}

/** The first stage that counts and lacks people. */
export function lacking(approval: SeenApproval, seen: SeenTenant): number | undefined {
  const rules = rulesOf(approval.question);
  return counting(approval).find(
    (stage) =>
      approversInStage(approval, seen, stage).size < (rules[stage - 1]?.quorum ?? Number.POSITIVE_INFINITY),
  );
}

export const wantedBy = (approval: SeenApproval): number =>
  counting(approval).reduce((sum, stage) => sum + (rulesOf(approval.question)[stage - 1]?.quorum ?? 0), 0);

/** Pending, and rightly so: nothing that stands decides the present stage. */
export function isOpen(approval: SeenApproval | undefined, seen: SeenTenant): boolean {
  if (approval?.status !== "pending") return false;
  const isMet = approversInStage(approval, seen, approval.stage).size >= ruleNow(approval).quorum;
  const isLast = approval.stage >= rulesOf(approval.question).length;
  return !isMet || (isLast && lacking(approval, seen) !== undefined);
}

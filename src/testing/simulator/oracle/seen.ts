/** What the oracle knows of a journal: gathered from raw events, without the production code's folds or rules. */

import type { ApprovalQuestion } from "../../../approvals/state.ts";
import type { Grant, ReservedCost } from "../../../core/action/events.ts";
import type { Within } from "../../../core/action/within.ts";
import type { GrantTerms } from "../../../grants/stream.ts";
import type { Json, JsonObject } from "../../../kernel/json.ts";
import { fail, type Life, type Sim } from "../sim.ts";
import type { SeenFlow, SeenUndo } from "./seen-flow.ts";

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

export type SeenHand = { readonly by: string; readonly to: string; readonly stage: number };

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
  readonly epochs: Map<string, { readonly life: Life; ended: boolean }>;
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
  readonly life: Life;
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

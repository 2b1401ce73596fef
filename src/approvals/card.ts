/**
 * The card: everything that somebody sees before they decide, made from what the journal holds.
 *
 * K1. Nothing is written, and nobody's words stand for what will run: a heading is Holdpoint's, the rest are facts.
 * K2. What it says of the approval, of who may decide and of what is asked about is of one moment.
 */
import type { LiveAction } from "../core/action/state.ts";
import { type Draft, isNeed, type Need } from "../core/draft.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { Money } from "../core/money.ts";
import type { RosterState } from "../core/roster.ts";
import {
  actionStream,
  approvalStream,
  budgetStream,
  ROSTER,
  type StreamRef,
  workflowStream,
} from "../core/stream.ts";
import type { StateOf } from "../core/streams.ts";
import type { Risk } from "../core/verdict.ts";
import { unlessGone } from "../engine/message/shown.ts";
import { loadArtifact, loadValue, readState } from "../engine/read-state.ts";
import { rehearse } from "../engine/rehearse.ts";
import type { Runtime } from "../engine/runtime.ts";
import { openedSnapshot } from "../engine/workflow/operate-workflows.ts";
import { type AgentHistory, agentHistory, type CardReview, reviewsOf } from "./card-history.ts";
import {
  type AroundIt,
  doneIn,
  knownUndo,
  NOTHING_AROUND,
  type Rejecting,
  readSoFar,
  rejectingOf,
  type WorkflowAround,
} from "./card-workflow.ts";
import type { Approval } from "./contract.ts";
import { approvalInFull, unknownApproval } from "./decide.ts";
import {
  asksToConfirm,
  effectWords,
  endsByYou,
  headingOf,
  isIrreversible,
  isWholeInRow,
  type KnownUndo,
  type Move,
  movesOf,
  SUBJECT_WORDS,
  type ToBatch,
  type Voter,
  votersOf,
  whyAlone,
  whyRejectAlone,
  type YourStanding,
  yourStanding,
} from "./rules/card.ts";
import { withAction } from "./rules/end.ts";
import { passTime } from "./rules/time.ts";
import { aboutOf, type LiveApproval, stageRules } from "./state.ts";

export type Card = {
  readonly approval: Approval;
  readonly heading: string;
  readonly effectWords: string;
  readonly isIrreversible: boolean;
  /** What a person types before they approve; null where nothing is. */
  readonly confirm: string | null;
  readonly inputSchema: Json;
  readonly proposedArgs: Json;
  /** Of an action: what policy said of it, oldest first. */
  readonly reviews: readonly CardReview[];
  /** Of what would run: the latest of the reviews. */
  readonly risk: Risk | null;
  /** Of what would run, by budget. */
  readonly costs: readonly CardCost[];
  readonly history: AgentHistory | null;
  readonly workflow: WorkflowAround | null;
  readonly rejecting: Rejecting | null;
  readonly snapshot: JsonObject | null;
  /** In a list, together with others: whoever looks. */
  readonly inRow: InRow;
  readonly you: You;
  readonly voters: readonly Voter[];
};

/** What keeps it from being approved, or rejected, together with others; whether a row shows all that it is about. */
export type InRow = {
  readonly whyAlone: string | null;
  readonly whyRejectAlone: string | null;
  readonly isWhole: boolean;
};

export type You = YourStanding & {
  readonly moves: readonly Move[];
  readonly mayBatch: boolean;
  readonly rejectionEnds: boolean | null;
};

/** Who looks: null where nobody is authenticated; whether what they show is good for deciding. */
export type Looker = { readonly principal: string | null; readonly mayDecide: boolean };

function yours(facts: CardFacts, { mayDecide }: Looker, { whyAlone: alone }: InRow): You {
  const { you, moves, rejectionEnds } = facts;
  if (mayDecide)
    return { ...you, moves, mayBatch: moves.includes("approve") && alone === null, rejectionEnds };
  const none = { moves: [], mayBatch: false, rejectionEnds: null };
  if (!you.mayDecide) return { ...you, ...none };
  return { ...you, ...none, mayDecide: false, whyNot: "what you are logged in with is not for deciding" };
}

/** Not every tool says what it takes, and what does not cannot be kept. */
async function schemaOf(runtime: Runtime, { subject, schema, answerSchema }: Approval): Promise<Json> {
  if (subject !== undefined) return answerSchema ?? null;
  const bytes = await runtime.store.artifact(runtime.tenant, schema);
  return bytes === undefined ? null : loadArtifact(runtime, schema);
}

type ActionPart = Pick<
  Card,
  "effectWords" | "isIrreversible" | "confirm" | "reviews" | "risk" | "costs" | "history"
>;

async function ofAction(
  runtime: Runtime,
  approval: Approval,
  state: LiveAction,
  undo: KnownUndo,
): Promise<ActionPart> {
  const reviews = await reviewsOf(runtime, approval.id, approval);
  const risk = reviews.at(-1)?.risk ?? null;
  const isFinal = isIrreversible(undo);
  const isTyped = asksToConfirm({ isIrreversible: isFinal, risk, rules: stageRules(approval) });
  return {
    effectWords: effectWords(state.effectClass, undo),
    isIrreversible: isFinal,
    confirm: isTyped ? approval.tool : null,
    ...{ reviews, risk, costs: await costsIn(runtime, reviews.at(-1)) },
    history: await agentHistory(runtime, { ...state, action: approval.action, at: approval.requestedAt }),
  };
}

function ofSubject({ subject }: Approval): ActionPart {
  const words = subject === undefined ? "" : SUBJECT_WORDS[subject.kind];
  const none = { confirm: null, reviews: [], risk: null, costs: [], history: null };
  return { effectWords: words, isIrreversible: false, ...none };
}

function inRowOf(approval: Approval, part: ActionPart, proposed: Json): InRow {
  const { subject, args, says, preview, undo, edited, comments } = approval;
  const it: ToBatch = {
    ...{ about: subject?.kind ?? "action", args, says },
    ...{ isIrreversible: part.isIrreversible, isTyped: part.confirm !== null },
    ...{ hasPreview: preview !== undefined, hasUndo: undo !== undefined },
    ...{ isChanged: edited || proposed !== null, hasComments: comments.length > 0 },
  };
  return { whyAlone: whyAlone(it), whyRejectAlone: whyRejectAlone(it), isWhole: isWholeInRow(it) };
}

async function aroundIt(runtime: Runtime, id: string, facts: CardFacts): Promise<AroundIt> {
  const { workflow, workflowId, now } = facts;
  if (workflow.status === "none" || workflowId === null) return NOTHING_AROUND;
  const asked = { approval: id, action: now.action, at: now.requestedAt };
  const soFar = await readSoFar(runtime, workflowId, asked);
  const done = await doneIn(runtime, soFar, asked);
  const { checkpoint } = soFar;
  const snapshot = checkpoint && (await unlessGone(openedSnapshot(runtime, checkpoint.snapshot)));
  return {
    workflow: { id: workflowId, state: workflow, ...done },
    rejecting:
      checkpoint === undefined || now.status !== "pending" ? null : rejectingOf(workflow, checkpoint, done),
    snapshot: snapshot ?? null,
    call: soFar.calls.get(now.action)?.undo,
  };
}

export async function cardOf(runtime: Runtime, id: string, looker: Looker): Promise<Card> {
  const facts = await cardFacts(runtime, id, looker.principal);
  const { now, roster } = facts;
  const state = facts.action.phase === "none" ? null : facts.action;
  const approval = await approvalInFull(runtime, id, facts.approval);
  const { call, workflow, rejecting, snapshot } = await aroundIt(runtime, id, facts);
  const part =
    state === null
      ? ofSubject(approval)
      : await ofAction(runtime, approval, state, knownUndo(runtime, state, call));
  const proposed = await proposedArgs(runtime, id, facts.approval, state);
  const inRow = inRowOf(approval, part, proposed);
  return {
    approval,
    heading: headingOf(approval),
    ...part,
    inputSchema: await schemaOf(runtime, approval),
    proposedArgs: proposed,
    ...{ workflow, rejecting, snapshot },
    inRow,
    you: yours(facts, looker, inRow),
    voters: votersOf(now, roster),
  };
}

/** What a card is made of that has to be of one moment: the approval, what it is about, and the list of people. */

export type CardFacts = {
  /** As it is recorded. */
  readonly approval: LiveApproval;
  /** With whatever the time that passed has brought about. */
  readonly now: LiveApproval;
  readonly roster: RosterState;
  /** Of an approval about an action. */
  readonly action: StateOf<"action">;
  /** In which it is asked. */
  readonly workflow: StateOf<"workflow">;
  readonly workflowId: string | null;
  readonly you: YourStanding;
  /** Whether it is over once they reject it; null where that is not known. */
  readonly rejectionEnds: boolean | null;
  readonly moves: readonly Move[];
};

const SOMEBODY = "person:somebody";
const ANYBODY: YourStanding = { mayDecide: true, whyNot: null, vote: null };

/** Where nobody is authenticated, it could be anybody. */
const standingOf = (approval: LiveApproval, roster: RosterState, who: string | null): YourStanding =>
  who === null && approval.status === "pending" ? ANYBODY : yourStanding(approval, roster, who ?? SOMEBODY);

const NO_ACTION = { phase: "none" } as const;
const NO_WORKFLOW = { status: "none" } as const;

function workflowIn({ subject }: LiveApproval, action: CardFacts["action"]): string | null {
  if (subject !== undefined) return subject.kind === "intent" ? null : subject.workflow;
  return action.phase === "none" ? null : (action.within?.workflow ?? null);
}

type Looked = { readonly id: string; readonly who: string | null };

function look(draft: Draft, { id, who }: Looked): Need | CardFacts | { readonly status: "none" } {
  const approval = withAction(draft, id);
  if (isNeed(approval) || approval.status === "none") return approval;
  const action = aboutOf(approval).kind === "action" ? draft.state(actionStream(approval.action)) : NO_ACTION;
  const workflowId = workflowIn(approval, action);
  const more = draft.need({ read: [ROSTER, ...(workflowId === null ? [] : [workflowStream(workflowId)])] });
  if (more !== undefined) return more;
  const workflow = workflowId === null ? NO_WORKFLOW : draft.state(workflowStream(workflowId));
  const now = passTime(draft, id);
  const roster = draft.state(ROSTER);
  const you = standingOf(now, roster, who);
  const moves = movesOf(draft, now, who, you);
  if ("kind" in moves) return moves;
  const rejectionEnds = endsByYou(now, roster, who, you);
  return { approval, now, roster, action, workflow, workflowId, you, rejectionEnds, moves };
}

/** `who` looks: null where nobody is authenticated. */
export async function cardFacts(runtime: Runtime, id: string, who: string | null): Promise<CardFacts> {
  const needs = { read: [approvalStream(id), ROSTER] };
  const { answer } = await rehearse(runtime, needs, (draft) => look(draft, { id, who }));
  if ("status" in answer) throw unknownApproval(id);
  return answer;
}

/** What was asked for at first, where it was changed since. */

type Place = Pick<Runtime, "store" | "tenant">;

/** Of the first entry; null where that was erased. */
async function firstArgs(place: Place, ref: StreamRef): Promise<Json> {
  const [first] = await place.store.read(place.tenant, ref, { fromSeq: 1, limit: 1 });
  if (first?.body == null) return null;
  return loadValue(place, (JSON.parse(first.body) as JsonObject)["args"] ?? null);
}

/** By policy or by people: an approval that was asked after the policy's change knows only that. */
export async function proposedArgs(
  place: Place,
  id: string,
  { edited, action, argsDigest }: LiveApproval,
  state: LiveAction | null,
): Promise<Json> {
  if (state === null) return edited ? firstArgs(place, approvalStream(id)) : null;
  return state.proposedDigest === argsDigest ? null : firstArgs(place, actionStream(action));
}

/** What it would cost, and what is left of each budget now. */

export type CardCost = {
  readonly budget: string;
  readonly amount: Money;
  /** Null where the budget was never opened, or is in another currency: it could not start. */
  readonly left: Money | null;
};

async function leftOf(place: Place, budget: string, currency: string): Promise<Money | null> {
  const { limit, spent, reserved } = await readState(place, budgetStream(budget));
  if (limit?.currency !== currency) return null;
  return { currency, micros: limit.micros - spent - reserved };
}

export function costsIn(
  place: Place,
  review: Pick<CardReview, "costs"> | undefined,
): Promise<readonly CardCost[]> {
  const costs = review?.costs ?? [];
  return Promise.all(
    costs.map(async ({ budget, ...cost }) => ({
      budget,
      amount: { currency: cost.currency, micros: BigInt(cost.micros) },
      left: await leftOf(place, budget, cost.currency),
    })),
  );
}

/**
 * The card: everything that somebody sees before they decide, made from what the journal holds.
 *
 * K1. Nothing is written, and nobody's words stand for what will run: a heading is Holdpoint's, the rest are facts.
 * K2. What it says of the approval, of who may decide and of what is asked about is of one moment.
 */
import type { LiveAction } from "../../core/action/state.ts";
import { stageRules } from "../../core/approval/rule-in.ts";
import { isWholeInRow, type ToBatch, whyAlone, whyRejectAlone } from "../../core/card/batch.ts";
import { asksToConfirm } from "../../core/card/confirm.ts";
import { effectWords, isIrreversible, type KnownUndo } from "../../core/card/effect-words.ts";
import { headingOf, SUBJECT_WORDS } from "../../core/card/heading.ts";
import type { Move } from "../../core/card/moves.ts";
import { type Voter, votersOf } from "../../core/card/voters.ts";
import type { YourStanding } from "../../core/card/your-standing.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { Risk } from "../../core/verdict.ts";
import { type Approval, approvalInFull } from "../approvals.ts";
import { unlessGone } from "../message/shown.ts";
import { loadArtifact } from "../read-state.ts";
import type { Runtime } from "../runtime.ts";
import { openedSnapshot } from "../workflow/operate-workflows.ts";
import { type AgentHistory, agentHistory } from "./agent-history.ts";
import { type AroundIt, NOTHING_AROUND, type Rejecting, rejectingOf, type WorkflowAround } from "./around.ts";
import { type CardCost, costsIn } from "./costs.ts";
import { type CardFacts, cardFacts } from "./facts.ts";
import { knownUndo } from "./known-undo.ts";
import { proposedArgs } from "./proposed.ts";
import { type CardReview, reviewsOf } from "./reviews.ts";
import { doneIn, readSoFar } from "./workflow-so-far.ts";

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

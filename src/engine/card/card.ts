/**
 * The card: everything that somebody sees before they decide, made from what the journal holds.
 *
 * K1. Nothing is written, and nobody's words stand for what will run: a heading is Holdpoint's, the rest are facts.
 * K2. What it says of the approval, of who may decide and of what is asked about is of one moment.
 */
import type { LiveAction } from "../../core/action/state.ts";
import { stageRules } from "../../core/approval/rule-in.ts";
import { whyAlone } from "../../core/card/batch.ts";
import { asksToConfirm } from "../../core/card/confirm.ts";
import { effectWords, isIrreversible, type KnownUndo } from "../../core/card/effect-words.ts";
import { headingOf, SUBJECT_WORDS } from "../../core/card/heading.ts";
import type { Move } from "../../core/card/moves.ts";
import { type Voter, votersOf } from "../../core/card/voters.ts";
import type { YourStanding } from "../../core/card/your-standing.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { Risk } from "../../core/verdict.ts";
import { type Approval, approvalInFull } from "../approvals.ts";
import { snapshotIn } from "../message/shown.ts";
import { loadArtifact } from "../read-state.ts";
import type { Runtime } from "../runtime.ts";
import { type AgentHistory, agentHistory } from "./agent-history.ts";
import { type AroundIt, NOTHING_AROUND, type Rejecting, rejectingOf, type WorkflowAround } from "./around.ts";
import { type CardFacts, cardFacts } from "./facts.ts";
import { knownUndo } from "./known-undo.ts";
import { policyNameOf } from "./policy-name.ts";
import { proposedArgs } from "./proposed.ts";
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
  readonly policyName: string | null;
  readonly risk: Risk | null;
  readonly history: AgentHistory | null;
  readonly workflow: WorkflowAround | null;
  readonly rejecting: Rejecting | null;
  readonly snapshot: JsonObject | null;
  /** What keeps it from being approved together with others, whoever looks. */
  readonly whyAlone: string | null;
  readonly you: You;
  readonly voters: readonly Voter[];
  readonly comments: Approval["comments"];
};

export type You = YourStanding & { readonly moves: readonly Move[]; readonly mayBatch: boolean };

/** Who looks: null where nobody is authenticated; whether what they show is good for deciding. */
export type Looker = { readonly principal: string | null; readonly mayDecide: boolean };

function yours({ you, moves }: CardFacts, { mayDecide }: Looker, alone: string | null): You {
  if (mayDecide) return { ...you, moves, mayBatch: moves.includes("approve") && alone === null };
  const none = { moves: [], mayBatch: false };
  if (!you.mayDecide) return { ...you, ...none };
  return { ...you, ...none, mayDecide: false, whyNot: "what you are logged in with is not for deciding" };
}

/** Not every tool says what it takes, and what does not cannot be kept. */
async function schemaOf(runtime: Runtime, { subject, schema, answerSchema }: Approval): Promise<Json> {
  if (subject !== undefined) return answerSchema ?? null;
  const bytes = await runtime.store.artifact(runtime.tenant, schema);
  return bytes === undefined ? null : loadArtifact(runtime, schema);
}

type ActionPart = Pick<Card, "effectWords" | "isIrreversible" | "confirm" | "risk" | "history">;

async function ofAction(
  runtime: Runtime,
  { action: id, ...approval }: Approval,
  state: LiveAction,
  undo: KnownUndo,
): Promise<ActionPart> {
  const risk = state.review?.risk ?? null;
  const isFinal = isIrreversible(undo);
  const isTyped = asksToConfirm({ isIrreversible: isFinal, risk, rules: stageRules(approval) });
  return {
    effectWords: effectWords(state.effectClass, undo),
    isIrreversible: isFinal,
    confirm: isTyped ? approval.tool : null,
    risk,
    history: await agentHistory(runtime, { ...state, action: id }),
  };
}

function ofSubject({ subject }: Approval): ActionPart {
  const words = subject === undefined ? "" : SUBJECT_WORDS[subject.kind];
  return { effectWords: words, isIrreversible: false, confirm: null, risk: null, history: null };
}

const aloneOf = (approval: Approval, { isIrreversible: isFinal, confirm }: ActionPart): string | null =>
  whyAlone({
    ...{ about: approval.subject?.kind ?? "action", isIrreversible: isFinal, isTyped: confirm !== null },
    ...{ hasPreview: approval.preview !== undefined, hasUndo: approval.undo !== undefined },
    ...{ args: approval.args, says: approval.says },
  });

async function aroundIt(runtime: Runtime, id: string, facts: CardFacts): Promise<AroundIt> {
  const { workflow, workflowId, now } = facts;
  if (workflow.status === "none" || workflowId === null) return NOTHING_AROUND;
  const soFar = await readSoFar(runtime, workflowId, id);
  const done = await doneIn(runtime, soFar, now.action);
  const { checkpoint } = soFar;
  const name = checkpoint?.snapshot.id;
  const snapshot = name === undefined ? undefined : await snapshotIn(runtime, workflowId, name);
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
  const alone = aloneOf(approval, part);
  return {
    approval,
    heading: headingOf(approval),
    ...part,
    inputSchema: await schemaOf(runtime, approval),
    proposedArgs: await proposedArgs(runtime, id, facts.approval, state),
    policyName: state === null ? null : await policyNameOf(runtime, approval),
    ...{ workflow, rejecting, snapshot },
    whyAlone: alone,
    you: yours(facts, looker, alone),
    voters: votersOf(now, roster),
    comments: approval.comments,
  };
}

/**
 * The card: everything a person sees before deciding, built from the journal.
 *
 * - Nothing is written. No party's words replace what will run: the heading is Holdpoint's, the rest are facts.
 * - The approval, who may decide, and what is asked about come from one snapshot.
 */

import { getAction, getReceipt } from "../effects/actions.ts";
import type { LiveAction } from "../effects/state.ts";
import { digestOf } from "../kernel/canonical-json.ts";
import type { Json, JsonObject } from "../kernel/json.ts";
import { moneyFromJson } from "../kernel/money.ts";
import { actionStream, approvalStream, budgetStream, ROSTER, workflowStream } from "../kernel/stream.ts";
import type { CardDocument, CardFields, RichText } from "../kernel/terminal.ts";
import { type Draft, isNeed } from "../kernel/transaction.ts";
import type { RosterState } from "../people/stream.ts";
import { dryRun } from "../runtime/dry-run.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { loadArtifact, loadValue, readState } from "../runtime/store-access.ts";
import type { TenantStore } from "../stores/store.ts";
import type { CallUndo } from "../workflows/events.ts";
import {
  type ActionFacts,
  type ApprovalFacts,
  actionDocument,
  approvalParts,
  type CardContext,
  type DocumentParts,
  OWN_TONES,
  PARTS,
} from "./card-document.ts";
import { policyNamesFor, readHistory, readReviews } from "./card-history.ts";
import { approvalWire, type Card, cardCodec, type ReadCard } from "./card-schema.ts";
import { knownUndo, readWorkflow } from "./card-workflow.ts";
import { describeApproval, type LoadedApproval, unknownApproval, withValues } from "./read.ts";
import {
  asksToConfirm,
  effectWords,
  endsByYou,
  headingOf,
  isIrreversible,
  isWholeInRow,
  movesOf,
  SUBJECT_WORDS,
  votersOf,
  whyAlone,
  whyRejectAlone,
  type YourStanding,
  yourStanding,
} from "./rules/card.ts";
import { passTime } from "./rules/deadline.ts";
import { withAction } from "./rules/subject.ts";
import { aboutOf, type LiveApproval, stageRules } from "./state.ts";

/** The reader of a card. `principal`: null without authentication. `mayDecide`: their credential permits deciding. */
type Looker = { readonly principal: string | null; readonly mayDecide: boolean };

const SOMEBODY = "person:somebody";
const ANYBODY: YourStanding = { mayDecide: true, whyNot: null, vote: null };

/** Without authentication, the reader could be any person. */
const standingFor = (approval: LiveApproval, roster: RosterState, who: string | null): YourStanding =>
  who === null && approval.status === "pending" ? ANYBODY : yourStanding(approval, roster, who ?? SOMEBODY);

function workflowIn({ subject }: LiveApproval, action: LiveAction | null): string | null {
  if (subject !== undefined) return subject.kind === "intent" ? null : subject.workflow;
  return action?.within?.workflow ?? null;
}

/** What must come from one snapshot: the approval, its subject, and the roster. */
function look(draft: Draft, id: string, who: string | null) {
  const recorded = withAction(draft, id);
  if (isNeed(recorded) || recorded.status === "none") return recorded;
  const about = aboutOf(recorded).kind === "action" ? draft.state(actionStream(recorded.action)) : null;
  const action = about?.phase === "none" ? null : about;
  const within = workflowIn(recorded, action);
  const more = draft.need({ read: [ROSTER, ...(within === null ? [] : [workflowStream(within)])] });
  if (more !== undefined) return more;
  const state = within === null ? null : draft.state(workflowStream(within));
  // With the consequences of deadlines that have passed.
  const approval = passTime(draft, id);
  const roster = draft.state(ROSTER);
  const you = standingFor(approval, roster, who);
  const may = movesOf(draft, approval, who, you);
  if (isNeed(may)) return may;
  const rejectionEnds = endsByYou(approval, roster, who, you);
  return {
    recorded,
    action,
    asked: { id, approval, workflow: within, state },
    you: { ...you, may, rejectionEnds },
    voters: votersOf(approval, roster),
  };
}

/** Not every tool has an input schema; one without has none in the journal. */
async function readInputSchema(
  place: TenantStore,
  { subject, schema, answerSchema }: LoadedApproval,
): Promise<Json> {
  if (subject !== undefined) return answerSchema ?? null;
  const bytes = await place.store.artifact(place.tenant, schema);
  return bytes === undefined ? null : loadArtifact(place, schema);
}

/**
 * The original arguments, if policy or people changed them since. An approval requested after the policy's change knows
 * only the changed ones. Also null if the first entry was erased.
 */
async function readProposedArgs(
  place: TenantStore,
  id: string,
  { edited, argsDigest, action }: LiveApproval,
  state: LiveAction | null,
): Promise<Json> {
  const isChanged = state === null ? edited : state.proposedDigest !== argsDigest;
  if (!isChanged) return null;
  const ref = state === null ? approvalStream(id) : actionStream(action);
  const [first] = await place.store.read(place.tenant, ref, { fromSeq: 1, limit: 1 });
  if (first?.body == null) return null;
  return loadValue(place, (JSON.parse(first.body) as JsonObject)["args"] ?? null);
}

type Review = Awaited<ReturnType<typeof readReviews>>[number];

/** Expected costs, and what is left of each budget now. null: missing, or in another currency; it could not start. */
function readCosts(place: TenantStore, costs: Review["costs"] = []): Promise<Card["costs"]> {
  return Promise.all(
    costs.map(async ({ budget, ...cost }) => {
      const amount = moneyFromJson(cost);
      const { currency } = amount;
      const { limit, spent, reserved } = await readState(place, budgetStream(budget));
      const left =
        limit?.currency === currency ? { currency, micros: limit.micros - spent - reserved } : null;
      return { budget, amount, left };
    }),
  );
}

async function readAction(
  runtime: Runtime,
  approval: LoadedApproval,
  state: LiveAction,
  callUndo: CallUndo | undefined,
) {
  const undo = knownUndo(runtime, state, callUndo);
  const isFinal = isIrreversible(undo);
  const reviews = await readReviews(runtime, approval.id, approval);
  const last = reviews.at(-1);
  const risk = last?.risk ?? null;
  const isTyped = asksToConfirm({ isIrreversible: isFinal, risk, rules: stageRules(approval) });
  return {
    effectWords: effectWords(state.effectClass, undo),
    isIrreversible: isFinal,
    confirm: isTyped ? approval.tool : null,
    reviews,
    risk,
    costs: await readCosts(runtime, last?.costs),
    history: await readHistory(runtime, approval.action, state, approval.requestedAt),
  };
}

const NO_ACTION = { isIrreversible: false, confirm: null, reviews: [], risk: null, costs: [], history: null };

/** Why it must be decided alone, and whether a list row shows everything that it is about. */
function inRow(approval: LoadedApproval, card: Pick<Card, "isIrreversible" | "confirm" | "proposedArgs">) {
  const { subject, args, rationale, preview, undo, edited, comments } = approval;
  const it = {
    about: subject?.kind ?? "action",
    args,
    rationale,
    isIrreversible: card.isIrreversible,
    isTyped: card.confirm !== null,
    hasPreview: preview !== undefined,
    hasUndo: undo !== undefined,
    isChanged: edited || card.proposedArgs !== null,
    hasComments: comments.length > 0,
  } as const;
  const why = { whyAlone: whyAlone(it), whyRejectAlone: whyRejectAlone(it) };
  return { why, isWhole: isWholeInRow(it) };
}

type Why = Pick<Card["you"], "whyAlone" | "whyRejectAlone">;

function yours(you: Omit<Card["you"], keyof Why | "mayBatch">, { mayDecide }: Looker, why: Why): Card["you"] {
  if (mayDecide) return { ...you, ...why, mayBatch: you.may.includes("approve") && why.whyAlone === null };
  const whyNot = you.mayDecide ? "what you are logged in with is not for deciding" : you.whyNot;
  return { ...why, mayDecide: false, whyNot, vote: you.vote, may: [], mayBatch: false, rejectionEnds: null };
}

/** A card without its digests and texts. `isWhole`: a list row shows everything that the approval is about. */
type UnsealedCard = CardContext & Pick<Card, "you"> & { readonly isWhole: boolean };

const NOBODY: Looker = { principal: null, mayDecide: true };

export async function readCard(
  runtime: Runtime,
  id: string,
  looker: Looker = NOBODY,
): Promise<{ readonly facts: ApprovalFacts; readonly card: UnsealedCard }> {
  const needs = { read: [approvalStream(id), ROSTER] };
  const { answer } = await dryRun(runtime, needs, (draft) => look(draft, id, looker.principal));
  if ("status" in answer) throw unknownApproval(id);
  const { recorded, asked, action, you, voters } = answer;
  const approval = await withValues(runtime, id, recorded);
  const { callUndo, ...around } = await readWorkflow(runtime, asked);
  const subjectWords = approval.subject === undefined ? "" : SUBJECT_WORDS[approval.subject.kind];
  const part =
    action === null
      ? { ...NO_ACTION, effectWords: subjectWords }
      : await readAction(runtime, approval, action, callUndo);
  const facts = {
    ...part,
    ...around,
    heading: headingOf(approval),
    title: approval.title,
    inputSchema: await readInputSchema(runtime, approval),
    proposedArgs: await readProposedArgs(runtime, id, recorded, action),
    voters,
  };
  const { why, isWhole } = inRow(approval, facts);
  const described = {
    approval: await describeApproval(runtime, approval),
    card: facts,
    about: action === null ? undefined : await readActionFacts(runtime, approval.action),
  };
  return { facts: described, card: { ...facts, isWhole, you: yours(you, looker, why) } };
}

async function readActionFacts(runtime: Runtime, id: string): Promise<ActionFacts> {
  const action = await getAction(runtime, id);
  const policies = await policyNamesFor(runtime, action.review);
  return { action, receipt: await getReceipt(runtime, id), policies };
}

export const readActionDocument = async (runtime: Runtime, id: string): Promise<CardDocument> =>
  actionDocument(await readActionFacts(runtime, id));

type Fields = { readonly [field: string]: unknown };

/** Digests each field separately: a field can be as deep as JSON may be. */
const digests = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, digestOf(value)]));

type TextPiece = Card["sections"][number]["fields"][number]["text"][number];

function piecesOf(text: RichText): readonly TextPiece[] {
  if (typeof text === "string") return [{ kind: "text", text }];
  return text.map((piece): TextPiece => {
    if (typeof piece === "string") return { kind: "text", text: piece };
    if ("id" in piece) return { kind: "id", text: piece.id };
    return { kind: "time", text: new Date("ago" in piece ? piece.ago : piece.moment).toISOString() };
  });
}

function textsIn(field: CardFields[string]): readonly RichText[] {
  if (field == null) return [];
  if (typeof field === "string" || Array.isArray(field)) return [field as RichText];
  if ("each" in field) return field.each;
  if ("lines" in field) return field.lines;
  if ("paragraphs" in field) return field.paragraphs;
  return "warnings" in field ? field.warnings : [];
}

/** The texts of a document, by section, without values: those are fields of the approval and the card. */
function wordsIn(parts: DocumentParts): Card["sections"] {
  return PARTS.flatMap((part) =>
    Object.entries(parts[part] ?? {}).flatMap(([heading, given]) => {
      if (!given) return [];
      const fields = [given]
        .flat()
        .flatMap((one) => Object.entries(one))
        .flatMap(([label, field]) => textsIn(field).map((text) => ({ label, text: piecesOf(text) })));
      return [{ part, heading, tone: OWN_TONES[heading] ?? null, fields }];
    }),
  );
}

/** What a list row shows, next to the risk level and the costs. */
const ROW = ["request_id", "binding", "tool", "agent", "args", "rationale", "rule", "reason"];

/** The card with its texts, and with digests of what is shown: `approval` and the card in their wire format, without `you`. */
export async function readSealedCard(runtime: Runtime, id: string, looker: Looker): Promise<ReadCard> {
  const { facts, card } = await readCard(runtime, id, looker);
  const { approval } = facts;
  const { isWhole, ...unsealed } = card;
  const sections = wordsIn(approvalParts(facts));
  const { you: _, ...shown } = cardCodec.encode({ ...unsealed, sections } as Card);
  const fields = approvalWire.encode(approval) as Fields;
  const row = {
    ...Object.fromEntries(ROW.map((name) => [name, fields[name]])),
    risk_level: shown.risk?.level ?? null,
    costs: shown.costs.map(({ budget, amount }) => ({ budget, amount })),
  };
  const whole = { approval: digests(fields), card: digests(shown) };
  const shownRow = isWhole ? digestOf({ row: digests(row) }) : null;
  return { approval, card: { ...unsealed, sections, shown: digestOf(whole), shownRow } };
}

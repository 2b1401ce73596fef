/**
 * The card as a document: everything that a person sees of an approval or an action, before and after the decision, in
 * sections of labelled texts and values. Terminal, mail, page and desk render this document. Pure: no reader, no clock.
 *
 * - What runs is made from the canonical arguments. The agent's statements are apart, under a heading that says so.
 * - Commands are suggestions for a terminal. The binding in them ensures that the person approves what was shown.
 */

import type { Action } from "../effects/contract.ts";
import type { Receipt } from "../effects/rules/receipt.ts";
import { canonicalJson } from "../kernel/canonical-json.ts";
import { isJsonObject, type Json } from "../kernel/json.ts";
import { storeValue } from "../kernel/stored-value.ts";
import type { CardDocument, CardFields, CardSections, RichText, Tone } from "../kernel/terminal.ts";
import { quotedName, visible, visiblePreview } from "../kernel/text.ts";
import type { PolicyNames } from "../policy/versions.ts";
import { checkpointParts, editCommands, exampleOf, workflowCommands } from "./card-checkpoint.ts";
import type { Card } from "./card-schema.ts";
import {
  agentWords,
  changesSection,
  commentsSection,
  costsSection,
  deadlineFields,
  decidersSection,
  decisionWord,
  effectsSection,
  historySection,
  PREVIEW_FAILED,
  policyWords,
  previewSections,
  reasonSections,
  rejectionSections,
  timeText,
  undoSections,
} from "./card-sections.ts";
import type { Approval } from "./contract.ts";
import { effectWords } from "./rules/card.ts";
import { UNSEEN_PREVIEW } from "./state.ts";

/** What is known around an approval, without its digests, its reader and its texts. */
export type CardContext = Omit<Card, "shown" | "shownRow" | "you" | "sections">;
export type ActionFacts = {
  readonly action: Action;
  readonly receipt: Receipt | undefined;
  readonly policies: PolicyNames;
};
export type ApprovalFacts = {
  readonly approval: Approval;
  readonly card: CardContext;
  /** Of an approval of an action. */
  readonly about: ActionFacts | undefined;
};
type ApprovedAction = ActionFacts & { readonly approval: Approval; readonly card: CardContext };
type AnyAction = ActionFacts & Partial<Pick<ApprovedAction, "approval" | "card">>;

const TONES: { readonly [state: string]: Tone } = {
  pending: "yellow",
  waiting: "yellow",
  approved: "green",
  modified: "green",
  consumed: "green",
  answered: "green",
  applied: "green",
  in_doubt: "red",
  rejected: "red",
  refused: "red",
};

const HEADINGS: { readonly [phase in Action["phase"]]: string } = {
  open: "What will run",
  waiting: "What will run, if people agree",
  running: "What runs",
  applied: "What ran",
  not_applied: "What was tried",
  in_doubt: "What was tried",
  refused: "What did not run",
};

/** The status that the caller is answered with; `running` while the effect has no outcome. */
const STATUSES: { readonly [phase in Action["phase"]]: string } = {
  open: "pending",
  waiting: "pending",
  running: "running",
  applied: "done",
  not_applied: "failed",
  in_doubt: "in doubt",
  refused: "refused",
};

const EDIT_WAITS = "An edit waits for review";
const EDIT_STOOD = "The last edit stood already";
const EDIT_REFUSED = "The last edit was refused";

function editSections({ edit, editRefused }: Approval, policies: PolicyNames): CardSections {
  const { rule, policy } = editRefused ?? {};
  return {
    [EDIT_WAITS]: edit && {
      by: edit.by,
      note: edit.note,
      args: { args: edit.args },
      review: { lines: ["A process that has the tool reviews it; nothing runs before that."] },
    },
    [rule === UNSEEN_PREVIEW ? EDIT_STOOD : EDIT_REFUSED]: editRefused && {
      by: editRefused.by,
      policy: policy && policyWords({ ...editRefused, policy }, policies),
      rule,
      reason: editRefused.reason,
    },
  };
}

const linked = (id: string | null | undefined): RichText | undefined => (id == null ? undefined : [{ id }]);

/** The undo of a checkpoint names an operation, which has no page. */
const undoneText = (undoes: string | null | undefined): RichText | null | undefined =>
  undoes?.startsWith("act_") === true ? linked(undoes) : undoes;

const actionIdentity = ({ approval, action }: AnyAction): CardFields => ({
  action: [{ id: action.id }],
  "request id": action.requestId ?? "-",
  workflow: linked(action.within?.workflow),
  undoes: undoneText(action.within?.undoes),
  agent: action.agent,
  args: [{ id: action.argsDigest }, ` (${action.executedFrom.replace("_", " ")})`],
  binding: linked(approval?.binding),
});

/** A large result is not part of a card. */
function resultField(result: Json): CardFields[string] {
  const { artifact } = storeValue(result);
  return artifact === undefined ? { json: result } : `kept as an artifact of ${artifact.bytes.length} bytes`;
}

function outcomeFields({ phase, outcome }: Action): CardFields {
  if (outcome === null) return {};
  const { at, by, reason, result } = outcome;
  return {
    ended: [{ ago: at }],
    reason: reason === "" ? undefined : reason,
    "said by": by,
    result: phase === "applied" ? resultField(result) : undefined,
  };
}

function outcomeSections({ action, receipt }: AnyAction): CardSections {
  const { effect, refusal, refusedAt, held } = action;
  if (refusal !== null && refusedAt !== null) {
    const { code, by, reason } = refusal;
    return { Outcome: { status: "refused", at: [{ ago: refusedAt }], [code]: `${by}: ${reason}` } };
  }
  if (effect === null) return { "Held back": held && { [held.code]: `${held.by}: ${held.reason}` } };
  const { id, startedAt, attempt, grant, late } = effect;
  return {
    Outcome: {
      status: STATUSES[action.phase],
      started: [{ ago: startedAt }, `, attempt ${attempt}`],
      effect: id,
      granted:
        grant.kind === "standing"
          ? `${grant.grant} by ${grant.by.join(", ")}, beforehand: no person was asked`
          : undefined,
      ...outcomeFields(action),
      "late report": {
        each: late.map((one) => `attempt ${one.attempt} by ${one.epoch} said ${one.status} ${one.reason}`),
      },
      receipt: receipt && `${receipt.stream} entry ${receipt.seq}, ${receipt.executedFrom.replace("_", " ")}`,
    },
  };
}

/** Without an approval nothing more than the effect class is known here. */
export const undoWords = ({ card, action: { effectClass, within } }: AnyAction): string =>
  card?.effectWords ?? effectWords(effectClass, within === null ? "none" : "not_known");

function approvedParts({ approval, card }: ApprovedAction, policies: PolicyNames): DocumentParts {
  return {
    changes: changesSection(approval, card.proposedArgs),
    preview: previewSections(approval),
    undo: undoSections(approval),
    costs: costsSection(card.costs),
    people: decidersSection(approval, card.voters),
    comments: commentsSection(approval),
    edit: editSections(approval, policies),
    effects: effectsSection(card.workflow, card.rejecting),
    history: historySection(card.history),
  };
}

function actionParts(facts: AnyAction): DocumentParts {
  const { action, approval, card, policies } = facts;
  const asked = approval && card && approvedParts({ ...facts, approval, card }, policies);
  return {
    what: {
      [HEADINGS[action.phase]]: {
        tool: action.tool,
        effect: `${action.effectClass}: ${undoWords(facts)}`,
        args: { args: (approval ?? action).args },
      },
    },
    ...asked,
    agent: agentWords(approval?.rationale ?? action.rationale),
    why: reasonSections(action.review, approval, policies, card?.reviews),
    when: {
      When: {
        proposed: [{ ago: action.proposedAt }],
        ...(approval && { ...deadlineFields(approval), "start by": timeText(approval.executeBy) }),
      },
    },
    identity: { "What it is known by": actionIdentity(facts) },
    outcome: outcomeSections(facts),
  };
}

/** A question without a suggestion has an empty object instead. */
export function hasSuggestion({ args }: Pick<Approval, "args">): boolean {
  return !isJsonObject(args) || Object.keys(args).length > 0;
}

const NOBODY_ANSWERS =
  "The workflow is told that there is no answer, with your reason, and goes on by its own rules.";

/** Parts of everything that a workflow asks itself. */
const workflowParts = ({ approval, card }: ApprovalFacts, label?: string): DocumentParts => ({
  people: decidersSection(approval, card.voters),
  comments: commentsSection(approval),
  when: { When: { asked: [{ ago: approval.requestedAt }], ...deadlineFields(approval, label) } },
  identity: {
    "What it is known by": {
      workflow: linked(approval.workflow),
      operation: approval.op ?? "-",
      agent: approval.agent,
      args: linked(approval.argsDigest),
      binding: linked(approval.binding),
    },
  },
});

function questionParts(facts: ApprovalFacts): DocumentParts {
  const { approval, card } = facts;
  const { answerSchema: schema, args } = approval;
  const isAnswered = ["consumed", "approved", "modified"].includes(approval.status);
  return {
    subject: {
      [`A question of the workflow ${quotedName(card.workflow?.name ?? "")}`]: {
        question: approval.tool,
        text: { quote: approval.reason },
      },
    },
    what: {
      "What an answer has to be": {
        form: schema === undefined ? { lines: ["any JSON: the program checks it"] } : { schema },
      },
      [isAnswered ? "The answer" : "What the program suggests"]: hasSuggestion(approval) && {
        args: { args },
      },
    },
    rejection: { "If you reject": { effect: { lines: [NOBODY_ANSWERS] } } },
    ...workflowParts(facts, "answer by"),
    effects: effectsSection(card.workflow, null),
  };
}

/** An agent requests approval of something that it does itself. */
const intentParts = ({ approval, card }: ApprovalFacts): DocumentParts => ({
  subject: { "An agent asks for approval": { agent: approval.agent, reason: approval.reason || undefined } },
  what: { "What it sent, in full": { args: { args: approval.args } } },
  agent: agentWords(approval.rationale),
  rejection: {
    "What your answer does": {
      effect: { lines: ["The agent is told, and does the rest itself: Holdpoint performs nothing of it."] },
    },
  },
  people: decidersSection(approval, card.voters),
  comments: commentsSection(approval),
  when: { When: { asked: [{ ago: approval.requestedAt }], ...deadlineFields(approval) } },
  identity: {
    "What it is known by": {
      intent: linked(approval.intent),
      payload: linked(approval.argsDigest),
      binding: linked(approval.binding),
    },
  },
});

export function approvalParts(facts: ApprovalFacts): DocumentParts {
  const { approval, card, about } = facts;
  if (about !== undefined) return actionParts({ ...about, approval, card });
  if (approval.about === "question") return questionParts(facts);
  if (approval.about !== "checkpoint") return intentParts(facts);
  return {
    ...workflowParts(facts),
    ...checkpointParts(approval, card),
    effects: effectsSection(card.workflow, card.rejecting),
    rejection: rejectionSections(card),
  };
}

function answerCommand({ id, answerSchema }: Approval): string {
  const example = visiblePreview(canonicalJson(exampleOf(answerSchema)));
  return `answer ${id} '${example.includes("'") ? "<json>" : example}'`;
}

function decideCommands(approval: Approval): readonly string[] {
  const { id, binding, status, edit, about } = approval;
  if (status !== "pending" || (about === "action" && edit !== null)) return [];
  const isOpen = about === "question" && !hasSuggestion(approval);
  return [
    ...(about === "question" ? [answerCommand(approval)] : []),
    ...(isOpen ? [] : [`approve ${id} --binding ${binding.slice(0, 12)}`]),
    ...(about === "checkpoint" ? editCommands(approval) : []),
    `reject ${id} --reason "…"`,
  ];
}

function resolveCommand({ phase, effect }: Action): readonly string[] {
  return phase === "in_doubt" ? [`resolve ${effect?.id} applied|not_applied --reason "…"`] : [];
}

export const OWN_TONES: NonNullable<CardDocument["tones"]> = {
  [PREVIEW_FAILED]: "red",
  [EDIT_WAITS]: "yellow",
  [EDIT_STOOD]: "yellow",
  [EDIT_REFUSED]: "red",
  "Held back": "yellow",
  "What cannot be undone if you reject": "red",
};

/** What a section is about, in the order of the document. */
export const PARTS = [
  ...[
    "subject",
    "what",
    "changes",
    "preview",
    "undo",
    "agent",
    "costs",
    "why",
    "effects",
    "rejection",
    "people",
  ],
  ...["comments", "edit", "history", "when", "identity", "outcome"],
] as const;
export type DocumentParts = { readonly [part in (typeof PARTS)[number]]?: CardSections };

type Head = Pick<CardDocument, "title" | "badge" | "next"> & { readonly subtitle?: string };

function documentOf(head: Head, parts: DocumentParts, phase?: string): CardDocument {
  const sections = Object.assign({}, ...PARTS.map((part) => parts[part] ?? {})) as CardSections;
  const tones = { ...OWN_TONES, Outcome: TONES[phase ?? ""] ?? "bold" };
  return { ...head, sections, tones };
}

/** Visible text already. An older server sends none. */
const titleLine = ({ title, tool }: { readonly title?: string; readonly tool: string }): string =>
  title === undefined ? visible(tool) : visiblePreview(title);

export function approvalDocument(facts: ApprovalFacts): CardDocument {
  const { approval, about, card } = facts;
  const text = decisionWord(approval);
  const isCheckpoint = approval.about === "checkpoint";
  const more = isCheckpoint ? workflowCommands(approval, card.snapshot) : [];
  const head = {
    title: `Approval ${approval.id}`,
    badge: { text, tone: TONES[text] ?? "bold" },
    ...(about && { subtitle: titleLine(approval) }),
    next: [...decideCommands(approval), ...(about ? resolveCommand(about.action) : more)],
  };
  return documentOf(head, approvalParts(facts), about?.action.phase);
}

/** Of an action, whether or not people were asked. */
export function actionDocument(facts: ActionFacts): CardDocument {
  const { action } = facts;
  const head = {
    title: `Action ${action.id}`,
    badge: { text: STATUSES[action.phase], tone: TONES[action.phase] ?? "bold" },
    subtitle: titleLine(action),
    next: resolveCommand(action),
  };
  return documentOf(head, actionParts(facts), action.phase);
}

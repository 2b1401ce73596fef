/**
 * The card that a person reads before and after deciding, made from the canonical arguments. The agent's statements are
 * separate, under a heading that names them as such.
 */
import { effectWords } from "../../approvals/rules/card.ts";
import { UNSEEN_PREVIEW } from "../../approvals/state.ts";
import type { ReviewFacts } from "../../effects/state.ts";
import { canonicalJson } from "../../kernel/canonical-json.ts";
import { isJsonObject, type Json } from "../../kernel/json.ts";
import { storeValue } from "../../kernel/stored-value.ts";
import type { CardDocument, CardFields, CardSections } from "../../kernel/terminal.ts";
import { visible, visiblePreview } from "../../kernel/text.ts";
import type { CardContent } from "../../notify/content.ts";
import { policyWords, remarkFields } from "../policy/words.ts";
import { type CardView, type Paper, printCard, sectionsOn } from "../shell/sections.ts";
import { exampleOf, omittedLines, schemaText, shortenShown } from "../shell/values.ts";
import { checkpointCard } from "../workflows/checkpoint-card.ts";
import {
  agentWords,
  approvalHead,
  approveCommand,
  type CardOf,
  deadlineFields,
  peopleSections,
  rejectCommand,
  TONES,
  timeText,
  workflowSections,
} from "./card-parts.ts";

type ActionCard = CardOf<"action">;
type Approval = CardOf<"intent">["approval"];

const HEADINGS: { readonly [phase in ActionCard["action"]["phase"]]: string } = {
  open: "What will run",
  waiting: "What will run, if people agree",
  running: "What runs",
  applied: "What ran",
  not_applied: "What was tried",
  in_doubt: "What was tried",
  refused: "What did not run",
};

/** The status that the caller is answered with; `running` while the effect has no outcome. */
const STATUSES: { readonly [phase in ActionCard["action"]["phase"]]: string } = {
  open: "pending",
  waiting: "pending",
  running: "running",
  applied: "done",
  not_applied: "failed",
  in_doubt: "in doubt",
  refused: "refused",
};

/** Without a process that has the tool, the undo of a call in a workflow is not known. */
const classWords = ({ action: { effectClass, within }, approval }: ActionCard): string => {
  if (approval?.undo !== undefined) return effectWords(effectClass, "claimed");
  return effectWords(effectClass, within === null ? "none" : "not_known");
};

/** The tool's preview, which people approve with the action, and the agent's description of its undo. */
function forecastSections({ preview, undo }: Approval): CardSections {
  return {
    "The tool's preview failed: nothing is known about what it would do":
      preview?.failed === true ? { preview: { quote: String(preview.value) } } : undefined,
    "What the tool shows of it":
      preview?.failed === false ? { preview: { value: preview.value } } : undefined,
    "The agent says how it would take it back, if its workflow goes back (checked by nobody)": undo && {
      tool: undo.tool,
      args: { value: undo.args },
    },
  };
}

const ruleFields = ({ rule, reason }: Pick<ReviewFacts, "rule" | "reason">): CardFields => ({
  rule,
  reason: reason === "" ? "-" : reason,
});

/** The approval has the rule and reason of the request; the review has those of the edited arguments. */
function reasonSections({ action: { review }, approval, policies }: ActionCard): CardSections {
  const asked = approval ?? review;
  const remarks = remarkFields(review, policies);
  if (approval?.edited !== true || review === null) {
    const policy = asked === null ? undefined : policyWords(asked, policies);
    const why = ruleFields(asked ?? { rule: "-", reason: "it was not reviewed" });
    return { "Why it is asked": { policy, ...why, ...remarks } };
  }
  return {
    "Why it was asked at first": ruleFields(approval),
    "What policy says of it as people changed it": {
      policy: policyWords(review, policies),
      verdict: review.verdict,
      ...ruleFields(review),
      ...remarks,
    },
  };
}

function editSections({ edit, editRefused }: Approval, policies: ActionCard["policies"]): CardSections {
  const { rule, policy } = editRefused ?? {};
  return {
    "An edit waits for review": edit && {
      by: edit.by,
      note: edit.note,
      args: { args: edit.args },
      review: { lines: ["A process that has the tool reviews it; nothing runs before that."] },
    },
    [rule === UNSEEN_PREVIEW ? "The last edit stood already" : "The last edit was refused"]: editRefused && {
      by: editRefused.by,
      policy: policy && policyWords({ ...editRefused, policy }, policies),
      rule,
      reason: editRefused.reason,
    },
  };
}

function identity({ approval, action }: ActionCard): CardFields {
  return {
    action: action.id,
    "request id": action.requestId ?? "-",
    workflow: action.within?.workflow,
    undoes: action.within?.undoes,
    agent: action.agent,
    args: `${action.argsDigest} (${action.executedFrom.replace("_", " ")})`,
    binding: approval?.binding,
  };
}

function outcomeSections({ action, receipt }: ActionCard): CardSections {
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
          ? `${grant.grant} by ${grant.by.join(", ")}, beforehand: nobody was asked`
          : undefined,
      ...outcomeFields(action),
      "late report": {
        each: late.map((one) => `attempt ${one.attempt} by ${one.epoch} said ${one.status} ${one.reason}`),
      },
      receipt: receipt && `${receipt.stream} entry ${receipt.seq}, ${receipt.executedFrom.replace("_", " ")}`,
    },
  };
}

function outcomeFields({ phase, outcome }: ActionCard["action"]): CardFields {
  if (outcome === null) return {};
  const { at, by, reason, result } = outcome;
  return {
    ended: [{ ago: at }],
    reason: reason === "" ? undefined : reason,
    "said by": by,
    result: phase === "applied" ? resultField(result) : undefined,
  };
}

/** A large result is not part of a card. */
function resultField(result: Json): CardFields[string] {
  const { artifact } = storeValue(result);
  return artifact === undefined ? { json: result } : `kept as an artifact of ${artifact.bytes.length} bytes`;
}

function actionNext({ approval, action }: ActionCard): readonly string[] {
  const isOpen = approval?.status === "pending" && approval.edit === null;
  return [
    ...(isOpen ? [approveCommand(approval), rejectCommand(approval)] : []),
    ...(action.phase === "in_doubt" ? [`resolve ${action.effect?.id} applied|not_applied --reason "…"`] : []),
  ];
}

/** Visible text already. An older server sends none. */
const titleLine = ({ title, tool }: { readonly title?: string; readonly tool: string }): string =>
  title === undefined ? visible(tool) : visiblePreview(title);

function actionCard(card: ActionCard): CardDocument {
  const { action, approval, policies } = card;
  const tone = TONES[action.phase] ?? "bold";
  return {
    ...(approval === undefined
      ? { title: `Action ${action.id}`, badge: { text: STATUSES[action.phase], tone } }
      : approvalHead(approval)),
    subtitle: titleLine(approval ?? action),
    sections: {
      [HEADINGS[action.phase]]: {
        tool: action.tool,
        effect: `${action.effectClass}: ${classWords(card)}`,
        args: { args: (approval ?? action).args },
      },
      ...(approval && forecastSections(approval)),
      ...agentWords(approval?.rationale ?? action.rationale),
      ...reasonSections(card),
      ...(approval && { ...peopleSections(approval), ...editSections(approval, policies) }),
      When: {
        proposed: [{ ago: action.proposedAt }],
        ...(approval && { ...deadlineFields(approval), "start by": timeText(approval.executeBy) }),
      },
      "What it is known by": identity(card),
      ...outcomeSections(card),
    },
    tones: {
      "The tool's preview failed: nothing is known about what it would do": "red",
      "An edit waits for review": "yellow",
      "The last edit stood already": "yellow",
      "The last edit was refused": "red",
      "Held back": "yellow",
      Outcome: tone,
    },
    next: actionNext(card),
  };
}

/** A question without a suggestion has an empty object instead. */
export function hasSuggestion({ args }: Pick<Approval, "args">): boolean {
  return !isJsonObject(args) || Object.keys(args).length > 0;
}

function questionNext(approval: Approval): readonly string[] {
  if (approval.status !== "pending") return [];
  const example = visiblePreview(canonicalJson(exampleOf(approval.answerSchema)));
  const typed = example.includes("'") ? "<json>" : example;
  const agree = hasSuggestion(approval) ? [approveCommand(approval)] : [];
  return [`answer ${approval.id} '${typed}'`, ...agree, rejectCommand(approval)];
}

function questionCard(card: CardOf<"question">): CardDocument {
  const { approval, workflow } = card;
  const { answerSchema: schema, args } = approval;
  const isAnswered = ["consumed", "approved", "modified"].includes(approval.status);
  const rejection =
    "The workflow is told that nobody answers, with your reason, and goes on by its own rules.";
  return {
    ...approvalHead(approval),
    sections: {
      [`A question of the workflow "${workflow.name}"`]: {
        question: approval.tool,
        text: { quote: approval.reason },
      },
      "What an answer has to be": {
        form:
          schema === undefined
            ? { lines: ["any JSON: the program checks it"] }
            : { block: schemaText(schema) },
      },
      [isAnswered ? "The answer" : "What the program suggests"]: hasSuggestion(approval)
        ? { args: { args } }
        : undefined,
      "If you reject": { effect: { lines: [rejection] } },
      ...peopleSections(approval),
      ...workflowSections(card, "answer by"),
    },
    next: questionNext(approval),
  };
}

/** An agent requests approval of something that it does itself. */
function intentCard({ approval }: CardOf<"intent">): CardDocument {
  const effect = "The agent is told, and does the rest itself: Holdpoint performs nothing of it.";
  return {
    ...approvalHead(approval),
    sections: {
      "An agent asks for approval": { agent: approval.agent },
      ...agentWords(approval.rationale),
      "What it sent, in full": { args: { args: approval.args } },
      "What your answer does": { effect: { lines: [effect] } },
      ...peopleSections(approval),
      When: { asked: [{ ago: approval.requestedAt }], ...deadlineFields(approval) },
      "What it is known by": {
        intent: approval.intent,
        payload: approval.argsDigest,
        binding: approval.binding,
      },
    },
    next: approval.status === "pending" ? [approveCommand(approval), rejectCommand(approval)] : [],
  };
}

function documentFor(shown: Exclude<CardContent, { kind: "facts" }>): CardDocument {
  switch (shown.kind) {
    case "action":
      return actionCard(shown);
    case "question":
      return questionCard(shown);
    case "checkpoint":
      return checkpointCard(shown);
    case "intent":
      return intentCard(shown);
  }
}

export function printShown(terminal: Paper, shown: CardContent, view: CardView): void {
  if (shown.kind === "facts") sectionsOn(terminal, view.full).tree("What happened", shown.facts);
  else printCard(terminal, documentFor(shown), view);
}

const COLUMNS = 76;

/** The terminal's cards as plain text, for mails and pages: the same words in full, with commands if `where` is set. */
export function cardLines(whole: CardContent, now: number, where?: string): readonly string[] {
  const short = shortenShown(whole);
  const lines: string[] = [...omittedLines(short)];
  const line = (text = "") => void lines.push(...text.split("\n"));
  const paper = { columns: COLUMNS, line, paint: (_: unknown, text: string) => text, strange: String };
  printShown(paper, short.shown, { now, full: true, where: where ?? null });
  return lines;
}

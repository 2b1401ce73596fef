/**
 * What a person reads before and after deciding, rendered from the canonical arguments. What the agent says about them
 * stands apart, under a heading that says whose words they are.
 */

import type { Approval } from "../approvals/contract.ts";
import { effectWords } from "../approvals/rules/card.ts";
import { UNSEEN_PREVIEW } from "../approvals/state.ts";
import type { ReviewFacts } from "../core/action/events.ts";
import type { Receipt } from "../core/action/receipt.ts";
import type { Json } from "../core/json.ts";
import { isArtifactRef } from "../core/stored-value.ts";
import type { Action } from "../engine/actions.ts";
import type { PolicyNames } from "../engine/backtest/kept-policies.ts";
import type { WorkflowDetails } from "../engine/workflow/operate-workflows.ts";
import { policyWords, printRemarks } from "./policy-words.ts";
import { printComments } from "./print-comments.ts";
import { readable } from "./readable.ts";
import { type Sections, sectionsOn } from "./sections.ts";
import {
  atDeadline,
  extensionLines,
  handedLines,
  moreLines,
  needsText,
  stageCount,
  stageLines,
} from "./stage-text.ts";
import type { Style, Terminal } from "./terminal.ts";
import { ago } from "./times.ts";

export type Card = {
  /** The flags that the next command needs to find the same store; null where no command is shown. */
  readonly where: string | null;
  readonly approval: Approval | undefined;
  readonly action: Action;
  readonly receipt: Receipt | undefined;
  readonly policies: PolicyNames;
  readonly now: number;
  readonly full: boolean;
};

/** A question that is not about an action: a checkpoint of a workflow, or one that the workflow asks. */
export type SubjectCard = {
  readonly where: Card["where"];
  readonly approval: Approval;
  readonly workflow: WorkflowDetails;
  readonly now: number;
  readonly full: boolean;
};

/** No process with the tool may be at hand: a workflow that goes back asks it for its undo. */
const classWords = ({ effectClass, within }: Action, approval: Approval | undefined): string => {
  if (approval?.undo !== undefined) return effectWords(effectClass, "claimed");
  return effectWords(effectClass, within === undefined ? "none" : "not_known");
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

const STYLES: { readonly [state: string]: Style } = {
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

export function printArgs(terminal: Terminal, args: Json, full: boolean): void {
  const sections = sectionsOn(terminal, full);
  sections.block(readable(args, full));
  sections.json("as canonical JSON", args);
}

function printHead(terminal: Terminal, sections: Sections, { approval, action }: Card): void {
  const state = approval?.status ?? action.phase;
  const title = approval === undefined ? `Action ${action.id}` : `Approval ${approval.id}`;
  terminal.line(`${terminal.paint("bold", title)}  ${terminal.paint(STYLES[state] ?? "bold", state)}`);
  sections.heading(HEADINGS[action.phase]);
  sections.field("tool", action.tool);
  sections.field("effect", `${action.effectClass}: ${classWords(action, approval)}`);
}

/** What the tool itself said it would do, and what people approve with it. */
function printPreview(sections: Sections, { approval, full }: Card): void {
  if (approval?.preview === undefined) return;
  const { value, failed } = approval.preview;
  if (failed) {
    sections.heading("The tool's preview failed: nothing is known about what it would do", "red");
    sections.quote(String(value));
  } else {
    sections.heading("What the tool shows of it");
    sections.block(readable(value, full));
  }
}

/** The agent's own account of how it would be undone; it is part of what people approve. */
function printUndo(sections: Sections, { approval, full }: Card): void {
  if (approval?.undo === undefined) return;
  sections.heading("The agent says how it would take it back, if its workflow goes back (checked by nobody)");
  sections.field("tool", approval.undo.tool);
  sections.block(readable(approval.undo.args, full));
}

function printWords(sections: Sections, { action, approval, policies }: Card): void {
  const says = approval?.says ?? action.says;
  if (says !== null) {
    sections.heading("The agent says (its own words, checked by nobody)");
    sections.quote(says);
  }
  const isChanged = approval?.edited === true && action.review !== null;
  sections.heading(isChanged ? "Why it was asked at first" : "Why it is asked");
  const asked = approval ?? action.review;
  if (asked !== null && !isChanged) sections.field("policy", policyWords(asked, policies));
  printRule(sections, asked ?? { rule: "-", reason: "it was not reviewed" });
  if (isChanged) printChanged(sections, action.review, policies);
  printRemarks(sections, action.review, policies);
}

function printRule(sections: Sections, { rule, reason }: Pick<ReviewFacts, "rule" | "reason">): void {
  sections.field("rule", rule);
  sections.field("reason", reason === "" ? "-" : reason);
}

/** The approval keeps the rule and the reason of the question; of what people made of it since, the review says more. */
function printChanged(sections: Sections, review: ReviewFacts, policies: PolicyNames): void {
  sections.heading("What policy says of it as people changed it");
  sections.field("policy", policyWords(review, policies));
  sections.field("verdict", review.verdict);
  printRule(sections, review);
}

/** What a workflow asked is used up in the commit that decides it: the decision says more. */
export function decisionWord({ status, subject, edited }: Approval): string {
  if (subject === undefined || status !== "consumed") return status;
  const approved = edited ? "modified" : "approved";
  return subject.kind === "question" ? "answered" : approved;
}

export function printStatus(terminal: Terminal, approval: Approval): void {
  const word = decisionWord(approval);
  const title = terminal.paint("bold", `Approval ${approval.id}`);
  terminal.line(`${title}  ${terminal.paint(STYLES[word] ?? "bold", word)}`);
}

function voteText(vote: Approval["votes"][number], binding: string, now: number): string {
  const stale = vote.binding === binding ? "" : " (on an earlier version; does not count)";
  const final = vote.final === true ? " for good" : "";
  const stage = vote.stage === undefined ? "" : ` in stage ${vote.stage}`;
  return `${vote.by} ${vote.decision}${final}${stage}, ${ago(vote.at, now)}${stale}${vote.note === null ? "" : `: ${vote.note}`}`;
}

function endingText({ at, by, reason }: NonNullable<Approval["ended"]>, now: number): string {
  return `${ago(at, now)}${by.length === 0 ? "" : ` by ${by.join(", ")}`}${reason === "" ? "" : `: ${reason}`}`;
}

export function printVotes(sections: Sections, { approval, now }: Pick<Card, "approval" | "now">): void {
  if (approval === undefined) return;
  const { approvers: rule } = approval;
  const stage = stageCount(approval);
  sections.heading("Who decides");
  if (stage !== undefined) sections.field("stage", stage);
  sections.field("needs", `${needsText(rule)}; never ${approval.requester.join(", ")}`);
  sections.field("rejection", rule.veto ? "one ends it" : "one alone does not end it");
  for (const line of moreLines(approval)) sections.field("", line);
  for (const line of handedLines(approval, now)) sections.field("decides", line);
  for (const [index, line] of stageLines(approval).entries())
    sections.field(index === 0 ? "stages" : "", line);
  if (approval.votes.length === 0) sections.field("votes", "none yet");
  for (const vote of approval.votes) sections.field("vote", voteText(vote, approval.binding, now));
  if (approval.decided !== null) sections.field("decided", endingText(approval.decided, now));
  if (approval.ended !== null && approval.subject === undefined)
    sections.field(approval.status, endingText(approval.ended, now));
}

function printEdit(terminal: Terminal, sections: Sections, { approval, full, policies }: Card): void {
  if (approval?.edit != null) {
    sections.heading("An edit waits for review", "yellow");
    sections.field("by", approval.edit.by);
    if (approval.edit.note !== null) sections.field("note", approval.edit.note);
    printArgs(terminal, approval.edit.args, full);
    terminal.line("  A process that has the tool reviews it; nothing runs before that.");
  }
  if (approval?.editRefused != null) {
    const { by, rule, reason, policy, documents } = approval.editRefused;
    const isAsked = rule === UNSEEN_PREVIEW;
    sections.heading(
      isAsked ? "The last edit stood already" : "The last edit was refused",
      isAsked ? "yellow" : "red",
    );
    sections.field("by", by);
    if (policy !== undefined)
      sections.field("policy", policyWords({ policy, ...(documents && { documents }) }, policies));
    sections.field("rule", rule);
    sections.field("reason", reason);
  }
}

function printTimes(sections: Sections, { approval, action, now }: Card): void {
  sections.heading("When");
  sections.field("proposed", ago(action.proposedAt, now));
  if (approval === undefined) return;
  const limit = (at: number | null) => (at === null ? "no deadline" : ago(at, now));
  printDeadline(sections, approval, now);
  sections.field("start by", limit(approval.executeBy));
}

export function printDeadline(
  sections: Sections,
  approval: Approval,
  now: number,
  label = "decide by",
): void {
  sections.field(label, approval.decideBy === null ? "no deadline" : ago(approval.decideBy, now));
  for (const line of extensionLines(approval, now)) sections.field("extended", line);
  const then = atDeadline(approval);
  if (then !== undefined) sections.field("then", then);
}

function printIdentity(sections: Sections, { approval, action }: Card): void {
  sections.heading("What it is known by");
  sections.field("action", action.id);
  sections.field("request id", action.requestId ?? "-");
  if (action.within !== undefined) sections.field("workflow", action.within.workflow);
  if (action.within?.undoes != null) sections.field("undoes", action.within.undoes);
  sections.field("agent", action.agent);
  sections.field("args", `${action.argsDigest} (${action.from.replace("_", " ")})`);
  if (approval !== undefined) sections.field("binding", approval.binding);
}

export function printIdentityOf(sections: Sections, { approval, workflow }: SubjectCard): void {
  sections.heading("What it is known by");
  sections.field("workflow", workflow.id);
  sections.field("operation", approval.subject?.op ?? "-");
  sections.field("agent", approval.agent);
  sections.field("args", approval.argsDigest);
  sections.field("binding", approval.binding);
}

function printResult(sections: Sections, result: Json): void {
  if (isArtifactRef(result)) sections.field("result", `kept as an artifact of ${result.bytes} bytes`);
  else sections.json("result", result);
}

function printOutcome(sections: Sections, { action, receipt, now }: Card): void {
  if (action.phase === "open" || action.phase === "waiting") {
    if (action.held !== null) {
      sections.heading("Held back", "yellow");
      sections.field(action.held.code, `${action.held.by}: ${action.held.reason}`);
    }
    return;
  }
  sections.heading("What became of it", STYLES[action.phase] ?? "bold");
  if (action.phase === "refused") {
    const { code, by, reason } = action.refusal;
    sections.field("refused", ago(action.at, now));
    sections.field(code, `${by}: ${reason}`);
    return;
  }
  sections.field("started", `${ago(action.effect.startedAt, now)}, attempt ${action.effect.attempt}`);
  sections.field("effect", action.effect.id);
  const { grant } = action.effect;
  if (grant.kind === "standing")
    sections.field("granted", `${grant.grant} by ${grant.by.join(", ")}, beforehand: nobody was asked`);
  if (action.phase !== "running") {
    sections.field(action.phase.replace("_", " "), ago(action.outcome.at, now));
    if (action.outcome.reason !== "") sections.field("reason", action.outcome.reason);
    sections.field("said by", action.outcome.by);
    if (action.phase === "applied") printResult(sections, action.outcome.result);
  }
  for (const late of action.effect.late)
    sections.field(
      "late report",
      `attempt ${late.attempt} by ${late.epoch} said ${late.status} ${late.reason}`,
    );
  if (receipt !== undefined)
    sections.field(
      "receipt",
      `${receipt.stream} entry ${receipt.seq}, ${receipt.executedFrom.replace("_", " ")}`,
    );
}

/** Ready to be typed: the binding makes sure that what is approved is what was shown here. */
function printNext(terminal: Terminal, sections: Sections, { approval, action, where }: Card): void {
  if (where === null) return;
  const next: string[] = [];
  if (approval?.status === "pending" && approval.edit === null)
    next.push(
      `holdpoint approve ${approval.id} --binding ${approval.binding.slice(0, 12)}`,
      `holdpoint reject ${approval.id} --reason "…"`,
    );
  if (action.phase === "in_doubt")
    next.push(`holdpoint resolve ${action.effect.id} applied|not_applied --reason "…"`);
  if (next.length === 0) return;
  sections.heading("Next");
  for (const line of next) terminal.line(`  npx ${line}${where}`);
}

export function printCard(terminal: Terminal, card: Card): void {
  const sections = sectionsOn(terminal, card.full);
  printHead(terminal, sections, card);
  printArgs(terminal, (card.approval ?? card.action).args, card.full);
  printPreview(sections, card);
  printUndo(sections, card);
  printWords(sections, card);
  printVotes(sections, card);
  printComments(sections, card);
  printEdit(terminal, sections, card);
  printTimes(sections, card);
  printIdentity(sections, card);
  printOutcome(sections, card);
  printNext(terminal, sections, card);
}

/**
 * Sections of the card's document that are the same for everything that is decided: deciders, comments, deadline, costs,
 * the workflow and the past. Pure: the texts are decided here, and a renderer only lays them out.
 *
 * - Texts of agents and people are in fields and quotes, never in headings but for quoted names.
 */

import type { Action } from "../effects/contract.ts";
import { documentsNamed, type ReviewFacts } from "../effects/state.ts";
import { diffJson, type Json } from "../kernel/json.ts";
import { moneyText } from "../kernel/money.ts";
import type { CardFields, CardSections, RichText } from "../kernel/terminal.ts";
import { quotedName, visible } from "../kernel/text.ts";
import type { PolicyNames } from "../policy/versions.ts";
import type { Card } from "./card-schema.ts";
import type { Approval } from "./contract.ts";
import { votesNow } from "./state.ts";

/** A label. As a plain key, the object would look like a promise. */
const THEN = "then";
/** Most comments shown (the latest): rendering many long ones takes time. */
const MOST_COMMENTS = 20;
const MOST_EFFECTS = 20;
const MOST_PERMANENT = 100;
const MOST_CHANGES = 50;
const LONGEST_VALUE = 200;

/** A workflow consumes its approval in the commit that decides it, so the decision is shown instead. */
export function decisionWord({ status, about, edited }: Approval): string {
  if (about === "action" || status !== "consumed") return status;
  const approved = edited ? "modified" : "approved";
  return about === "question" ? "answered" : approved;
}

/** "2 of 3"; undefined if there is one. */
export function stageCount({ stages, stage }: Approval): string | undefined {
  return stages.length === 1 ? undefined : `${stage} of ${stages.length}`;
}

export const PREVIEW_FAILED = "The tool's preview failed: nothing is known about what it would do";

/** The tool's preview, which people approve with the action. */
export const previewSections = ({ preview }: Approval): CardSections => ({
  [PREVIEW_FAILED]: preview?.failed === true && { preview: { quote: String(preview.value) } },
  "What the tool shows of it": preview?.failed === false && { preview: { value: preview.value } },
});

export const undoSections = ({ undo }: Approval): CardSections => ({
  "The agent says how it would undo it, if its workflow goes back (not checked)": undo && {
    tool: undo.tool,
    args: { value: undo.args },
  },
});

export const agentWords = (rationale: string | null): CardSections => ({
  "The agent says (its own words, not checked)": rationale !== null && { says: { quote: rationale } },
});

const needsText = ({ quorum, from }: Approval["approvers"]): string =>
  `${quorum} of: ${from === null ? "any person" : from.join(", ")}`;

/** A rule's terms other than who and how many. */
function ruleLines({ approvers, apart = [], widened, stage }: Approval): readonly string[] {
  const { escalateAtHalf: also = [], remindEveryMs, separate } = approvers;
  const isWide = widened.includes(stage);
  return [
    also.length > 0 && !isWide && `from half time on also ${also.join(", ")}`,
    isWide && "half of the time has passed: more people may decide than were asked first",
    remindEveryMs !== undefined && `people are reminded every ${Math.round(remindEveryMs / 60_000)} min`,
    separate === true && `duties are kept apart: never ${["the editor alone", ...apart].join(", ")}`,
  ].filter((line) => line !== false);
}

const STAGE_WORDS = { handed_over: "its time was up", later: "asked later", not_asked: "not asked" } as const;

function stageStatus({ stage, status, votes }: Approval, one: Approval["stages"][number]): string {
  const { stage: number, state } = one;
  const met = votes.filter((vote) => vote.stage === number && vote.decision === "approve");
  if (state === "handed_over" || state === "later" || state === "not_asked") return STAGE_WORDS[state];
  if (number < stage) return `met by ${met.map(({ by }) => by).join(", ")}`;
  return status === "pending" ? "asked now" : status;
}

/** One line per stage. */
function stageLines(approval: Approval): readonly string[] {
  const { stages } = approval;
  if (stages.length === 1) return [];
  return stages.map((one) => {
    const mark = one.state === "asked" ? "→" : " ";
    const veto = one.approvers.veto ? "" : "; one rejection alone does not end it";
    return `${mark} ${one.stage}. ${stageStatus(approval, one)}: ${needsText(one.approvers)}${veto}`;
  });
}

function voteText(vote: Approval["votes"][number], binding: string): RichText {
  const stale = vote.binding === binding ? "" : " (on an earlier version; does not count)";
  const final = vote.final === true ? " for good" : "";
  const stage = vote.stage === undefined ? "" : ` in stage ${vote.stage}`;
  const note = vote.note === null ? "" : `: ${vote.note}`;
  return [`${vote.by} ${vote.decision}${final}${stage}, `, { ago: vote.at }, `${stale}${note}`];
}

function endingText({ at, by, reason }: NonNullable<Approval["ended"]>): RichText {
  const who = by.length === 0 ? "" : ` by ${by.join(", ")}`;
  return [{ ago: at }, `${who}${reason === "" ? "" : `: ${reason}`}`];
}

export function decidersSection(approval: Approval, voters: Card["voters"]): CardSections {
  const { approvers, votes, decided, ended, delegations } = approval;
  const [first, ...others] = stageLines(approval);
  const asked = voters.filter(({ state }) => state === "asked").map(({ person }) => person);
  const agreed = votesNow(approval).filter(({ decision }) => decision === "approve").length;
  return {
    "Who decides": [
      {
        stage: stageCount(approval),
        needs: `${needsText(approvers)}; never ${approval.requester.join(", ")}`,
        rejection: approvers.veto ? "one ends it" : "one alone does not end it",
        "": { each: ruleLines(approval) },
        decides: {
          each: delegations.map(({ by, to, reason, at }) => [
            `${to} in the place of ${by}, `,
            { ago: at },
            `: ${reason}`,
          ]),
        },
      },
      {
        stages: first,
        "": { each: others },
        agreed: approvers.quorum > 1 ? `${agreed} of ${approvers.quorum} have agreed` : undefined,
        asked: asked.length === 0 ? undefined : asked.join(", "),
        votes: votes.length === 0 ? "none yet" : undefined,
        vote: { each: votes.map((vote) => voteText(vote, approval.binding)) },
        decided: decided && endingText(decided),
        [approval.status]: approval.about === "action" ? ended && endingText(ended) : undefined,
      },
    ],
  };
}

/** Each comment starts with its author. */
export function commentsSection({ id, comments, agent }: Approval): CardSections {
  const earlier = comments.length - MOST_COMMENTS;
  return {
    "What was asked and answered": comments.length > 0 && [
      { earlier: earlier > 0 ? `${earlier} more: \`holdpoint show ${id} --json\`` : undefined },
      ...comments.slice(-MOST_COMMENTS).map(({ by, at, text, category }) => ({
        [by === agent ? "agent wrote" : "wrote"]: [`${by}${category ? ` (${category})` : ""}, `, { ago: at }],
        text: { quote: text },
      })),
    ],
  };
}

/** What happens at the deadline without a decision; undefined if there is no deadline. */
function afterDeadline({ status, decideBy, stages, stage, atDeadline }: Approval): string | undefined {
  if (status !== "pending" || decideBy === null) return undefined;
  const next = stages[stage];
  if (atDeadline === "extend") return "there is as much time again, once";
  if (atDeadline === "expire" || next === undefined) return "it expires";
  return `stage ${stage + 1} is asked instead: ${needsText(next.approvers)}`;
}

export const timeText = (at: number | null): RichText => (at === null ? "no deadline" : [{ ago: at }]);

export const deadlineFields = (approval: Approval, label = "decide by"): CardFields => ({
  [label]: timeText(approval.decideBy),
  extended: {
    each: approval.extensions.map(({ by, at, from, decideBy }) => [
      ...(by === "deadline" ? ["by itself"] : [`by ${by}, `, { ago: at }]),
      ": from ",
      { moment: from },
      " to ",
      { moment: decideBy },
    ]),
  },
  [THEN]: afterDeadline(approval),
});

export const costsSection = (costs: Card["costs"]): CardSections => ({
  "What it costs, as the tool expects": costs.length > 0 && {
    cost: {
      each: costs.map(({ budget, amount, left }) => {
        const rest = left === null ? "is not there in this currency" : `has ${moneyText(left)} left`;
        return `${moneyText(amount)} of the budget ${budget}, which ${rest}`;
      }),
    },
  },
});

function shortJson(value: Json | undefined): string {
  if (value === undefined) return "not there";
  const text = JSON.stringify(value);
  return withoutEscapes(text.length <= LONGEST_VALUE ? text : `${text.slice(0, LONGEST_VALUE)}…`);
}

/** Policy or people changed the arguments since the agent proposed them. */
export function changesSection({ args, edited }: Approval, proposed: Json): CardSections {
  const changes = proposed === null ? [] : diffJson(proposed, args);
  const lines = changes.slice(0, MOST_CHANGES).map(({ path, before, after }) => {
    return `${path.join(".")}: ${shortJson(before)} → ${shortJson(after)}`;
  });
  return {
    [`What ${edited ? "people" : "policy"} changed since it was proposed`]: changes.length > 0 && {
      changed: { each: lines },
      more: changes.length > MOST_CHANGES ? `${changes.length - MOST_CHANGES} changes` : undefined,
    },
  };
}

/** Renderers write out what would be invisible. The escapes of JSON would be written out a second time. */
const withoutEscapes = (json: string): string =>
  json
    .replaceAll(/\\\\|\\(?:[bfnrt]|u[\da-f]{4})/g, (found) =>
      found === "\\\\" ? found : String(JSON.parse(`"${found}"`)),
    )
    .toWellFormed();

type Effect = NonNullable<Card["workflow"]>["done"][number];

function effectText({ tool, action, phase, isUndone, cannotUndo, at, args }: Effect): RichText {
  const undo = cannotUndo ? "; it CANNOT be undone" : "";
  const state = `${phase.replaceAll("_", " ")}${isUndone ? ", then undone" : undo}`;
  return [`${tool} (`, { id: action }, `): ${state}, `, { ago: at }, `, ${withoutEscapes(args)}`];
}

/** What it did before it was asked; at a checkpoint, since the one to which a rejection goes back. */
export function effectsSection(workflow: Card["workflow"], rejecting: Card["rejecting"]): CardSections {
  if (workflow === null) return {};
  const { done, total, since, children, workflow: id, name, attempt, attempts } = workflow;
  const back = rejecting?.goesBackTo == null ? "the start" : quotedName(rejecting.goesBackTo);
  const from = rejecting === null || rejecting.isEnd ? "before this was asked" : `since ${back}`;
  const own = done.filter(({ isSince }) => isSince);
  const shown = own.slice(0, MOST_EFFECTS);
  const left = total - shown.length;
  return {
    [`What ${rejecting === null ? "its workflow" : "it"} has done ${from}`]: {
      workflow:
        rejecting === null ? [`${name} (`, { id }, `), attempt ${attempt} of ${attempts}`] : undefined,
      effects: own.length + children.length === 0 ? "none" : undefined,
      effect: { each: shown.map(effectText) },
      more: left === 0 ? undefined : [`${left} earlier effects: `, { id }],
      started: {
        each: children.map(({ name: child, workflow: of, status }) => [
          `${child} (`,
          { id: of },
          `), a workflow of its own: ${status === "open" ? "under way" : status}`,
        ]),
      },
      later: since === 0 ? undefined : `${since} more effects since this was asked`,
    },
  };
}

/** What a rejection of the checkpoint does to the workflow. */
export function rejectionSections({
  rejecting,
  workflow,
}: Pick<Card, "rejecting" | "workflow">): CardSections {
  if (rejecting === null || workflow === null) return {};
  const { isEnd, permanent, claimed } = rejecting;
  const listed = new Set(permanent.map(({ action }) => action));
  // A checkpoint that a monitor raised does not list every effect.
  const others = workflow.done.filter(({ action, isSince, cannotUndo, phase }) => {
    return isSince && cannotUndo && phase === "applied" && !listed.has(action);
  });
  const lost = [...permanent, ...others].map(({ tool, action }) => `${visible(tool)} (${action}) stays done`);
  const left = lost.length - MOST_PERMANENT;
  const more = left > 0 ? [`${left} more effects stay done`] : [];
  return {
    "If you reject": {
      effect: { paragraphs: rejectionWords(rejecting, workflow) },
      claimed: claimed.length === 0 ? undefined : `undone as the agent says: ${claimed.join(", ")}`,
    },
    "What cannot be undone if you reject": !isEnd &&
      lost.length > 0 && { lost: { warnings: [...lost.slice(0, MOST_PERMANENT), ...more] } },
  };
}

type Rejecting = NonNullable<Card["rejecting"]>;

function rejectionWords(
  { isEnd, isLast, goesBackTo }: Rejecting,
  { attempt, attempts }: NonNullable<Card["workflow"]>,
): readonly string[] {
  if (isEnd) return ["The workflow fails. Nothing of what it did is undone."];
  const place = goesBackTo === null ? "the start" : quotedName(goesBackTo);
  const undone = `What it did since ${place} is undone, newest first.`;
  if (isLast && attempt < attempts) return [undone, "Then it fails, because not everything can be undone."];
  if (isLast) return [undone, `Then it fails: this is attempt ${attempt} of ${attempts}.`];
  return [
    undone,
    `Then it is tried again from there, and told your reason: attempt ${attempt + 1} of ${attempts}.`,
    "With --final it fails instead.",
  ];
}

/** What the agent had done with the tool when this was asked, as it is now. */
export function historySection(history: Card["history"]): CardSections {
  if (history === null) return {};
  const { total, applied, refused, inDoubt, isAll, latest } = history;
  const none = isAll ? "never" : "not among the latest actions of all agents";
  const count = `${total} ${total === 1 ? "time" : "times"}${isAll ? "" : " among the latest actions"}`;
  return {
    "What the agent did with the tool before": {
      before: total === 0 ? none : `${count}: ${applied} applied, ${refused} refused, ${inDoubt} in doubt`,
      latest: {
        each: latest.map(({ action, phase, at, args }) => [
          `${phase.replaceAll("_", " ")} `,
          { ago: at },
          ", ",
          { id: action },
          `: ${withoutEscapes(args)}`,
        ]),
      },
    },
  };
}

const versionWords = (digest: string, names: PolicyNames): string =>
  `${names.get(digest) ?? "unknown"} ${digest.slice(0, 12)}`;

type AskedDocuments = Pick<ReviewFacts, "policy" | "document"> & {
  readonly documents?: readonly string[] | undefined;
};

/** A policy in code has a digest, but no document to show. */
export function policyWords(asked: AskedDocuments, names: PolicyNames): string {
  const named = asked.documents ?? [];
  const digests = named.length > 0 ? named : documentsNamed(asked).filter((digest) => names.has(digest));
  if (digests.length === 0) return `in code, ${asked.policy.slice(0, 12)}`;
  return digests.map((digest) => versionWords(digest, names)).join(", ");
}

/** The policies' risk assessments, and the verdicts of their shadow rules. Each names its document if several decided. */
function remarkFields(review: Action["review"], names: PolicyNames): CardFields {
  if (review === null) return {};
  const { risks, shadow, documents } = review;
  const from = (document: string | undefined) =>
    document === undefined || documents.length < 2 ? "" : `, says ${versionWords(document, names)}`;
  return {
    risk: {
      each: risks.map(({ score, level, conditions, document }) => {
        const why = conditions.length === 0 ? "" : ` (${conditions.join(", ")})`;
        return `${score}, ${level}${why}${from(document)}`;
      }),
    },
    "on trial": {
      each: shadow.map(({ rule, verdict, reason, document }) => {
        const why = reason === "" ? "" : `: ${reason}`;
        return `${rule} would ${verdict}${why}${from(document)}`;
      }),
    },
  };
}

/** A policy that names no rule has this one. */
const UNNAMED = "policy";

function ruleFields({ rule, reason }: Pick<ReviewFacts, "rule" | "reason">, isAsked = true): CardFields {
  const none = isAsked && rule === UNNAMED ? "no rule is named: this tool asks a person each time" : "-";
  return { rule, reason: reason === "" ? none : reason };
}

/** The approval has the rule and reason of the request; later reviews are of what people made of it. */
export function reasonSections(
  review: Action["review"],
  approval: Approval | undefined,
  policies: PolicyNames,
  reviews: Card["reviews"] = [],
): CardSections {
  const asked = approval ?? review;
  const remarks = remarkFields(review, policies);
  if (approval?.edited !== true || review === null) {
    const policy = asked === null ? undefined : policyWords(asked, policies);
    const why = ruleFields(asked ?? { rule: "-", reason: "it was not reviewed" }, approval !== undefined);
    return { "Why it is asked": { policy, ...why, ...remarks } };
  }
  const earlier = reviews.slice(1, -1).map(({ editedBy, policyName, policy, verdict, ...why }) => ({
    "changed by": editedBy,
    policy: policyName ?? policy.slice(0, 12),
    verdict,
    ...ruleFields(why, verdict === "escalate"),
  }));
  const last = {
    "changed by": approval.editor,
    policy: policyWords(review, policies),
    verdict: review.verdict,
    ...ruleFields(review, review.verdict === "escalate"),
    ...remarks,
  };
  return {
    "Why it was asked at first": ruleFields(approval),
    "What policy says of it as people changed it": [...earlier, last],
  };
}

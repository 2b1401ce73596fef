/** Common parts of all approval cards: status, deciders, deadline, and text by people and the agent. */
import type { CardDocument, CardFields, CardSections, RichText, Tone } from "../../kernel/terminal.ts";
import type { CardContent } from "../../notify/content.ts";

/** A label. As a plain key, the object would look like a promise. */
const THEN = "then";

export type CardOf<Kind extends CardContent["kind"]> = Extract<CardContent, { readonly kind: Kind }>;
type Approval = CardOf<"intent">["approval"];

export const TONES: { readonly [state: string]: Tone } = {
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

/** Most comments shown (the latest): rendering many long ones takes time. */
const MOST_COMMENTS = 20;

/** A workflow consumes its approval in the commit that decides it, so the decision is shown instead. */
export function decisionWord({ status, about, edited }: Approval): string {
  if (about === "action" || status !== "consumed") return status;
  const approved = edited ? "modified" : "approved";
  return about === "question" ? "answered" : approved;
}

export function approvalHead(approval: Approval): Pick<CardDocument, "title" | "badge"> {
  const text = decisionWord(approval);
  return { title: `Approval ${approval.id}`, badge: { text, tone: TONES[text] ?? "bold" } };
}

export const agentWords = (rationale: string | null): CardSections => ({
  "The agent says (its own words, checked by nobody)":
    rationale === null ? undefined : { says: { quote: rationale } },
});

/** "2 of 3"; undefined if there is one. */
export function stageCount({ stages, stage }: Approval): string | undefined {
  return stages.length === 1 ? undefined : `${stage} of ${stages.length}`;
}

const needsText = ({ quorum, from }: Approval["approvers"]): string =>
  `${quorum} of: ${from === null ? "any person" : from.join(", ")}`;

/** A rule's terms other than who and how many. */
function ruleLines({ approvers, apart = [], widened, stage }: Approval): readonly string[] {
  const { escalateAtHalf: also = [], remindEveryMs, separate } = approvers;
  const isWide = widened.includes(stage);
  return [
    also.length > 0 && !isWide && `from half time on also ${also.join(", ")}`,
    isWide && "half time is over: more people may decide than were asked first",
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

function delegationText({ by, to, reason, at }: Approval["delegations"][number]): RichText {
  return [`${to} in the place of ${by}, `, { ago: at }, `: ${reason}`];
}

function endingText({ at, by, reason }: NonNullable<Approval["ended"]>): RichText {
  const who = by.length === 0 ? "" : ` by ${by.join(", ")}`;
  return [{ ago: at }, `${who}${reason === "" ? "" : `: ${reason}`}`];
}

function deciders(approval: Approval): readonly CardFields[] {
  const { approvers, votes, decided, ended } = approval;
  const [first, ...others] = stageLines(approval);
  return [
    {
      stage: stageCount(approval),
      needs: `${needsText(approvers)}; never ${approval.requester.join(", ")}`,
      rejection: approvers.veto ? "one ends it" : "one alone does not end it",
      "": { each: ruleLines(approval) },
      decides: { each: approval.delegations.map(delegationText) },
    },
    {
      stages: first,
      "": { each: others },
      votes: votes.length === 0 ? "none yet" : undefined,
      vote: { each: votes.map((vote) => voteText(vote, approval.binding)) },
      decided: decided && endingText(decided),
      [approval.status]: approval.about === "action" ? ended && endingText(ended) : undefined,
    },
  ];
}

/** Each comment starts with its author. */
function comments({ id, comments: written, agent }: Approval): readonly CardFields[] | undefined {
  if (written.length === 0) return undefined;
  const earlier = written.length - MOST_COMMENTS;
  return [
    { earlier: earlier > 0 ? `${earlier} more: \`holdpoint show ${id} --json\`` : undefined },
    ...written.slice(-MOST_COMMENTS).map(({ by, at, text, category }) => ({
      [by === agent ? "agent wrote" : "wrote"]: [`${by}${category ? ` (${category})` : ""}, `, { ago: at }],
      text: { quote: text },
    })),
  ];
}

export const peopleSections = (approval: Approval): CardSections => ({
  "Who decides": deciders(approval),
  "What was asked and answered": comments(approval),
});

/** What happens at the deadline without a decision; undefined if there is no deadline. */
function afterDeadline(approval: Approval): string | undefined {
  const { status, decideBy, stages, stage, atDeadline: then } = approval;
  if (status !== "pending" || decideBy === null) return undefined;
  const next = stages[stage];
  if (then === "extend") return "there is as much time again, once";
  if (then === "expire" || next === undefined) return "it expires";
  return `stage ${stage + 1} is asked instead: ${needsText(next.approvers)}`;
}

export const timeText = (at: number | null): RichText => (at === null ? "no deadline" : [{ ago: at }]);

export const deadlineFields = (approval: Approval, label = "decide by"): CardFields => ({
  [label]: timeText(approval.decideBy),
  extended: {
    each: approval.extensions.map(({ by, at, from, decideBy }) => [
      ...(by === "deadline" ? ["by itself"] : [`by ${by}, `, { ago: at }]),
      `: from ${new Date(from).toISOString()} to ${new Date(decideBy).toISOString()}`,
    ]),
  },
  [THEN]: afterDeadline(approval),
});

/** Last sections of a card about a workflow. */
type WorkflowCard = Pick<CardOf<"question">, "approval" | "workflow">;
export function workflowSections({ approval, workflow }: WorkflowCard, label?: string): CardSections {
  return {
    When: { asked: [{ ago: approval.requestedAt }], ...deadlineFields(approval, label) },
    "What it is known by": {
      workflow: workflow.id,
      operation: approval.op ?? "-",
      agent: approval.agent,
      args: approval.argsDigest,
      binding: approval.binding,
    },
  };
}

/** A command to type. The binding ensures that the person approves what was shown here. */
export const approveCommand = ({ id, binding }: Approval): string =>
  `approve ${id} --binding ${binding.slice(0, 12)}`;
export const rejectCommand = ({ id }: Approval): string => `reject ${id} --reason "…"`;

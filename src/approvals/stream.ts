/** The stream of an approval: what each event does to the state, and the lists. `state.ts` has its invariants. */

import { previewOf, titleForRow } from "../kernel/canonical-json.ts";
import { HoldpointError } from "../kernel/errors.ts";
import type { JsonObject } from "../kernel/json.ts";
import type { Via } from "../kernel/principal.ts";
import { withRefusal } from "../kernel/refusals.ts";
import { defineStream } from "../kernel/stream.ts";
import { actionTitle } from "./rules/title.ts";
import {
  type ApprovalEnding,
  type ApprovalQuestion,
  type ApprovalState,
  type ApprovalStatus,
  type CommentBody,
  type Deadlines,
  type DecidedBy,
  type DelegationBody,
  type EditRefusal,
  type ExtensionBody,
  type InStage,
  type LiveApproval,
  listApproval,
  nextAtDeadline,
  nextDue,
  type OpenEdit,
  type Reminder,
  ruleIn,
  stageRules,
  type VoteBody,
  votesNow,
} from "./state.ts";

type Entry = { readonly at: number };
type By = { readonly by: string; readonly reason: string } & Via;
type RefusedRequest = DecidedBy & { readonly reason: string };
type StageEnd = { readonly stage: number; readonly decideBy: number | null };

/** Reminders count from here. */
const begins = (at: number) => ({ since: at, remindedUpTo: at });
/** The order of fields is that of printed states. */
const beginStages = (at: number) => ({
  stage: 1,
  handedOver: [],
  extensions: [],
  ...begins(at),
  widened: [],
});

function request(_none: ApprovalState, question: ApprovalQuestion, { at }: Entry): LiveApproval {
  const { approvers, decideBy, executeBy } = question;
  return {
    ...question,
    status: "pending",
    requestedAt: at,
    asked: { approvers, decideBy, executeBy, at },
    ...beginStages(at),
    delegations: [],
    votes: [],
    comments: [],
    edit: null,
    editRefused: null,
    edited: false,
    editor: null,
    showsOther: false,
    decided: null,
    ended: null,
  };
}

/** `again`: the stages begin again, with new deadlines. */
type Revision = Pick<
  ApprovalQuestion,
  "args" | "argsDigest" | "policy" | "documents" | "nonce" | "binding" | "preview" | "risk"
> & { readonly by: string; readonly again?: Deadlines };

function revise(state: LiveApproval, body: Revision, { at }: Entry): LiveApproval {
  const { by: editor, again, ...question } = body;
  const { preview: shown, documents: _askedBefore, risk: _ofBefore, ...before } = state;
  const showsOther = state.showsOther || shown?.digest !== question.preview?.digest;
  const reviewed = { edit: null, editRefused: null, edited: true, editor };
  const revised = { ...before, ...question, ...reviewed, showsOther, votes: [] };
  if (again === undefined) return revised;
  const { approvers } = state.asked;
  return { ...revised, ...again, ...beginStages(at), approvers, asked: { ...state.asked, ...again, at } };
}

function nextStage(state: LiveApproval, { stage, decideBy }: StageEnd, begun: number): LiveApproval {
  const approvers = stageRules(state)[stage];
  if (approvers === undefined || stage !== state.stage)
    throw new HoldpointError("broken_rule", `The end of stage ${stage} came in stage ${state.stage}.`);
  return { ...state, ...begins(begun), stage: stage + 1, approvers, decideBy };
}

function vote(state: LiveApproval, body: VoteBody, { at }: Entry): LiveApproval {
  const edit = state.edit?.by === body.by ? null : state.edit;
  return { ...state, votes: [...state.votes, { ...body, at }], edit };
}

/** More time to decide also gives as much more time to start. */
function extend(state: LiveApproval, extension: ExtensionBody, { at }: Entry): LiveApproval {
  const { from, decideBy, by } = extension;
  const executeBy = state.executeBy === null ? null : state.executeBy + (decideBy - from);
  const extensions = [...state.extensions, { ...extension, at }];
  return { ...state, ...begins(by === "deadline" ? from : at), decideBy, executeBy, extensions };
}

function widen(state: LiveApproval): LiveApproval {
  const widened = [...state.widened, state.stage];
  return { ...state, widened, approvers: ruleIn({ ...state, widened }, state.stage) };
}

/** Only an action has arguments to name: anything else that is asked goes by its name. */
export function approvalTitle(approval: ApprovalQuestion): string {
  const { subject, tool, titleTemplate, args } = approval;
  return actionTitle(tool, titleTemplate, subject === undefined ? args : null);
}

function summary(approval: LiveApproval): JsonObject {
  const args = previewOf(approval.args);
  return {
    status: approval.status,
    about: approval.subject?.kind ?? "action",
    action: approval.action,
    tool: approval.tool,
    agent: approval.agent,
    args,
    argsHash: approval.argsDigest.slice(0, 12),
    reason: approval.reason,
    votes: votesNow(approval).length,
    quorum: approval.approvers.quorum,
    stage: approval.stage,
    stages: approval.stages?.length ?? 1,
    from: approval.approvers.from,
    atDeadline: nextAtDeadline(approval),
    edit: approval.edit !== null,
    preview: approval.preview === undefined ? null : previewOf(approval.preview.value),
    previewFailed: approval.preview?.failed ?? false,
    requestedAt: approval.requestedAt,
    decideBy: approval.decideBy,
    decidedBy: approval.decided?.by ?? [],
    ...(listApproval(approval) as unknown as JsonObject),
    edited: approval.edited,
    ...titleForRow(args, approval.titleTemplate, () => approvalTitle(approval)),
  };
}

/** Sorts approvals without a deadline last: the latest time that a date can hold. */
const NEVER = 8_640_000_000_000_000;

const PENDING = ["pending"] as const;
const GIVEN = ["approved", "modified"] as const;
const { after, define } = defineStream<ApprovalState>();

type Apply<Body> = (state: LiveApproval, body: Body, entry: Entry) => LiveApproval;
const pending = <Body>(meaning: string, apply: Apply<Body>) => after(PENDING, meaning, apply);
const given = <Body>(meaning: string, apply: Apply<Body>) => after(GIVEN, meaning, apply);
/** Who ended it, and why. */
type Ending = Omit<ApprovalEnding, "at">;
const agreed = ({ by }: { readonly by: readonly string[] }): Ending => ({ by, reason: "" });
const endedBy = ({ by, reason }: By): Ending => ({ by: [by], reason });
/** Ends the question. */
const decided = <Body>(status: ApprovalStatus, meaning: string, ending: (body: Body) => Ending) =>
  pending<Body>(meaning, (state, body, { at }) => ({
    ...state,
    status,
    decided: { at, ...ending(body) },
    edit: null,
  }));
/** Ends what the decision is good for. */
const ended = <Body>(status: ApprovalStatus, meaning: string, ending: (body: Body) => Ending) =>
  given<Body>(meaning, (state, body, { at }) => ({ ...state, status, ended: { at, ...ending(body) } }));
/** Recorded and counted; changes nothing else. */
const refused = <Body extends RefusedRequest>(meaning: string) =>
  after("live", meaning, (state: LiveApproval, { by }: Body) => withRefusal(state, by));

export const approval = define("approval", {
  what: "An approval",
  version: 7,
  initial: { status: "none" },
  words: { none: "not requested" },
  events: {
    "approval.requested": after(
      ["none"],
      "the question: everything that is asked, who may decide, in which stages, until when and what happens then, [which policy](#which-policy) asks, the [preview](../guide/previews.md) if the tool has one, the agent's `undo` if it names one, and the binding; its `subject` when it is a workflow's checkpoint or question, or an intent; the `workflow` in which an action was called, or null, the level of `risk` that policies saw, if any, and the `titleTemplate` of the tool, if it has one",
      request,
    ),
    "approval.voted": pending(
      "a person's vote for one binding, with note and channel; the stage in which it counts, if there are several; whether a rejection is for good; `shown`, the digest of [what the person saw](../guide/approvals.md#the-card), the card or its row in a list, if they name one",
      vote,
    ),
    "approval.vote_refused": refused<RefusedRequest & { readonly decision: string; readonly code: string }>(
      "a late, second, stale or ineligible vote, or one whose edit has a secret's value in it, and why it does not count",
    ),
    "approval.edited": pending(
      "a person wants other arguments; not reviewed yet. `seen` is the binding that they named, `shown` the digest of the card, or the row, that they saw",
      (state, edit: OpenEdit) => ({ ...state, edit, editRefused: null }),
    ),
    "approval.edit_refused": pending(
      "the edit does not pass schema, policy or standing; the question stays open. By the rule `preview` it is no refusal: the edit is already accepted, and its author is asked to review the changed preview. Where a policy refused it: [which](#which-policy), and what it remarked",
      (state, editRefused: EditRefusal) => ({ ...state, edit: null, editRefused }),
    ),
    "approval.revised": pending(
      "the edit passed: new arguments and their preview, [which policy](#which-policy) was asked, new binding, earlier votes are void (no vote of the editor follows where the preview is not the one they were shown); with the new deadlines where stages begin again, and the level of `risk`, if any",
      revise,
    ),
    "approval.stage_met": pending(
      "a stage has its quorum, and by whom; the next one is asked, until `decideBy`",
      (state, body: StageEnd & { readonly by: readonly string[] }, { at }) => nextStage(state, body, at),
    ),
    "approval.escalated": pending(
      "a stage's time was up: its votes count for nothing, and the next one is asked, until `decideBy`",
      (state, body: StageEnd, { at }) => ({
        ...nextStage(state, body, state.decideBy ?? at),
        handedOver: [...state.handedOver, body.stage],
      }),
    ),
    "approval.extended": pending(
      "there is more time: from which deadline to which, by a person, or by `deadline` where the policy says so",
      extend,
    ),
    "approval.reminded": pending(
      "people were reminded: why (`half_time`, `last_call` or `interval`), when it was `due`, and the deadline. It decides nothing",
      (
        state,
        { due }: InStage & Pick<Reminder, "why"> & { readonly due: number; readonly decideBy: number | null },
      ) => ({ ...state, remindedUpTo: due }),
    ),
    "approval.widened": pending(
      "from half time on, these may also decide",
      (state, _body: InStage & { readonly also: readonly string[]; readonly halfTime: number }) =>
        widen(state),
    ),
    "approval.delegated": pending(
      "an approver delegated their seat in this stage, and why",
      (state, body: DelegationBody, { at }) => ({
        ...state,
        delegations: [...state.delegations, { ...body, at }],
      }),
    ),
    "approval.delegation_withdrawn": pending(
      "a seat came back: `of` whom it is again, from whom, by whom and why",
      (state, { of, stage }: DelegationBody & { readonly of: string }) => ({
        ...state,
        delegations: state.delegations.filter((one) => one.by !== of || one.stage !== stage),
      }),
    ),
    "approval.delegate_refused": refused<RefusedRequest & { readonly to: string }>(
      "a delegation or its withdrawal was refused, and why",
    ),
    "approval.commented": pending(
      "a comment by an approver, or the agent's reply: by whom, what, and the channel; it decides nothing",
      (state, body: CommentBody, { at }) => ({ ...state, comments: [...state.comments, { ...body, at }] }),
    ),
    "approval.comment_refused": refused("a person who neither asks nor may decide wanted to comment"),
    "approval.extend_refused": refused("a person who may not decide it asked for more time"),
    "approval.approved": decided("approved", "enough people agreed", agreed),
    "approval.modified": decided(
      "modified",
      "enough people agreed to something that a person had changed",
      agreed,
    ),
    "approval.rejected": decided("rejected", "a person said no, and that ended it", endedBy),
    "approval.expired": decided(
      "expired",
      "no decision before the deadline",
      (_body: { readonly decideBy: number }) => ({ by: [], reason: "nobody decided in time" }),
    ),
    "approval.cancelled": decided("cancelled", "the request was withdrawn", endedBy),
    "approval.superseded": decided<By & { readonly approval: string }>(
      "superseded",
      "an edit falls under another approver rule, so that another approval asks instead: `approval` names it",
      endedBy,
    ),
    "approval.consumed": ended(
      "consumed",
      "it was used, once: by this effect, or by this operation of a workflow",
      ({ effect }: { readonly effect: string }) => ({ by: [effect], reason: "" }),
    ),
    "approval.lapsed": ended(
      "lapsed",
      "it was given, but no longer fits: time, tool, policy, preview or a voter's standing",
      ({ reason }: { readonly reason: string }) => ({ by: [], reason }),
    ),
    "approval.revoked": ended("revoked", "a person took it back before it was used", endedBy),
  },
  lists: [
    {
      bucket: ({ status }) => status,
      data: summary,
      orders: {
        requested: {
          view: "approvals",
          version: 6,
          oldest: 4,
          at: ({ requestedAt }) => requestedAt,
          due: nextDue,
        },
        deadline: {
          view: "approvals_by_deadline",
          version: 1,
          only: ({ status }) => status === "pending",
          at: ({ decideBy }) => decideBy ?? NEVER,
        },
        /** Also those that expired or were withdrawn. */
        decision: {
          view: "approvals_by_decision",
          version: 1,
          only: ({ status }) => status !== "pending",
          at: ({ decided, requestedAt }) => decided?.at ?? requestedAt,
        },
      },
    },
  ],
});

export type ApprovalBodies = NonNullable<typeof approval.bodies>;
export type ApprovalEvent = {
  [Type in keyof ApprovalBodies]: { readonly type: Type; readonly body: ApprovalBodies[Type] };
}[keyof ApprovalBodies];

/** Implementation of the verbs of approvals. */
import { copyEdit } from "../effects/arguments.ts";
import { parseInput } from "../kernel/contract.ts";
import { HoldpointError, isHoldpointError } from "../kernel/errors.ts";
import { checkSignal, isPlainObject } from "../kernel/fields.ts";
import { channelField, type Via } from "../kernel/principal.ts";
import { refusalData } from "../kernel/refusals.ts";
import { approvalStream, ROSTER } from "../kernel/stream.ts";
import { type Draft, isNeed, type Need, type Needs } from "../kernel/transaction.ts";
import { keepText, settleTexts } from "../people/secret-guesses/limit.ts";
import { findIds } from "../runtime/lists.ts";
import type { Runtime, RuntimeOpener } from "../runtime/runtime.ts";
import { readState, runCommand } from "../runtime/store-access.ts";
import { bindLibrary, capability, preparedVerb, readVerb, runVerb } from "../runtime/verb.ts";
import { readSealedCard } from "./card.ts";
import {
  type Approvals,
  approvals,
  type BatchAnswer,
  type BatchItem,
  type Decided,
  type Decider,
  decision,
  type Extension,
  rejection,
} from "./contract.ts";
import { approveApproval, rejectApproval, secretsOf } from "./decide.ts";
import { countApprovals, followApprovals, listApprovals } from "./lists.ts";
import { describeState, getApproval, type LoadedApproval, loadApproval, unknownApproval } from "./read.ts";
import { type CommentAnswer, comment } from "./rules/comment.ts";
import { type ExtendAnswer, extend } from "./rules/deadline.ts";
import { type DelegateAnswer, delegate } from "./rules/delegate.ts";
import { type CancelDecision, cancelIfAllowed, revokeApproval, type Withdrawal } from "./rules/withdraw.ts";
import { type ApprovalState, aboutOf, type CommentBody } from "./state.ts";

type Refusing = CommentAnswer | DelegateAnswer | ExtendAnswer;
type Wording = {
  /** `refused`: the rules refuse it to this person. `notPossible`: no person can do it any more. */
  readonly refused: (id: string) => string;
  readonly notPossible: (id: string) => string;
  readonly what: "comment" | "request";
  readonly next?: string;
};

const WORDINGS: { readonly [verb in "comment" | "delegate" | "extend"]: Wording } = {
  comment: {
    refused: (id) => `The comment on ${id} was refused`,
    notPossible: (id) => `The comment on ${id} was not taken`,
    what: "comment",
    next: "Only a person who may decide it, or the agent that asked, can comment.",
  },
  delegate: {
    refused: (id) => `The seat in ${id} stays where it is`,
    notPossible: (id) => `The seat in ${id} was not moved`,
    what: "request",
    next: "Ask another person to decide, or decide yourself.",
  },
  extend: {
    refused: (id) => `${id} was not given more time`,
    notPossible: (id) => `The approval ${id} was not given more time`,
    what: "request",
  },
};

/** Throws if a rule refused, otherwise returns the answer. */
function checkDone<Answer extends Refusing>(
  verb: keyof typeof WORDINGS,
  id: string,
  answer: Answer,
): Exclude<Answer, { reason: string } | { kind: "unknown" }> {
  const { refused, notPossible, what, next } = WORDINGS[verb];
  switch (answer.kind) {
    case "comment_refused":
    case "delegate_refused":
    case "extend_refused":
      throw new HoldpointError("not_eligible", `${refused(id)}: ${answer.reason}.`, {
        details: { approval: id, ...("status" in answer ? { status: answer.status } : {}) },
        data: refusalData(what, answer.isRecorded, "the approval did not change"),
        ...(next === undefined ? {} : { next }),
      });
    case "not_possible":
      throw new HoldpointError("wrong_state", `${notPossible(id)}: ${answer.reason}.`, {
        details: { status: answer.status },
      });
    case "unknown":
      throw unknownApproval(id);
    default:
      return answer as Exclude<Answer, { reason: string } | { kind: "unknown" }>;
  }
}

type Written = { readonly id: string; readonly by: string };
type Worded = Written & { readonly reason: string };
type Moved = Worded & { readonly to?: string | null };
type Commented = Written & Pick<CommentBody, "text" | "category">;

/** What the rules need in any case. Declaring it up front saves a second round. */
const needsOf = (id: string): Needs => ({ write: [approvalStream(id)], read: [ROSTER] });

/** What a rule answered, and the approval as the rule left it: it is not read again, and nothing came in between. */
const withState = <Answer>(draft: Draft, id: string, answer: Need | Answer) =>
  isNeed(answer) ? answer : { answer: answer as Answer, state: draft.state(approvalStream(id)) };

type Act<In, Answer> = {
  rule(draft: Draft, command: In & { readonly approval: string }, how: Via): Need | Answer;
  /** Throws if the rule refused. */
  check(id: string, answer: Answer): void;
  needs?(id: string, approval: LoadedApproval): Needs;
};

/** An act with a person's text, from which the values of the action's secrets are removed. A comment is nothing else. */
const actVerb = <In extends Written & { readonly [Name in Field]: string }, Answer, Field extends string>(
  field: Field,
  { rule, check, needs = needsOf }: Act<Omit<In, "id">, Answer>,
) =>
  preparedVerb(
    async (runtime: Runtime, { id: approval, ...input }: In, how: Via) => {
      const { by, [field as "text"]: text } = input as unknown as Commented;
      const before = await loadApproval(runtime, approval);
      const known = await secretsOf(runtime, before);
      const kept = keepText(runtime, { by, text, known }, { isWholeAct: field === "text" });
      const command = { ...input, approval, [field]: kept.text };
      return { input: { command, how, before, kept }, needs: needs(approval, before) };
    },
    (draft, { command, how }) => withState(draft, command.approval, rule(draft, command, how)),
    async (runtime, { answer, state }, { command: { approval: id }, before, kept }) => {
      await settleTexts([kept], () => check(id, answer));
      return describeState(runtime, id, state, before);
    },
  );

/** Withdraws a question or revokes a decision. */
const withdrawVerb = (rule: (draft: Draft, command: Withdrawal) => Need | CancelDecision) =>
  actVerb<Worded, CancelDecision, "reason">("reason", {
    rule: (draft, command, how) => rule(draft, { ...command, ...channelField(how) }),
    needs: (id, approval) => ({ write: [approvalStream(id), aboutOf(approval)] }),
    check(id, answer) {
      if (answer.kind === "ended") return;
      if (answer.kind === "not_theirs")
        throw new HoldpointError("not_eligible", `${id} was not withdrawn: ${answer.reason}.`, {
          data: "The approval is as it was.",
          next: "Only the requester, a person who may decide it, or an admin can withdraw it.",
        });
      if (answer.status === "none") throw unknownApproval(id);
      throw new HoldpointError("wrong_state", `The approval ${id} is ${answer.status}.`, {
        details: { status: answer.status },
      });
    },
  });

/** Delegates a seat, or withdraws the delegation if `to` is absent. */
const moveSeat = actVerb<Moved, DelegateAnswer, "reason">("reason", {
  rule: (draft, { to = null, ...command }, { via = "embedded" }) => delegate(draft, { ...command, to, via }),
  check: (id, answer) => void checkDone("delegate", id, answer),
});

/** Turns a duration into a timestamp before the command, so that a retry does not extend twice. */
async function findDeadline(runtime: Runtime, id: string, { byMs, until }: Extension) {
  const approval = await readState(runtime, approvalStream(id));
  if (approval.status === "none") throw unknownApproval(id);
  if (until !== undefined) return { until, seen: null };
  const { decideBy, status } = approval;
  if (decideBy === null)
    return checkDone("extend", id, { kind: "not_possible", status, reason: "it has no deadline" });
  return { until: decideBy + (byMs ?? 0), seen: decideBy };
}

export async function extendApproval(runtime: Runtime, id: string, more: Extension): Promise<ApprovalState> {
  const { by, via = "embedded" } = more;
  const once = async () => {
    const command = { approval: id, by, via, ...(await findDeadline(runtime, id, more)) };
    return runCommand(runtime, needsOf(id), (draft) => withState(draft, id, extend(draft, command)));
  };
  const first = await once();
  // The deadline that was read had passed. The next one is known only now.
  const { kind } = first.answer;
  const moved = kind === "not_possible" && first.answer.status === "pending" && more.byMs !== undefined;
  const { answer, state } = moved ? await once() : first;
  checkDone("extend", id, answer);
  return state;
}

/** Checked like a single decision. The binding is required: the decision is on what the list showed. */
async function decideOne(runtime: Runtime, item: BatchItem, who: Decider): Promise<Decided> {
  const { id, decision: said, note, edit, ...seen } = item;
  if (said === "reject") {
    const given = parseInput("A decision", rejection, { ...seen, ...who, reason: note ?? "" });
    return rejectApproval(runtime, id, given);
  }
  const given = parseInput("A decision", decision, { ...seen, ...who, note });
  return approveApproval(runtime, id, edit === undefined ? given : { ...given, edit: copyEdit(edit) });
}

/** In the given order. An error from outside Holdpoint, such as a failing store, ends the batch. */
async function decideAll(
  runtime: Runtime,
  items: readonly BatchItem[],
  who: Decider,
): Promise<readonly BatchAnswer[]> {
  const answers: BatchAnswer[] = [];
  for (const item of items) {
    const { id } = item;
    try {
      answers.push({ id, ok: true, decided: await decideOne(runtime, item, who) });
    } catch (error) {
      if (!isHoldpointError(error)) throw error;
      answers.push({ id, ok: false, error });
    }
  }
  return answers;
}

export const approvalVerbs = capability(approvals, {
  list: readVerb(listApprovals),
  count: readVerb((runtime, { status }) => countApprovals(runtime, status)),
  find: readVerb((runtime, { beginning }) => findIds(runtime, "approvals", beginning)),
  get: readVerb((runtime, { id }) => getApproval(runtime, id)),
  approve: runVerb(({ runtime, how }, { id, ...given }) =>
    approveApproval(runtime, id, { ...given, ...how }),
  ),
  reject: runVerb(({ runtime, how }, { id, ...given }) => rejectApproval(runtime, id, { ...given, ...how })),
  extend: runVerb(async ({ runtime, how }, { id, ...more }) =>
    describeState(runtime, id, await extendApproval(runtime, id, { ...more, ...how })),
  ),
  revoke: withdrawVerb(revokeApproval),
  cancel: withdrawVerb(cancelIfAllowed),
  delegate: moveSeat,
  takeBack: moveSeat,
  decideAll: runVerb(({ runtime, how }, { decisions, by }) => decideAll(runtime, decisions, { by, ...how })),
  comment: actVerb<Commented, CommentAnswer, "text">("text", {
    rule: (draft, command, { via = "embedded" }) => comment(draft, { ...command, via }),
    check: (id, answer) => void checkDone("comment", id, answer),
  }),
});

/** Copies the edit at the call: the program may change it afterwards. */
function withOwnEdit<Given extends { readonly edit?: unknown }>(given: Given): Given {
  return isPlainObject(given) && given.edit !== undefined ? { ...given, edit: copyEdit(given.edit) } : given;
}

/** In a batch, an edit that cannot be copied fails only its own decision. */
function withOwnEditIfAny<Given extends { readonly edit?: unknown }>(given: Given): Given {
  try {
    return withOwnEdit(given);
  } catch {
    return given;
  }
}

export function approvalsOf(open: RuntimeOpener): Approvals {
  const verbs = bindLibrary(open, approvalVerbs);
  return {
    ...verbs,
    approve: async (id, given) => verbs.approve(id, withOwnEdit(given)),
    decideAll: async (items, who) =>
      verbs.decideAll(Array.isArray(items) ? items.map(withOwnEditIfAny) : items, who),
    card: async (id, reader) =>
      readSealedCard(await open(), id, { principal: reader?.person ?? null, mayDecide: true }),
    async *follow(signal) {
      checkSignal(signal);
      yield* followApprovals(await open(), signal);
    },
  };
}

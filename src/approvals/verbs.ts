/** Asking for more before an approval is decided, and answering that. */

import { shown } from "../core/error-text.ts";
import { HoldpointError, isHoldpointError } from "../core/errors.ts";
import { isPerson, isPrincipal } from "../core/principal.ts";
import { refusalData } from "../core/refusals.ts";
import { LONGEST_MS } from "../core/stages.ts";
import { approvalStream, ROSTER } from "../core/stream.ts";
import { checkFields, checkId, wrong } from "../engine/check-call.ts";
import { MOST_AT_ONCE } from "../engine/limits.ts";
import { copyEdit } from "../engine/prepare-args.ts";
import { readState } from "../engine/read-state.ts";
import { runCommand } from "../engine/run-command.ts";
import type { Runtime } from "../engine/runtime.ts";
import { keptBeside, keptText } from "../engine/secret-guesses.ts";
import { approveApproval, checkVia, type Decided, rejectApproval, wordingOf } from "./decide.ts";
import {
  type CommentAnswer,
  comment,
  type DelegateAnswer,
  type DelegateCommand,
  delegate,
  type ExtendAnswer,
  type ExtendCommand,
  extend,
} from "./rules/delegate.ts";

export type Remark = {
  /** Somebody who may decide it, or the agent that asked. */
  readonly by: string;
  readonly text: string;
  readonly via?: string;
};

function checkCommented(id: string, answer: CommentAnswer): void {
  switch (answer.kind) {
    case "commented":
      return;
    case "comment_refused":
      throw new HoldpointError("not_eligible", `The comment on ${id} was refused: ${answer.reason}.`, {
        details: { approval: id, status: answer.status },
        data: refusalData("comment", answer.isRecorded, "the approval did not change"),
        next: "Have somebody comment who may decide it, or the agent that asked.",
      });
    case "not_possible":
      throw new HoldpointError("wrong_state", `The comment on ${id} was not taken: ${answer.reason}.`, {
        details: { status: answer.status },
      });
    case "unknown":
      throw new HoldpointError("unknown_id", `There is no approval ${shown(id)}.`);
  }
}

/** Kept with the approval and told to the others. It decides nothing. */
export async function commentApproval(runtime: Runtime, id: string, remark: Remark): Promise<void> {
  const { by, via } = remark;
  if (!isPrincipal(by))
    throw new HoldpointError("invalid_input", `"${shown(by)}" is not a principal: write person:<name>.`);
  const text = keptText(runtime, await wordingOf(runtime, id, { field: "comment", text: remark.text, by }));
  const command = { approval: id, by, text, via: checkVia(via) };
  const needs = { write: [approvalStream(id)], read: [ROSTER] };
  checkCommented(id, await runCommand(runtime, needs, (draft) => comment(draft, command)));
}

/** Handing a seat in an approval to somebody else, and taking it back. */

export type Handing = {
  /** `person:<name>`, who may decide it now. */
  readonly by: string;
  /** Who decides in their place. */
  readonly to: string;
  readonly reason: string;
  readonly via?: string;
};

function checkPerson(who: unknown): void {
  if (!isPrincipal(who) || !isPerson(who))
    throw new HoldpointError("invalid_input", `"${shown(who)}" is not a person: write person:<name>.`);
}

/** An agent or a service is refused by the rules, and that is recorded. */
function checkRecipient(to: unknown): void {
  if (!isPrincipal(to)) checkPerson(to);
}

function checkDelegated(id: string, answer: DelegateAnswer): void {
  switch (answer.kind) {
    case "delegated":
    case "withdrawn":
    case "same":
      return;
    case "delegate_refused":
      throw new HoldpointError("not_eligible", `The seat in ${id} stays where it is: ${answer.reason}.`, {
        details: { approval: id, status: answer.status },
        data: refusalData("request", answer.isRecorded, "the approval did not change"),
        next: "Ask somebody else to decide, or decide yourself.",
      });
    case "not_possible":
      throw new HoldpointError("wrong_state", `The seat in ${id} was not moved: ${answer.reason}.`, {
        details: { status: answer.status },
      });
    case "unknown":
      throw new HoldpointError("unknown_id", `There is no approval ${shown(id)}.`);
  }
}

async function run(runtime: Runtime, command: DelegateCommand): Promise<void> {
  const { approval, by, reason: text } = command;
  const reason = keptBeside(runtime, await wordingOf(runtime, approval, { field: "reason", text, by }));
  const needs = { write: [approvalStream(command.approval)], read: [ROSTER] };
  const answer = await runCommand(runtime, needs, (draft) => delegate(draft, { ...command, reason }));
  checkDelegated(command.approval, answer);
}

/** From now on `to` decides in the place of `by`, in the stage that is asked now. */
export async function delegateApproval(runtime: Runtime, id: string, handing: Handing): Promise<void> {
  const { by, to, reason, via } = handing;
  checkPerson(by);
  checkRecipient(to);
  await run(runtime, { approval: id, by, to, reason, via: checkVia(via) });
}

/** While nobody has decided with it. */
export async function takeBackApproval(
  runtime: Runtime,
  id: string,
  { by, reason, via }: Omit<Handing, "to">,
): Promise<void> {
  checkPerson(by);
  await run(runtime, { approval: id, by, to: null, reason, via: checkVia(via) });
}

/** More time for a pending approval. A length is turned into a moment before it is asked for, so that no retry gives it twice. */

export type MoreTime = {
  /** `person:<name>`, who may decide it now. */
  readonly by: string;
  /** By how much the deadline moves. */
  readonly byMs?: number;
  /** Or until when, in milliseconds since 1970. */
  readonly until?: number;
  readonly via?: string;
};

type Place = Pick<Runtime, "store" | "tenant">;
type Wanted = Pick<ExtendCommand, "until" | "seen">;

function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0;
}

function checkMoreTime({ by, byMs, until, via }: MoreTime): void {
  if (!isPrincipal(by) || !isPerson(by))
    throw new HoldpointError("invalid_input", `"${shown(by)}" is not a person: write person:<name>.`);
  if ((byMs === undefined) === (until === undefined))
    throw new HoldpointError("invalid_input", "More time is either byMs or until.");
  if (byMs !== undefined && !(isTime(byMs) && byMs <= LONGEST_MS))
    throw new HoldpointError("invalid_input", "byMs is a whole number of milliseconds, at least 1.");
  if (until !== undefined && !(isTime(until) && until <= LONGEST_MS))
    throw new HoldpointError(
      "invalid_input",
      `until is a moment in milliseconds since 1970, ${LONGEST_MS} at the latest.`,
    );
  if (via !== undefined && !/^[a-z][a-z0-9_.:-]{0,63}$/.test(via))
    throw new HoldpointError(
      "invalid_input",
      "A channel is a word of small letters and digits, such as cli.",
    );
}

const notPossible = (id: string, reason: string, status: string): HoldpointError =>
  new HoldpointError("wrong_state", `The approval ${id} was not given more time: ${reason}.`, {
    details: { status },
  });

async function wantedOf(place: Place, id: string, { byMs, until }: MoreTime): Promise<Wanted> {
  const approval = await readState(place, approvalStream(id));
  if (approval.status === "none")
    throw new HoldpointError("unknown_id", `There is no approval ${shown(id)}.`);
  if (until !== undefined) return { until, seen: null };
  const { decideBy, status } = approval;
  if (decideBy === null) throw notPossible(id, "it has no deadline", status);
  return { until: decideBy + (byMs ?? 0), seen: decideBy };
}

function decideByOf(id: string, answer: ExtendAnswer): number {
  switch (answer.kind) {
    case "extended":
    case "same":
      return answer.decideBy;
    case "extend_refused":
      throw new HoldpointError("not_eligible", `${id} was not given more time: ${answer.reason}.`, {
        details: { approval: id },
        data: refusalData("request", answer.isRecorded, "the approval did not change"),
      });
    case "not_possible":
      throw notPossible(id, answer.reason, answer.status);
    case "unknown":
      throw new HoldpointError("unknown_id", `There is no approval ${id}.`);
  }
}

/** Answers the new deadline. */
export async function extendApproval(
  runtime: Runtime,
  id: string,
  given: MoreTime,
): Promise<{ readonly decideBy: number }> {
  checkMoreTime(given);
  const { by, via = "embedded" } = given;
  const needs = { write: [approvalStream(id)], read: [ROSTER] };
  const once = async () => {
    const command = { approval: id, by, via, ...(await wantedOf(runtime, id, given)) };
    return runCommand(runtime, needs, (draft) => extend(draft, command));
  };
  const answer = await once();
  // The deadline that was read had passed, and the next one is known only now.
  const moved = answer.kind === "not_possible" && answer.status === "pending" && given.byMs !== undefined;
  return { decideBy: decideByOf(id, moved ? await once() : answer) };
}

/**
 * Several decisions of one person at once.
 *
 * B1. Each is for its own binding, which has to be given: what was shown in a list is what is decided.
 * B2. Each is a decision of its own, with its own answer: one that fails stops no other, and none waits for another.
 */

export type BatchItem = {
  readonly id: string;
  /** Of what the person saw. */
  readonly binding: string;
  readonly decision: "approve" | "reject";
  /** A rejection needs one. */
  readonly note?: string;
  /** As for `approve`: fields to replace. */
  readonly edit?: unknown;
  /** As for `approve`: SHA-256 of what the person saw, in a list that of its row. */
  readonly shown?: string;
};

export type BatchAnswer = { readonly id: string } & (
  | { readonly ok: true; readonly decided: Decided }
  | { readonly ok: false; readonly error: HoldpointError }
);

export type Decider = { readonly by: string; readonly via?: string };

const FIELDS = ["id", "binding", "decision", "note", "edit", "shown"];

function checkItem(item: BatchItem, index: number): BatchItem {
  const which = `Decision ${index + 1}`;
  const { id, binding, decision, edit } = checkFields(which, item, FIELDS);
  checkId(`${which}: an approval`, id);
  if (typeof binding !== "string" || !/^[0-9a-f]{64}$/.test(binding))
    wrong(`${which} needs the binding of what was seen, in full.`);
  if (decision !== "approve" && decision !== "reject")
    wrong(`${which} is approve or reject, not "${shown(decision)}".`);
  if (decision === "reject" && edit !== undefined) wrong(`${which} rejects, and has an edit.`);
  return item;
}

export function checkBatch(items: readonly BatchItem[]): readonly BatchItem[] {
  if (!Array.isArray(items) || items.length === 0 || items.length > MOST_AT_ONCE)
    return wrong(`Decisions are a list of 1 to ${MOST_AT_ONCE}.`);
  const list = items.map(checkItem);
  const twice = list.find(({ id }, index) => list.findIndex((one) => one.id === id) !== index);
  return twice === undefined ? list : wrong(`${twice.id} stands in the list twice.`);
}

async function decideOne(runtime: Runtime, item: BatchItem, who: Decider): Promise<Decided> {
  const { id, binding, decision, note, edit, shown: card } = item;
  const said = { ...who, binding, ...(card === undefined ? {} : { shown: card }) };
  if (decision === "reject") return rejectApproval(runtime, id, { ...said, reason: note ?? "" });
  const more = {
    ...(note === undefined ? {} : { note }),
    ...(edit === undefined ? {} : { edit: copyEdit(edit) }),
  };
  return approveApproval(runtime, id, { ...said, ...more });
}

/** In the order in which they are given. What is no answer of Holdpoint's, such as a store that fails, ends it. */
export async function decideAll(
  runtime: Runtime,
  items: readonly BatchItem[],
  { by, via }: Decider,
): Promise<readonly BatchAnswer[]> {
  const who = { by, ...(via === undefined ? {} : { via }) };
  const answers: BatchAnswer[] = [];
  for (const item of checkBatch(items)) {
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

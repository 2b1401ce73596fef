/** Reading approvals and deciding them. */

import type { Draft, Need } from "../core/draft.ts";
import { shown } from "../core/error-text.ts";
import { HoldpointError, isHoldpointError } from "../core/errors.ts";
import type { Json } from "../core/json.ts";
import { isPerson, isPrincipal } from "../core/principal.ts";
import { refusalData } from "../core/refusals.ts";
import { actionStream, approvalStream, ROSTER, type StreamRef } from "../core/stream.ts";
import type { Needs } from "../core/transaction.ts";
import { loaderOf } from "../engine/load.ts";
import { executorOf } from "../engine/move.ts";
import { toolOf } from "../engine/outside/outside-tool.ts";
import { loadArtifact, loadValue, readState } from "../engine/read-state.ts";
import { runCommand, runLoading } from "../engine/run-command.ts";
import type { Runtime } from "../engine/runtime.ts";
import { guessing, keptBeside, type Wording } from "../engine/secret-guesses.ts";
import type { Tool } from "../engine/tool.ts";
import { checkAnswer, misfitOf, secretFlaw, secretsOf, wholeEdit } from "./edits.ts";
import { revoke, type TakenBack, takeBack, type Withdrawal } from "./rules/end.ts";
import { type VoteAnswer, type VoteCommand, vote } from "./rules/vote.ts";
import { aboutOf, type LiveApproval } from "./state.ts";

/** An approval in full: what is asked, of whom, and what became of it. */
export type Approval = LiveApproval & {
  readonly id: string;
  /** What an answer has to be, as JSON Schema; only of a question that says so. */
  readonly answerSchema?: Json;
};

export async function getApproval(place: Pick<Runtime, "store" | "tenant">, id: string): Promise<Approval> {
  const state =
    typeof id === "string" && id !== ""
      ? await readState(place, approvalStream(id))
      : { status: "none" as const };
  if (state.status === "none") throw new HoldpointError("unknown_id", `There is no approval ${shown(id)}.`);
  return approvalInFull(place, id, state);
}

/** With the values that are too large to stand in the state. */
export async function approvalInFull(
  place: Pick<Runtime, "store" | "tenant">,
  id: string,
  state: LiveApproval,
): Promise<Approval> {
  const edit = state.edit === null ? null : { ...state.edit, args: await loadValue(place, state.edit.args) };
  const schema = state.subject?.kind === "question" ? await answerSchemaOf(place, state) : {};
  const preview = state.preview && {
    preview: { ...state.preview, value: await loadValue(place, state.preview.value) },
  };
  const undo = state.undo && { undo: { ...state.undo, args: await loadValue(place, state.undo.args) } };
  // A copy: the state itself is what the next decision stands on.
  return structuredClone({
    ...state,
    id,
    args: await loadValue(place, state.args),
    edit,
    ...schema,
    ...preview,
    ...undo,
  });
}

/** Not every schema can be said in JSON Schema, and not every question has one. */
async function answerSchemaOf(
  place: Pick<Runtime, "store" | "tenant">,
  { schema }: LiveApproval,
): Promise<{ readonly answerSchema?: Json }> {
  const bytes = await place.store.artifact(place.tenant, schema);
  return bytes === undefined ? {} : { answerSchema: await loadArtifact(place, schema) };
}

export type Decision = {
  /** `person:<name>`. */
  readonly by: string;
  readonly note?: string;
  /** The binding of what the person saw; a decision on anything else is refused. */
  readonly binding?: string;
  /** SHA-256, in hexadecimal digits, of the card that the person saw: recorded with the vote. */
  readonly shown?: string;
  readonly via?: string;
};

/** A digest and nothing else: it is kept in clear. */
function checkShown({ shown: digest }: Decision): { readonly shown?: string } {
  if (digest === undefined) return {};
  if (typeof digest === "string" && /^[0-9a-f]{64}$/.test(digest)) return { shown: digest };
  throw new HoldpointError("invalid_input", "What was shown is named by its SHA-256: 64 hexadecimal digits.");
}

function checkPerson(by: string): void {
  if (!isPrincipal(by) || !isPerson(by))
    throw new HoldpointError("invalid_input", `"${shown(by)}" is not a person: write person:<name>.`);
}

function checkText(field: string, value: unknown): string {
  if (typeof value !== "string" || value.trim() === "" || !value.isWellFormed())
    throw new HoldpointError("invalid_input", `A ${field} is needed, as text that is not empty.`);
  if (value.length > 10_000)
    throw new HoldpointError(
      "payload_too_large",
      `The ${field} has ${value.length} characters; at most 10000 are taken.`,
    );
  return value;
}

/** A word for the channel, not a text of people's: it is kept in clear. */
export function checkVia(via = "embedded"): string {
  if (/^[a-z][a-z0-9_.:-]{0,63}$/.test(via)) return via;
  throw new HoldpointError("invalid_input", "A channel is a word of small letters and digits, such as cli.");
}

/** What somebody writes down, with the secrets of the action that it is about. */
export async function wordingOf(
  runtime: Runtime,
  id: string,
  { field, text, by }: { readonly field: string; readonly text: unknown; readonly by: string },
): Promise<Wording> {
  const checked = checkText(field, text);
  return { by, text: checked, known: await secretsOf(runtime, await getApproval(runtime, id)) };
}

export async function approveApproval(
  runtime: Runtime,
  id: string,
  decision: Decision & { readonly edit?: unknown },
): Promise<Decided> {
  checkPerson(decision.by);
  const approval = await getApproval(runtime, id);
  const known = await secretsOf(runtime, approval);
  const { by, note } = decision;
  const text = note === undefined ? null : checkText("note", note);
  const ballot = {
    approval: id,
    by,
    decision: "approve",
    note: text === null ? null : keptBeside(runtime, { by, text, known }),
    via: checkVia(decision.via),
    ...checkShown(decision),
  } as const;
  if (decision.edit === undefined) {
    await checkAnswer(runtime, approval, approval.args);
    return castVote(
      runtime,
      { ...ballot, binding: decision.binding ?? null, edit: undefined },
      aboutOf(approval),
    );
  }
  const edit = wholeEdit(approval, decision.edit);
  const seen =
    decision.binding === undefined
      ? ({ binding: approval.binding, isAssumed: true } as const)
      : { binding: decision.binding };
  const edited = { ...ballot, ...seen, edit, ...secretFlaw(edit, known) };
  return guessing(runtime, { approval, by, edit, known }, () => castEdit(runtime, approval, edited));
}

/** What does not fit is said last: the rules of a vote know to whom. */
async function castEdit(
  runtime: Runtime,
  approval: Approval,
  ballot: Ballot & { readonly edit: Json },
): Promise<Decided> {
  const misfit = await misfitOf(runtime, approval, ballot.edit);
  const flaw = misfit === undefined || ballot.flaw !== undefined ? {} : ({ flaw: "misfit" } as const);
  try {
    return await castVote(runtime, { ...ballot, ...flaw }, aboutOf(approval));
  } catch (error) {
    throw misfit !== undefined && isHoldpointError(error, "invalid_args") ? misfit : error;
  }
}

export type Rejection = Omit<Decision, "note"> & {
  readonly reason: string;
  /** Of a checkpoint: the workflow is rolled back and does not try again. */
  readonly final?: boolean;
};

function checkFinal({ final }: Rejection, { id, subject }: Approval): boolean {
  if (final !== undefined && typeof final !== "boolean")
    throw new HoldpointError("invalid_input", "final is true or false.");
  if (final === true && subject?.kind !== "checkpoint")
    throw new HoldpointError(
      "invalid_input",
      `Only the rejection of a checkpoint can be final: ${id} is about ${subject === undefined ? "an action" : `${subject.kind === "intent" ? "an" : "a"} ${subject.kind}`}.`,
      { next: "Reject it without that." },
    );
  return final === true;
}

export async function rejectApproval(runtime: Runtime, id: string, decision: Rejection): Promise<Decided> {
  checkPerson(decision.by);
  const reason = checkText("reason", decision.reason);
  const approval = await getApproval(runtime, id);
  const isFinal = checkFinal(decision, approval);
  const known = await secretsOf(runtime, approval);
  const note = keptBeside(runtime, { by: decision.by, text: reason, known });
  const ballot = {
    approval: id,
    by: decision.by,
    decision: "reject",
    note,
    via: checkVia(decision.via),
    ...checkShown(decision),
    isFinal,
  } as const;
  return castVote(
    runtime,
    { ...ballot, binding: decision.binding ?? null, edit: undefined },
    aboutOf(approval),
  );
}

async function withdraw(
  runtime: Runtime,
  command: Withdrawal,
  rules: (draft: Draft, command: Withdrawal) => Need | TakenBack,
): Promise<void> {
  if (!isPrincipal(command.by))
    throw new HoldpointError(
      "invalid_input",
      `"${shown(command.by)}" is not a principal: write person:<name>.`,
    );
  checkText("reason", command.reason);
  const approval = await getApproval(runtime, command.approval);
  const known = await secretsOf(runtime, approval);
  const { by, reason: text } = command;
  const clean = { ...command, reason: keptBeside(runtime, { by, text, known }) };
  const needs = { write: [approvalStream(command.approval), aboutOf(approval)] };
  const answer = await runCommand(runtime, needs, (draft) => rules(draft, clean));
  if (answer.kind === "ended") return;
  if (answer.kind === "not_theirs")
    throw new HoldpointError("not_eligible", `${command.approval} was not taken back: ${answer.reason}.`, {
      data: "The approval is as it was.",
      next: "Have whoever asked take it back, somebody who may decide it, or an admin.",
    });
  if (answer.status === "none")
    throw new HoldpointError("unknown_id", `There is no approval ${command.approval}.`);
  throw new HoldpointError("wrong_state", `The approval ${command.approval} is ${answer.status}.`, {
    details: { status: answer.status },
  });
}

/** Takes a question back that nobody has answered yet. */
export const cancelApproval = (runtime: Runtime, command: Withdrawal): Promise<void> =>
  withdraw(runtime, command, takeBack);

/** Takes a decision back that was not used yet. Only people do that. */
export async function revokeApproval(runtime: Runtime, command: Withdrawal): Promise<void> {
  checkPerson(command.by);
  await withdraw(runtime, command, revoke);
}

/** A person's decision on an approval, brought to the rules with whatever this process knows of the tool. */

export type Ballot = Omit<VoteCommand, "executor">;
/** What a vote brought about: `edit_open` means that a process with the tool has yet to review the edit. */
export type Decided = Extract<VoteAnswer, { approval: string }>;

/** Only an edit needs the tool; a plain vote is the same in every process. */
export async function toolFor(
  runtime: Runtime,
  ballot: Pick<Ballot, "approval" | "edit">,
): Promise<Tool | null> {
  if (ballot.edit === undefined) return null;
  const approval = await readState(runtime, approvalStream(ballot.approval));
  if (approval.status === "none") return null;
  const tool = runtime.tools.get(approval.tool) ?? (await undeclared(runtime, approval));
  if (tool === undefined || tool.rules.schemaDigest !== approval.schema) return null;
  return (await isGoverned(runtime, approval, tool)) ? null : tool;
}

/** What an agent performs itself needs no declaration: whoever decides can review an edit of it. */
async function undeclared(runtime: Runtime, { action }: LiveApproval): Promise<Tool | undefined> {
  const state = await readState(runtime, actionStream(action));
  return state.phase !== "none" && state.outside === true ? toolOf(runtime, state) : undefined;
}

/** Its workflow has rules of its own over the tool: whoever runs it reviews the edit, under all of them. */
async function isGoverned(
  runtime: Runtime,
  { action, policy }: Pick<LiveApproval, "action" | "policy">,
  { rules }: Tool,
): Promise<boolean> {
  if (rules.policyDigest === policy) return false;
  const state = await readState(runtime, actionStream(action));
  return state.phase !== "none" && state.within !== undefined;
}

/** What the rules will ask for in any case: declared at once, it spares them a second and third round. */
function foreseen({ approval }: Ballot, about: StreamRef | undefined): Needs {
  const known = about === undefined ? [] : [about];
  return { write: [approvalStream(approval), ...known], read: [ROSTER] };
}

export type RefusedVote = Extract<VoteAnswer, { kind: "vote_refused" }>;

/** `isTried`: it was not cast, and nothing is recorded. */
export function refusedVote(
  ballot: Pick<Ballot, "approval">,
  answer: RefusedVote,
  isTried = false,
): HoldpointError {
  const what = `The decision on ${ballot.approval} ${isTried ? "would be" : "was"} refused: ${answer.reason}.`;
  const unrecorded = isTried
    ? "Nothing was written."
    : refusalData("decision", false, "the approval did not change");
  const recorded =
    answer.code === "secret_transformed"
      ? { data: refusalData("decision", true, "the approval did not change") }
      : {};
  return new HoldpointError(answer.code, what, {
    ...(answer.isRecorded && !isTried ? recorded : { data: unrecorded }),
    details: { approval: ballot.approval, status: answer.status },
  });
}

export const unknownApproval = (id: string): HoldpointError =>
  new HoldpointError("unknown_id", `There is no approval ${id}.`);

/** `about`: what the approval is about, where it is known. Answers what was decided; a refused vote is recorded and then thrown. */
export async function castVote(runtime: Runtime, ballot: Ballot, about?: StreamRef): Promise<Decided> {
  const tool = await toolFor(runtime, ballot);
  const executor = tool === null ? null : await executorOf(runtime, tool);
  await runtime.reach("before_vote");
  const answer: VoteAnswer = await runLoading(
    runtime,
    foreseen(ballot, about),
    (draft, loaded) =>
      vote(draft, { ...ballot, executor: executor === null ? null : { ...executor, loaded } }),
    loaderOf(runtime, tool),
  );
  await runtime.reach("after_vote");
  if (answer.kind === "unknown") throw unknownApproval(ballot.approval);
  if (answer.kind === "vote_refused") throw refusedVote(ballot, answer);
  return answer;
}

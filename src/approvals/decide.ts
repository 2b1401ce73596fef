/** Reading an approval, and a person's decision on it: what they write, their edit, and their vote. */

import { remoteToolOfAction } from "../agents/remote-tool.ts";
import { createExecutor, createInputLoader } from "../effects/advance-call.ts";
import { plainJson } from "../effects/arguments.ts";
import { findSchemaIssues, issuesText } from "../effects/input-schema.ts";
import type { Tool } from "../effects/tool.ts";
import { HoldpointError, isHoldpointError } from "../kernel/errors.ts";
import { isJsonObject, type Json } from "../kernel/json.ts";
import { refusalData } from "../kernel/refusals.ts";
import { hasMovedHandle } from "../kernel/stored-value.ts";
import { actionStream, approvalStream, ROSTER, type StreamRef } from "../kernel/stream.ts";
import { displayValue as shownText } from "../kernel/text.ts";
import { chargeEditGuess, redactTexts } from "../people/secret-guesses/limit.ts";
import type { Issue } from "../policy/rules/tool-rules.ts";
import type { Runtime } from "../runtime/runtime.ts";
import {
  handlesIn,
  hasNoSecrets,
  isOwnHandle,
  redactText,
  resolveSecrets,
  revealSecrets,
} from "../runtime/secrets.ts";
import { loadArtifact, loadValue, readState, runWithInputs } from "../runtime/store-access.ts";
import type { TenantStore } from "../stores/store.ts";
import { raisedName } from "../workflows/rules/ask.ts";
import type { Approval, Decided, Decision, Rejection } from "./contract.ts";
import { type VoteAnswer, type VoteCommand, vote } from "./rules/vote.ts";
import { aboutOf, type LiveApproval } from "./state.ts";

export const unknownApproval = (id: string): HoldpointError =>
  new HoldpointError("unknown_id", `There is no approval ${shownText(id)}.`);

export async function getApproval(place: TenantStore, id: string): Promise<Approval> {
  const state = await readState(place, approvalStream(id));
  if (state.status === "none") throw unknownApproval(id);
  return approvalInFull(place, id, state);
}

/** With the values that are too large to stand in the state. */
export async function approvalInFull(place: TenantStore, id: string, state: LiveApproval): Promise<Approval> {
  const { edit, preview, undo } = state;
  const load = (value: Json) => loadValue(place, value);
  // A copy: the next decision is made on the state itself.
  return structuredClone({
    ...state,
    id,
    args: await load(state.args),
    edit: edit && { ...edit, args: await load(edit.args) },
    ...(state.subject?.kind === "question" ? await answerSchemaOf(place, state) : {}),
    ...(preview && { preview: { ...preview, value: await load(preview.value) } }),
    ...(undo && { undo: { ...undo, args: await load(undo.args) } }),
  });
}

/** Not every schema can be said in JSON Schema, and not every question has one. */
async function answerSchemaOf(
  place: TenantStore,
  { schema }: LiveApproval,
): Promise<{ readonly answerSchema?: Json }> {
  const bytes = await place.store.artifact(place.tenant, schema);
  return bytes === undefined ? {} : { answerSchema: await loadArtifact(place, schema) };
}

/** What people write is kept in clear, so the values of the action's secrets are taken out of it. */
export async function secretsOf(
  runtime: Runtime,
  { args }: Pick<Approval, "args">,
): Promise<ReadonlyMap<string, string>> {
  const known = await resolveSecrets(runtime.secrets, args).catch(() => new Map<string, string>());
  // A text is kept without blanks around it: a value that ends in a newline would not be found in it any more.
  const padded = [...known].filter(([, value]) => value.trim() !== value && value.trim() !== "");
  return new Map([
    ...known,
    ...padded.map(([handle, value]) => [`${handle} trimmed`, value.trim()] as const),
  ]);
}

/** Fields of an object are replaced one by one; anything else is replaced whole, and so is the answer to a question. */
function patched({ args, subject }: Approval, patch: Json): Json {
  const isWhole = subject?.kind === "question";
  return !isWhole && isJsonObject(args) && isJsonObject(patch) ? { ...args, ...patch } : patch;
}

/** What a monitor raises has no outputs, and nobody would get them. */
function refuseEmptyEdit({ id, subject }: Approval): void {
  if (subject?.kind === "checkpoint" && raisedName(subject.op) !== undefined)
    throw new HoldpointError("invalid_args", "There is nothing to edit: a monitor asks whether to go on.", {
      next: `Approve without an edit, or: holdpoint reject ${id} --reason "…"`,
    });
}

/** Handles that this program made may be put anywhere; others are where they were, or nowhere. */
function refuseMovedHandle({ args }: Approval, given: unknown): void {
  if (!hasMovedHandle(given, args, isOwnHandle)) return;
  throw new HoldpointError("reserved_key", "In an edit a secret's handle stands only where it stood.", {
    next: "Leave the fields with secrets as they are; another secret is the program's to put there.",
  });
}

/** All of it, as the editor would have it. */
export function wholeEdit(approval: Approval, given: unknown): Json {
  refuseEmptyEdit(approval);
  const edit = plainJson(given, handlesIn(approval.args));
  refuseMovedHandle(approval, given);
  return patched(approval, edit);
}

/** `known`: the secrets of what was asked. To whom it may be said the rules of a vote say. */
export const secretFlaw = (edit: Json, known: ReadonlyMap<string, string>): { readonly flaw?: "secret" } =>
  hasNoSecrets(edit, known) ? {} : { flaw: "secret" };

async function issuesWith(runtime: Runtime, schema: Json, value: Json): Promise<readonly Issue[]> {
  const known = await resolveSecrets(runtime.secrets, value).catch(() => undefined);
  if (known === undefined) return [];
  const issues = await findSchemaIssues(schema, revealSecrets(value, known));
  return issues.map(({ path, message }) => ({ path, message: redactText(message, known) }));
}

/**
 * What does not fit in an edit, or in the answer to a question that says what it has to be. A process without the tool knows its
 * schema too, and says at once that an edit does not fit.
 */
export async function editIssues(
  runtime: Runtime,
  { answerSchema, status, subject, tool, schema }: Approval,
  edit: Json,
): Promise<readonly Issue[]> {
  if (answerSchema !== undefined) return status === "pending" ? issuesWith(runtime, answerSchema, edit) : [];
  if (subject !== undefined || runtime.tools.has(tool)) return [];
  const kept = await loadArtifact(runtime, schema).catch(() => undefined);
  return kept === undefined ? [] : issuesWith(runtime, kept, edit);
}

/** The same as an error, for somebody who may decide with it. */
async function misfitOf(
  runtime: Runtime,
  approval: Approval,
  edit: Json,
): Promise<HoldpointError | undefined> {
  const issues = await editIssues(runtime, approval, edit);
  if (issues.length === 0) return undefined;
  const { tool, id, answerSchema } = approval;
  if (answerSchema === undefined)
    return new HoldpointError(
      "invalid_args",
      `The edit does not fit the tool "${tool}": ${issuesText(issues)}.`,
    );
  const what = `The answer does not fit the question "${tool}": ${issuesText(issues)}.`;
  return new HoldpointError("invalid_args", what, {
    next: `Answer with JSON that fits; \`holdpoint show ${id}\` says what is expected.`,
  });
}

/** Only for people who approve: nobody has to answer in order to reject. */
async function checkAnswer(runtime: Runtime, approval: Approval): Promise<void> {
  const isAsked = approval.answerSchema !== undefined;
  const misfit = isAsked ? await misfitOf(runtime, approval, approval.args) : undefined;
  if (misfit !== undefined) throw misfit;
}

/** What an approval and a rejection have in common. */
function startBallot(id: string, { by, binding, shown, via = "embedded" }: Omit<Decision, "note" | "edit">) {
  const seen = { binding: binding ?? null, ...(shown === undefined ? {} : { shown }) };
  return { approval: id, by, via, ...seen, edit: undefined };
}

export async function approveApproval(runtime: Runtime, id: string, given: Decision): Promise<Decided> {
  const { by, note: text } = given;
  const approval = await getApproval(runtime, id);
  const known = await secretsOf(runtime, approval);
  const note = text === undefined ? null : redactTexts(runtime, { by, text, known });
  const ballot = { ...startBallot(id, given), decision: "approve", note } as const;
  if (given.edit === undefined) {
    await checkAnswer(runtime, approval);
    return castVote(runtime, ballot, aboutOf(approval));
  }
  const edit = wholeEdit(approval, given.edit);
  const assumed = { binding: approval.binding, isAssumed: true } as const;
  const seen = given.binding === undefined ? assumed : {};
  const edited = { ...ballot, ...seen, edit, ...secretFlaw(edit, known) };
  return chargeEditGuess(runtime, { approval, by, edit, known }, () => castEdit(runtime, approval, edited));
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

const SUBJECTS = { checkpoint: "a checkpoint", question: "a question", intent: "an intent" } as const;

export async function rejectApproval(runtime: Runtime, id: string, given: Rejection): Promise<Decided> {
  const { by, reason: text, final: isFinal = false } = given;
  const approval = await getApproval(runtime, id);
  const { subject } = approval;
  if (isFinal && subject?.kind !== "checkpoint")
    throw new HoldpointError(
      "invalid_input",
      `Only the rejection of a checkpoint can be final: ${id} is about ${subject === undefined ? "an action" : SUBJECTS[subject.kind]}.`,
      { next: "Reject it without that." },
    );
  const note = redactTexts(runtime, { by, text, known: await secretsOf(runtime, approval) });
  const ballot = { ...startBallot(id, given), decision: "reject", note, isFinal } as const;
  return castVote(runtime, ballot, aboutOf(approval));
}

/** A vote, brought to the rules with what this process knows of the tool. */
type Ballot = Omit<VoteCommand, "executor">;

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
  return state.phase !== "none" && state.outside === true ? remoteToolOfAction(runtime, state) : undefined;
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

/**
 * `about`: the stream that the approval is about, where it is known. Answers what was decided; a refused vote is recorded and
 * then thrown.
 */
export async function castVote(runtime: Runtime, ballot: Ballot, about?: StreamRef): Promise<Decided> {
  const tool = await toolFor(runtime, ballot);
  const executor = tool === null ? null : await createExecutor(runtime, tool);
  // What the rules will ask for in any case: declared at once, it spares them a second and third round.
  const write = [approvalStream(ballot.approval), ...(about === undefined ? [] : [about])];
  await runtime.reach("before_vote");
  const answer: VoteAnswer = await runWithInputs(
    runtime,
    { write, read: [ROSTER] },
    (draft, loaded) =>
      vote(draft, { ...ballot, executor: executor === null ? null : { ...executor, loaded } }),
    createInputLoader(runtime, tool),
  );
  await runtime.reach("after_vote");
  if (answer.kind === "unknown") throw unknownApproval(ballot.approval);
  if (answer.kind === "vote_refused") throw refusedVote(ballot, answer);
  return answer;
}

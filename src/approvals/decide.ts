/** A person's decision on an approval: note, edit and vote. */

import { remoteToolOfAction } from "../agents/remote-tool.ts";
import { createExecutor, createInputLoader } from "../effects/advance-call.ts";
import { findSchemaIssues, issuesText, plainJson } from "../effects/arguments.ts";
import type { Tool } from "../effects/tool.ts";
import { HoldpointError, isHoldpointError } from "../kernel/errors.ts";
import { isJsonObject, type Json } from "../kernel/json.ts";
import { refusalData } from "../kernel/refusals.ts";
import { hasMovedHandle } from "../kernel/stored-value.ts";
import { actionStream, approvalStream, ROSTER, type StreamRef } from "../kernel/stream.ts";
import { chargeEditGuess, keepText, settleTexts } from "../people/secret-guesses/limit.ts";
import type { Issue } from "../policy/rules/tool-rules.ts";
import type { Runtime } from "../runtime/runtime.ts";
import {
  handlesIn,
  hasNoSecrets,
  isOwnHandle,
  redactText,
  resolveSecrets,
  revealSecrets,
  tryResolveSecrets,
} from "../runtime/secrets.ts";
import { loadArtifact, readState, runWithInputs } from "../runtime/store-access.ts";
import { raisedName } from "../workflows/rules/ask.ts";
import type { Decided, Decision, Rejection } from "./contract.ts";
import { type LoadedApproval, loadApproval, unknownApproval } from "./read.ts";
import { type VoteAnswer, type VoteCommand, vote } from "./rules/vote.ts";
import { aboutOf, type LiveApproval } from "./state.ts";

/** Values of the action's secrets. People's texts are stored in clear, so these values are removed from them. */
export async function secretsOf(
  runtime: Runtime,
  { args }: Pick<LoadedApproval, "args">,
): Promise<ReadonlyMap<string, string>> {
  const known = await tryResolveSecrets(runtime.secrets, args);
  // Texts are stored trimmed: a value that ends in a newline would no longer be found in them.
  const padded = [...known].filter(([, value]) => value.trim() !== value && value.trim() !== "");
  return new Map([
    ...known,
    ...padded.map(([handle, value]) => [`${handle} trimmed`, value.trim()] as const),
  ]);
}

/** Replaces the fields of an object one by one. Any other value, and the answer to a question, is replaced whole. */
function patched({ args, subject }: LoadedApproval, patch: Json): Json {
  const isWhole = subject?.kind === "question";
  return !isWhole && isJsonObject(args) && isJsonObject(patch) ? { ...args, ...patch } : patch;
}

/** A checkpoint raised by a monitor has no outputs, and no code would receive them. */
function refuseEmptyEdit({ id, subject }: LoadedApproval): void {
  if (subject?.kind === "checkpoint" && raisedName(subject.op) !== undefined)
    throw new HoldpointError("invalid_args", "There is nothing to edit: a monitor asks whether to go on.", {
      next: `Approve without an edit, or: holdpoint reject ${id} --reason "…"`,
    });
}

/** Handles made by this program may be put anywhere. Others must stay in place or be removed. */
function refuseMovedHandle({ args }: LoadedApproval, given: unknown): void {
  if (!hasMovedHandle(given, args, isOwnHandle)) return;
  throw new HoldpointError("reserved_key", "An edit may keep a secret's handle only where it was.", {
    next: "Leave the fields with secrets as they are; another secret is the program's to put there.",
  });
}

/** The complete value after the edit. */
export function wholeEdit(approval: LoadedApproval, given: unknown): Json {
  refuseEmptyEdit(approval);
  const edit = plainJson(given, handlesIn(approval.args));
  refuseMovedHandle(approval, given);
  return patched(approval, edit);
}

/** `known`: secrets of the original. The rules of a vote say who may learn of the flaw. */
export const secretFlaw = (edit: Json, known: ReadonlyMap<string, string>): { readonly flaw?: "secret" } =>
  hasNoSecrets(edit, known) ? {} : { flaw: "secret" };

async function issuesWith(runtime: Runtime, schema: Json, value: Json): Promise<readonly Issue[]> {
  const known = await resolveSecrets(runtime.secrets, value).catch(() => undefined);
  if (known === undefined) return [];
  const issues = await findSchemaIssues(schema, revealSecrets(value, known));
  return issues.map(({ path, message }) => ({ path, message: redactText(message, known) }));
}

/**
 * What does not match in an edit, or in the answer to a question with a schema. A process without the tool also knows
 * its schema, and can say at once that an edit does not match.
 */
export async function editIssues(
  runtime: Runtime,
  { answerSchema, status, subject, tool, schema }: LoadedApproval,
  edit: Json,
): Promise<readonly Issue[]> {
  if (answerSchema !== undefined) return status === "pending" ? issuesWith(runtime, answerSchema, edit) : [];
  if (subject !== undefined || runtime.tools.has(tool)) return [];
  const kept = await loadArtifact(runtime, schema).catch(() => undefined);
  return kept === undefined ? [] : issuesWith(runtime, kept, edit);
}

/** The same as an error, for a person who may decide. */
async function misfitOf(
  runtime: Runtime,
  approval: LoadedApproval,
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

/** Only for approving: a rejection needs no answer. */
async function checkAnswer(runtime: Runtime, approval: LoadedApproval): Promise<void> {
  const isAsked = approval.answerSchema !== undefined;
  const misfit = isAsked ? await misfitOf(runtime, approval, approval.args) : undefined;
  if (misfit !== undefined) throw misfit;
}

/** Fields that an approval and a rejection have in common. */
function startBallot(id: string, { by, binding, shown, via = "embedded" }: Omit<Decision, "note" | "edit">) {
  const seen = { binding: binding ?? null, ...(shown === undefined ? {} : { shown }) };
  return { approval: id, by, via, ...seen, edit: undefined };
}

type Noted = {
  readonly by: string;
  readonly text: string | undefined;
  readonly known: ReadonlyMap<string, string>;
};

/** Decides with a note in which no secret's value is left. */
async function castWithNote(
  runtime: Runtime,
  { by, text, known }: Noted,
  cast: (note: string | null) => Promise<Decided>,
): Promise<Decided> {
  if (text === undefined) return cast(null);
  const kept = keepText(runtime, { by, text, known });
  return settleTexts([kept], () => cast(kept.text));
}

export async function approveApproval(runtime: Runtime, id: string, given: Decision): Promise<Decided> {
  const { by, note: text } = given;
  const approval = await loadApproval(runtime, id);
  const known = await secretsOf(runtime, approval);
  return castWithNote(runtime, { by, text, known }, async (note) => {
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
  });
}

/** Mismatches are reported last: the rules of a vote know to whom. */
async function castEdit(
  runtime: Runtime,
  approval: LoadedApproval,
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
  const approval = await loadApproval(runtime, id);
  const { subject } = approval;
  if (isFinal && subject?.kind !== "checkpoint")
    throw new HoldpointError(
      "invalid_input",
      `Only the rejection of a checkpoint can be final: ${id} is about ${subject === undefined ? "an action" : SUBJECTS[subject.kind]}.`,
      { next: "Reject it without that." },
    );
  return castWithNote(runtime, { by, text, known: await secretsOf(runtime, approval) }, (note) => {
    const ballot = { ...startBallot(id, given), decision: "reject", note, isFinal } as const;
    return castVote(runtime, ballot, aboutOf(approval));
  });
}

/** A vote, before this process adds the tool. */
type Ballot = Omit<VoteCommand, "executor">;

/** Only an edit needs the tool. A plain vote is the same in every process. */
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

/** An effect that an agent performs itself needs no declared tool: the deciding process can review its edit. */
async function undeclared(runtime: Runtime, { action }: LiveApproval): Promise<Tool | undefined> {
  const state = await readState(runtime, actionStream(action));
  return state.phase !== "none" && state.outside === true ? remoteToolOfAction(runtime, state) : undefined;
}

/** The workflow has its own rules for the tool: the process that runs it reviews the edit under all of them. */
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

/** `isTried`: a dry run; nothing was cast or recorded. */
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
 * `about`: stream of the approval's subject, if known. Returns the decision. A refused vote is recorded and then
 * thrown.
 */
export async function castVote(runtime: Runtime, ballot: Ballot, about?: StreamRef): Promise<Decided> {
  const tool = await toolFor(runtime, ballot);
  const executor = tool === null ? null : await createExecutor(runtime, tool);
  // What the rules need in any case. Declaring it up front saves a second and third round.
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

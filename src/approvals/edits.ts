/** An edit on its way in: made whole, without secrets in clear, and against the schema that the journal kept. */

import { HoldpointError } from "../core/errors.ts";
import { isJsonObject, type Json } from "../core/json.ts";
import { hasMovedHandle } from "../core/secret-handle.ts";
import type { Issue } from "../core/tool-rules.ts";
import { raisedName } from "../core/workflow/raise.ts";
import { plainJson } from "../engine/prepare-args.ts";
import { loadArtifact } from "../engine/read-state.ts";
import type { Runtime } from "../engine/runtime.ts";
import {
  handlesIn,
  holdsNone,
  isMadeHere,
  redactText,
  resolveAll,
  revealSecrets,
} from "../engine/secrets.ts";
import { issuesAgainst, issuesText } from "../engine/stored-schema.ts";
import type { LiveApproval } from "./state.ts";

/** As much of an approval as an edit of it is judged by, with its arguments in full. */
type Editable = Pick<LiveApproval, "args" | "subject" | "status" | "tool" | "schema"> & {
  readonly id: string;
  readonly answerSchema?: Json;
};

/** Fields of an object are replaced one by one; anything else is replaced whole, and so is the answer to a question. */
function patched({ args, subject }: Editable, patch: Json): Json {
  const isWhole = subject?.kind === "question";
  return !isWhole && isJsonObject(args) && isJsonObject(patch) ? { ...args, ...patch } : patch;
}

/** What a monitor raises has no outputs, and nobody would get them. */
function refuseEmptyEdit({ id, subject }: Editable): void {
  if (subject?.kind === "checkpoint" && raisedName(subject.op) !== undefined)
    throw new HoldpointError("invalid_args", "There is nothing to edit: a monitor asks whether to go on.", {
      next: `Approve without an edit, or: holdpoint reject ${id} --reason "…"`,
    });
}

/** What people write is kept in clear, so the values of the action's secrets are taken out of it. */
export async function secretsOf(runtime: Runtime, approval: Editable): Promise<ReadonlyMap<string, string>> {
  return resolveAll(runtime.secrets, approval.args).catch(() => new Map<string, string>());
}

/** Handles that this program made may be put anywhere; others are where they were, or nowhere. */
function refuseMovedHandle({ args }: Editable, given: unknown): void {
  if (!hasMovedHandle(given, args, isMadeHere)) return;
  throw new HoldpointError("reserved_key", "In an edit a secret's handle stands only where it stood.", {
    next: "Leave the fields with secrets as they are; another secret is the program's to put there.",
  });
}

/** All of it, as the editor would have it. */
export function wholeEdit(approval: Editable, given: unknown): Json {
  refuseEmptyEdit(approval);
  const edit = plainJson(given, handlesIn(approval.args));
  refuseMovedHandle(approval, given);
  return patched(approval, edit);
}

/** `known`: the secrets of what was asked. To whom it may be said the rules of a vote say. */
export const secretFlaw = (edit: Json, known: ReadonlyMap<string, string>): { readonly flaw?: "secret" } =>
  holdsNone(edit, known) ? {} : { flaw: "secret" };

async function issuesWith(runtime: Runtime, schema: Json, value: Json): Promise<readonly Issue[]> {
  const known = await resolveAll(runtime.secrets, value).catch(() => undefined);
  if (known === undefined) return [];
  const issues = await issuesAgainst(schema, revealSecrets(value, known));
  return issues.map(({ path, message }) => ({ path, message: redactText(message, known) }));
}

/** Of an answer to a question that says what it has to be. */
export async function answerIssues(
  runtime: Runtime,
  { answerSchema, status }: Editable,
  answer: Json,
): Promise<readonly Issue[]> {
  const isAsked = answerSchema !== undefined && status === "pending";
  return isAsked ? issuesWith(runtime, answerSchema, answer) : [];
}

/** A process without the tool still knows its schema, and can say at once that an edit does not fit. */
export async function editIssues(
  runtime: Runtime,
  approval: Editable,
  args: Json,
): Promise<readonly Issue[]> {
  if (approval.subject !== undefined || runtime.tools.has(approval.tool)) return [];
  const schema = await loadArtifact(runtime, approval.schema).catch(() => undefined);
  return schema === undefined ? [] : issuesWith(runtime, schema, args);
}

async function answerMisfit(
  runtime: Runtime,
  approval: Editable,
  answer: Json,
): Promise<HoldpointError | undefined> {
  const issues = await answerIssues(runtime, approval, answer);
  if (issues.length === 0) return undefined;
  const { tool, id } = approval;
  const what = `The answer does not fit the question "${tool}": ${issuesText(issues)}.`;
  return new HoldpointError("invalid_args", what, {
    next: `Answer with JSON that fits; \`holdpoint show ${id}\` says what is expected.`,
  });
}

/** Only for people who approve: nobody has to answer in order to reject. */
export async function checkAnswer(runtime: Runtime, approval: Editable, answer: Json): Promise<void> {
  const misfit = await answerMisfit(runtime, approval, answer);
  if (misfit !== undefined) throw misfit;
}

/** What is wrong with an edit, for somebody who may decide with it. */
export async function misfitOf(
  runtime: Runtime,
  approval: Editable,
  args: Json,
): Promise<HoldpointError | undefined> {
  const issues = await editIssues(runtime, approval, args);
  if (issues.length === 0) return answerMisfit(runtime, approval, args);
  const what = `The edit does not fit the tool "${approval.tool}": ${issuesText(issues)}.`;
  return new HoldpointError("invalid_args", what);
}

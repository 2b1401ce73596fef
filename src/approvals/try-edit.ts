/**
 * What an edit would lead to: a dry run of the rules of a vote on the current state.
 *
 * - Nothing is written. Trying an edit needs the same rights as a vote, and is refused in the same cases. Only a person
 *   who may decide learns that an edit contains a secret's value, and not often.
 * - An edit that `stands` is accepted while nothing changes. One that is `blocked`, `revised` or a `misfit` is not.
 */

import { createInputLoader, createReviewer } from "../effects/advance-call.ts";
import type { ReviewFacts } from "../effects/state.ts";

import { digestOf } from "../kernel/canonical-json.ts";
import { diffJson, type Json, type JsonObject } from "../kernel/json.ts";
import { actionStream, approvalStream, ROSTER, type StreamRef } from "../kernel/stream.ts";
import type { StreamAppend } from "../kernel/transaction.ts";
import { chargeEditGuess } from "../people/secret-guesses/limit.ts";
import type { Issue, ToolRules } from "../policy/rules/tool-rules.ts";
import { type DryRunResult, dryRun } from "../runtime/dry-run.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { readState } from "../runtime/store-access.ts";
import { policyNameOf } from "./card-history.ts";
import type { Tried } from "./card-schema.ts";
import {
  editIssues,
  type RefusedVote,
  refusedVote,
  secretFlaw,
  secretsOf,
  toolFor,
  wholeEdit,
} from "./decide.ts";
import { type LoadedApproval, loadApproval, unknownApproval } from "./read.ts";
import { somebodyAsked } from "./rules/card.ts";
import type { EditRefused } from "./rules/subject.ts";
import { type EditFlaw, type VoteAnswer, vote } from "./rules/vote.ts";
import type { EditRefusal } from "./state.ts";

type TriedVerdict = NonNullable<Tried["verdict"]>;

const NOBODY_NAMED = "person:somebody";

type Trial = DryRunResult<VoteAnswer> & { readonly rules: ToolRules | null };

async function tryVote(
  runtime: Runtime,
  approval: LoadedApproval,
  trying: { readonly edit: Json; readonly flaw?: EditFlaw; readonly by: string },
): Promise<Trial> {
  const ballot = { approval: approval.id, ...trying };
  const tool = await toolFor(runtime, ballot);
  const reviewer = tool === null ? null : createReviewer(runtime, tool);
  const { binding } = approval;
  const command = { ...ballot, decision: "approve", binding, note: null, via: "try" } as const;
  const needs = { read: [approvalStream(approval.id), ROSTER] };
  const tried = await dryRun(
    runtime,
    needs,
    (draft, loaded) => vote(draft, { ...command, executor: reviewer && { ...reviewer, loaded } }),
    createInputLoader(runtime, tool),
  );
  return { ...tried, rules: reviewer?.rules ?? null };
}

function bodyIn(
  append: readonly StreamAppend[],
  { kind, id }: StreamRef,
  type: string,
): JsonObject | undefined {
  const own = append.filter(({ stream }) => stream.kind === kind && stream.id === id);
  return own.flatMap(({ events }) => events).findLast((event) => event.type === type)?.body;
}

async function verdictBy(
  runtime: Runtime,
  verdict: string,
  review: Omit<EditRefusal, "by">,
): Promise<TriedVerdict> {
  const { rule, reason, policy = "", documents } = review;
  const name = await policyNameOf(runtime, { policy, ...(documents && { documents }) });
  return { verdict, rule, reason, policy: name ?? "in code" };
}

/** Issues by the tool's own schema, which sees the secrets; they were loaded for the rules. */
function misfitsBy(rules: ToolRules | null, edit: Json, { reason }: EditRefused): readonly Issue[] {
  const valid = rules?.validate(edit);
  const each = valid?.ok === false ? (valid.each ?? []) : [];
  return each.length === 0 ? [{ path: [], message: reason }] : each;
}

type Part = Pick<Tried, "outcome"> & Partial<Pick<Tried, "args" | "issues" | "verdict">>;

async function refusedPart(
  runtime: Runtime,
  approval: LoadedApproval,
  trial: Trial & { readonly answer: RefusedVote },
  edit: Json,
): Promise<Part> {
  const { answer, append, rules } = trial;
  const refused = answer.edit;
  if (refused === undefined || refused.fault === "standing")
    throw refusedVote({ approval: approval.id }, answer, true);
  if (refused.fault === "schema") return { outcome: "misfit", issues: misfitsBy(rules, edit, refused) };
  const body = bodyIn(append, approvalStream(approval.id), "approval.edit_refused");
  const verdict = await verdictBy(runtime, refused.fault, body as unknown as EditRefusal);
  return refused.fault === "block"
    ? { outcome: "blocked", verdict }
    : { outcome: "revised", verdict, ...(refused.args === undefined ? {} : { args: refused.args }) };
}

function acceptedOutcome({ id }: LoadedApproval, { append }: Trial, now: string): Tried["outcome"] {
  if (now !== id) return "asks";
  const ref = approvalStream(id);
  if (bodyIn(append, ref, "approval.revised") === undefined) return "same";
  return bodyIn(append, ref, "approval.voted") === undefined ? "asks" : "stands";
}

async function acceptedPart(
  runtime: Runtime,
  approval: LoadedApproval,
  trial: Trial,
  accepted: { readonly approval: string; readonly edit: Json },
): Promise<Part> {
  const outcome = acceptedOutcome(approval, trial, accepted.approval);
  const body = bodyIn(trial.append, actionStream(approval.action), "action.reviewed");
  const review = body as unknown as ReviewFacts | undefined;
  const verdict = review === undefined ? null : await verdictBy(runtime, review.verdict, review);
  const valid = trial.rules?.validate(accepted.edit);
  return { outcome, verdict, ...(valid?.ok === true ? { args: valid.value } : {}) };
}

async function partOf(runtime: Runtime, approval: LoadedApproval, trial: Trial, edit: Json): Promise<Part> {
  const { answer } = trial;
  switch (answer.kind) {
    case "unknown":
      throw unknownApproval(approval.id);
    case "vote_refused":
      return refusedPart(runtime, approval, { ...trial, answer }, edit);
    case "edit_open":
      return { outcome: digestOf(edit) === approval.argsDigest ? "same" : "unknown" };
    case "same":
      return { outcome: approval.edit === null ? "same" : "unknown" };
    case "recorded":
      return acceptedPart(runtime, approval, trial, { approval: answer.approval, edit });
  }
}

/** Default for `by`: a person who may decide. */
export async function tryEdit(
  runtime: Runtime,
  id: string,
  given: { readonly edit: unknown; readonly by?: string },
): Promise<Tried> {
  const approval = await loadApproval(runtime, id);
  const edit = wholeEdit(approval, given.edit);
  const by = given.by ?? somebodyAsked(approval, await readState(runtime, ROSTER)) ?? NOBODY_NAMED;
  const known = await secretsOf(runtime, approval);
  const trying = { edit, by, ...secretFlaw(edit, known) };
  const part = await chargeEditGuess(runtime, { approval, by, edit, known }, async () =>
    partOf(runtime, approval, await tryVote(runtime, approval, trying), edit),
  );
  const kept = await editIssues(runtime, approval, edit);
  const told: Part = kept.length === 0 ? part : { outcome: "misfit", issues: kept };
  const { outcome, args = edit, issues = [], verdict = null } = told;
  return { outcome, args, issues, verdict, changes: diffJson(approval.args, args) };
}

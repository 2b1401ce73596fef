/** Reads approvals: with the values that are too large for their state, and in the form of the contract. */

import { HoldpointError } from "../kernel/errors.ts";
import { type WithRationale, withRationale } from "../kernel/fields.ts";
import type { Json } from "../kernel/json.ts";
import { actionStream, approvalStream } from "../kernel/stream.ts";
import { displayValue } from "../kernel/text.ts";
import { skipUnreadable } from "../runtime/lists.ts";
import { loadArtifact, loadValue, readState } from "../runtime/store-access.ts";
import type { TenantStore } from "../stores/store.ts";
import type { Approval, ApprovalSummary } from "./contract.ts";
import {
  type ApprovalState,
  type ApprovalStatus,
  type LiveApproval,
  nextAtDeadline,
  ruleIn,
  stageRules,
} from "./state.ts";
import { approvalTitle } from "./stream.ts";

/** A state with its large values. */
export type LoadedApproval = WithRationale<LiveApproval> & {
  readonly id: string;
  readonly title: string;
  /** Only for a question that defines one. */
  readonly answerSchema?: Json;
};

export const unknownApproval = (id: string): HoldpointError =>
  new HoldpointError("unknown_id", `There is no approval ${displayValue(id)}.`);

async function loadState(
  place: TenantStore,
  id: string,
  state: ApprovalState,
  before?: LoadedApproval,
): Promise<LoadedApproval> {
  if (state.status === "none") throw unknownApproval(id);
  return withValues(place, id, state, before);
}

export const loadApproval = async (place: TenantStore, id: string): Promise<LoadedApproval> =>
  loadState(place, id, await readState(place, approvalStream(id)));

export async function withValues(
  place: TenantStore,
  id: string,
  state: LiveApproval,
  before?: LoadedApproval,
): Promise<LoadedApproval> {
  const { edit, preview, undo } = state;
  const load = (value: Json) => loadValue(place, value);
  const args = before?.argsDigest === state.argsDigest ? before.args : await load(state.args);
  // A copy: the next decision uses the state itself.
  return structuredClone({
    ...withRationale(state),
    id,
    title: approvalTitle({ ...state, args }),
    args,
    edit: edit && { ...edit, args: await load(edit.args) },
    ...(state.subject?.kind === "question" ? await loadAnswerSchema(place, state) : {}),
    ...(preview && { preview: { ...preview, value: await load(preview.value) } }),
    ...(undo && { undo: { ...undo, args: await load(undo.args) } }),
  });
}

/** Empty if the question has no schema, or JSON Schema cannot express it. */
async function loadAnswerSchema(
  place: TenantStore,
  { schema }: LiveApproval,
): Promise<{ readonly answerSchema?: Json }> {
  const bytes = await place.store.artifact(place.tenant, schema);
  return bytes === undefined ? {} : { answerSchema: await loadArtifact(place, schema) };
}

type Subject = Pick<ApprovalSummary, "about" | "action" | "workflow" | "intent">;

/** The workflow in which the approval was requested. For an action, its state names it. */
async function workflowAsking(
  place: TenantStore,
  about: Subject["about"],
  id: string,
): Promise<string | null> {
  if (about !== "action") return about === "intent" ? null : id;
  // An action written by a newer server must not hide that an approval is pending.
  const state = await skipUnreadable(readState(place, actionStream(id)));
  return state === undefined || state.phase === "none" ? null : (state.within?.workflow ?? null);
}

/** `id`: of the action, the workflow or the intent. `known`: the workflow, if the approval names it. */
export async function describeSubject(
  place: TenantStore,
  about: Subject["about"],
  { id, known }: { readonly id: string; readonly known: string | null | undefined },
): Promise<Subject> {
  return {
    about,
    action: about === "action" ? id : null,
    workflow: known === undefined ? await workflowAsking(place, about, id) : known,
    intent: about === "intent" ? id : null,
  };
}

const approvalSubject = (
  place: TenantStore,
  { subject, action, workflow }: Pick<LoadedApproval, "subject" | "action" | "workflow">,
): Promise<Subject> => describeSubject(place, subject?.kind ?? "action", { id: action, known: workflow });

const AGREED: readonly ApprovalStatus[] = ["approved", "modified", "consumed", "lapsed", "revoked"];

function stageState(
  { stage, handedOver, status }: Pick<LiveApproval, "stage" | "handedOver" | "status">,
  number: number,
): Approval["stages"][number]["state"] {
  if (handedOver.includes(number)) return "handed_over";
  if (number < stage) return "met";
  if (number > stage) return status === "pending" ? "later" : "not_asked";
  if (status === "pending") return "asked";
  return AGREED.includes(status) ? "met" : "ended";
}

/** All stages with their approvers, including those added at half time. */
const describeStages = (approval: Omit<LiveApproval, "says">): Approval["stages"] =>
  stageRules(approval).map((_, index) => ({
    stage: index + 1,
    state: stageState(approval, index + 1),
    approvers: ruleIn(approval, index + 1),
  }));

/** In the form of the contract. */
export async function describeApproval(place: TenantStore, loaded: LoadedApproval): Promise<Approval> {
  const { subject, ...fields } = loaded;
  return {
    ...fields,
    ...(await approvalSubject(place, loaded)),
    op: subject?.op ?? null,
    stages: describeStages(loaded),
    atDeadline: nextAtDeadline(loaded),
  };
}

/** `before`: the approval as it was loaded earlier, so that unchanged arguments are not loaded again. */
export const describeState = async (
  place: TenantStore,
  id: string,
  state: ApprovalState,
  before?: LoadedApproval,
): Promise<Approval> => describeApproval(place, await loadState(place, id, state, before));

export const getApproval = async (place: TenantStore, id: string): Promise<Approval> =>
  describeApproval(place, await loadApproval(place, id));

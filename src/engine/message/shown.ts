/** What a mail shows of a message: the card of what is asked or was done, or the facts that there are. */

import type { Approval } from "../../approvals/contract.ts";
import { getApproval } from "../../approvals/decide.ts";
import { type Action, getAction, getReceipt } from "../../effects/actions.ts";
import type { Receipt } from "../../effects/rules/receipt.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../../kernel/json.ts";
import { loadPolicyNames, type PolicyNames } from "../../policy/versions.ts";
import type { Runtime } from "../../runtime/runtime.ts";

import { getWorkflow, readSnapshot, type WorkflowDetails } from "../../workflows/read.ts";
import { readTimeline, type TimelineRow } from "../../workflows/timeline.ts";

import type { Content } from "./content.ts";

export type Shown =
  | {
      readonly kind: "action";
      readonly approval: Approval | undefined;
      readonly action: Action;
      readonly receipt: Receipt | undefined;
      readonly policies: PolicyNames;
    }
  | { readonly kind: "question"; readonly approval: Approval; readonly workflow: WorkflowDetails }
  | {
      readonly kind: "checkpoint";
      readonly approval: Approval;
      readonly workflow: WorkflowDetails;
      readonly rows: readonly TimelineRow[];
      readonly snapshot: JsonObject | undefined;
    }
  | { readonly kind: "intent"; readonly approval: Approval }
  | { readonly kind: "facts"; readonly facts: JsonObject };

/**
 * Lines of text as they are shown on a terminal: all of it visible, and what is an agent's own words said to be so. `where`: the
 * flags of the commands that are shown with it; without it, none is.
 */
export type RenderCard = (shown: Shown, now: number, where?: string) => readonly string[];

async function ofAction(runtime: Runtime, id: string, approval: Approval | undefined): Promise<Shown> {
  const action = await getAction(runtime, id);
  const receipt = await getReceipt(runtime, id);
  return { kind: "action", approval, action, receipt, policies: await loadPolicyNames(runtime) };
}

/** Undefined where it cannot be had: that keeps nobody from deciding. */
export async function unlessGone(opened: Promise<Json>): Promise<JsonObject | undefined> {
  try {
    const snapshot = await opened;
    return isJsonObject(snapshot) ? snapshot : undefined;
  } catch (error) {
    if (error instanceof HoldpointError) return undefined;
    throw error;
  }
}

async function ofApproval(runtime: Runtime, id: string): Promise<Shown> {
  const approval = await getApproval(runtime, id);
  const { subject } = approval;
  if (subject === undefined) return ofAction(runtime, approval.action, approval);
  if (subject.kind === "intent") return { kind: "intent", approval };
  const workflow = await getWorkflow(runtime, subject.workflow);
  if (subject.kind === "question") return { kind: "question", approval, workflow };
  const rows = await readTimeline(runtime, subject.workflow, undefined);
  const name = rows.findLast(({ ref }) => ref === id)?.checkpoint?.snapshot.id ?? subject.op;
  const snapshot = await unlessGone(readSnapshot(runtime, subject.workflow, name));
  return { kind: "checkpoint", approval, workflow, rows, snapshot };
}

export async function shownOf(
  runtime: Runtime,
  { ref, data }: Pick<Content, "ref" | "data">,
): Promise<Shown> {
  if (ref.kind === "approval") return ofApproval(runtime, ref.id);
  if (ref.kind === "action") return ofAction(runtime, ref.id, undefined);
  return { kind: "facts", facts: data };
}

/**
 * Several decisions of one person at once.
 *
 * B1. Each is for its own binding, which has to be given: what was shown in a list is what is decided.
 * B2. Each is a decision of its own, with its own answer: one that fails stops no other, and none waits for another.
 */

import { shown } from "../core/error-text.ts";
import { type HoldpointError, isHoldpointError } from "../core/errors.ts";
import { approveApproval, type Decided, rejectApproval } from "./approvals.ts";
import { checkFields, checkId, wrong } from "./check-call.ts";
import { MOST_AT_ONCE } from "./limits.ts";
import { copyEdit } from "./prepare-args.ts";
import type { Runtime } from "./runtime.ts";

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

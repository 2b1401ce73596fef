/**
 * Whether a row of a list is of an action that nobody is known to take back once it is done. Its card says the same, and looks closer:
 * what another server knew of a call when it took it is not looked up for a row.
 */

import { knownUndo } from "../approvals/card-workflow.ts";
import { isIrreversible, type KnownUndo } from "../approvals/rules/card.ts";
import { actionStream } from "../kernel/stream.ts";
import { skipUnreadable } from "../runtime/lists.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { readState } from "../runtime/store-access.ts";
import type { ViewRow } from "../stores/store.ts";

type Place = Pick<Runtime, "store" | "tenant" | "tools">;

/** How an action is undone never changes once it is known, and lists are asked for again and again. */
const kept = new WeakMap<Runtime["tools"], Map<string, KnownUndo>>();
const MOST_KEPT = 10_000;

function keptBy({ tools }: Place): Map<string, KnownUndo> {
  const known = kept.get(tools) ?? new Map<string, KnownUndo>();
  if (known.size >= MOST_KEPT) known.clear();
  kept.set(tools, known);
  return known;
}

async function undoIn(place: Place, action: string): Promise<KnownUndo> {
  const known = keptBy(place);
  const name = `${place.tenant}/${action}`;
  const before = known.get(name);
  if (before !== undefined) return before;
  const state = await skipUnreadable(readState(place, actionStream(action)));
  if (state === undefined || state.phase === "none") return "not_known";
  const undo = knownUndo(place, state, undefined);
  // A tool that is not declared here may be later.
  if (undo !== "not_known" && undo !== "claimed") known.set(name, undo);
  return undo;
}

export async function isIrreversibleRow(place: Place, { data }: ViewRow): Promise<boolean> {
  if ((data["about"] ?? "action") !== "action" || data["effectClass"] === "read") return false;
  // Outside of a workflow nobody takes anything back.
  if (data["workflow"] === null) return true;
  return isIrreversible(await undoIn(place, String(data["action"])));
}

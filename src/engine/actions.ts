/** Reading actions. */
import type { LiveAction } from "../core/action/state.ts";
import { HoldpointError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { actionStream } from "../kernel/stream.ts";
import { rowPage, rowSummary } from "../runtime/lists.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { loadValue, readState } from "../runtime/store-access.ts";
import { findAction } from "./receipts.ts";

export type Action = LiveAction & { readonly id: string };
export type ActionPage = {
  readonly phase: LiveAction["phase"];
  readonly limit?: number;
  readonly order?: "oldest" | "newest";
};
export type ActionSummary = { readonly id: string; readonly phase: string; readonly [field: string]: Json };
export type ActionList = { readonly items: readonly ActionSummary[]; readonly total: number };

const ACTIONS = "actions";
const MOST = 1_000;

/** By its own id, its effect's, or the caller's request id. */
export async function getAction(place: Pick<Runtime, "store" | "tenant">, id: string): Promise<Action> {
  const action = await findAction(place, id);
  const state = await readState(place, actionStream(action));
  if (state.phase === "none") throw new HoldpointError("unknown_id", `There is no action ${id}.`);
  // A copy: the state itself is what the next decision stands on.
  return structuredClone({ ...state, id: action, args: await loadValue(place, state.args) });
}

export async function listActions(
  place: Pick<Runtime, "store" | "tenant">,
  page: ActionPage,
): Promise<ActionList> {
  const { phase, limit = 100, order = "oldest" } = page;
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST)
    throw new HoldpointError("invalid_input", `A limit is a whole number from 1 to ${MOST}.`);
  const rows = await place.store.query(place.tenant, { view: ACTIONS, bucket: phase, order, limit });
  const total = await place.store.count(place.tenant, ACTIONS, phase);
  return {
    items: rows.map((row) => ({ id: row.stream.id, phase: row.bucket, at: row.at, ...row.data })),
    total,
  };
}

export type ActionsPage = Omit<ActionPage, "phase"> & {
  readonly phase: LiveAction["phase"] | "any";
  readonly after?: string;
};

/** In pages, of one phase or all: `next` is the cursor of the following page. */
export async function pageOfActions(
  place: Pick<Runtime, "store" | "tenant">,
  { phase, limit = 100, order = "oldest", after }: ActionsPage,
): Promise<{ readonly items: readonly ActionSummary[]; readonly next: string | null }> {
  const list = { view: ACTIONS, kind: "action", prefix: "act", bucket: phase } as const;
  const { rows, next } = await rowPage(place, { ...list, order, limit, after });
  return { items: rows.map((row) => ({ phase: row.bucket, at: row.at, ...rowSummary(row) })), next };
}

/** Effects that were started by processes which are gone: the next process that executes takes them over. */
export async function abandonedActions(
  place: Pick<Runtime, "store" | "tenant">,
): Promise<readonly ActionSummary[]> {
  const running = await listActions(place, { phase: "running", limit: MOST });
  const items = running.items.filter((item) => item["reportBy"] === undefined);
  const epochs = [...new Set(items.map((item) => String(item["epoch"])))];
  const held = await Promise.all(epochs.map((epoch) => place.store.epochHeld(epoch)));
  const gone = new Set(epochs.filter((_, index) => held[index] === false));
  return items.filter((item) => gone.has(String(item["epoch"])));
}

/** Reads actions and their receipts. Signs a receipt on request, with its path to a seal. */

import { actionTitle, titleInRow } from "../approvals/rules/title.ts";
import type { ReceiptBundle } from "../journal/receipt-jws.ts";
import { HoldpointError } from "../kernel/errors.ts";
import { checkFields, checkOneOf, rejectInput, type WithRationale, withRationale } from "../kernel/fields.ts";
import type { Json } from "../kernel/json.ts";
import { actionStream, streamName } from "../kernel/stream.ts";
import { sealTenant } from "../runtime/keyring.ts";
import { eachRow, rowPage, skipUnreadable } from "../runtime/lists.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { loadValue, readState } from "../runtime/store-access.ts";
import type { TenantStore, ViewQuery, ViewRow } from "../stores/store.ts";
import { requestName } from "./rules/propose.ts";
import { type Receipt, receiptOf, receiptPayload } from "./rules/receipt.ts";
import { actionIdOf } from "./rules/start.ts";
import type { LiveAction } from "./state.ts";

export const ACTION_LABEL = "An action";

/** Finds an action by its id, its effect's id or the caller's request id. */
export async function findAction(place: TenantStore, id: string): Promise<string> {
  if (typeof id !== "string" || id === "") throw new HoldpointError("invalid_input", "An id is needed.");
  if (/^(act|eff)_[0-9A-Z]{26}$/.test(id)) return actionIdOf(id);
  const names = [requestName(id)];
  const found = await place.store.transact(place.tenant, { names }, (sight) => ({
    kind: "commit",
    append: [],
    result: sight.name(requestName(id)),
  }));
  if (found === undefined) throw new HoldpointError("unknown_id", `There is no action under "${id}".`);
  return found.id;
}

/** undefined while the effect has no outcome: not started, or still running. */
export async function getReceipt(place: TenantStore, id: string): Promise<Receipt | undefined> {
  const action = await findAction(place, id);
  const state = await readState(place, actionStream(action));
  if (state.phase === "none") throw new HoldpointError("unknown_id", `There is no action ${action}.`);
  return "outcome" in state ? receiptOf(place.tenant, action, state) : undefined;
}

/** Seals first, so that the receipt includes its proof. */
export async function signedReceipt(runtime: Runtime, id: string): Promise<ReceiptBundle | undefined> {
  const receipt = await getReceipt(runtime, id);
  if (receipt === undefined) return undefined;
  await sealTenant(runtime);
  const stream = actionStream(receipt.action);
  const entries = await runtime.store.read(runtime.tenant, stream, { fromSeq: receipt.seq });
  const [outcome, ...later] = entries;
  if (outcome === undefined)
    throw new HoldpointError("store_corrupt", `The entry ${receipt.seq} of ${receipt.stream} is missing.`);
  const seal = await runtime.store.sealOver(runtime.tenant, outcome.position);
  const sealedAt = seal?.leaves.find((leaf) => leaf.stream === streamName(stream))?.seq ?? receipt.seq;
  const links = later.slice(0, sealedAt - receipt.seq).map((entry) => entry.header);
  // Loaded here because a program that only makes calls signs no receipt.
  const { signReceipt } = await import("../journal/receipt-jws.ts");
  const proof = seal === undefined ? undefined : { seal, links };
  return signReceipt(receiptPayload(receipt, outcome.hash), await runtime.signingKey(), proof);
}

/** An action in full. The agent's explanation is its `rationale`. `title`: one line for people, in visible text. */
export type Action = WithRationale<LiveAction> & { readonly id: string; readonly title: string };
export type ActionPage = {
  readonly phase: LiveAction["phase"];
  readonly limit?: number;
  readonly order?: "oldest" | "newest";
};
export type ActionSummary = { readonly id: string; readonly phase: string; readonly [field: string]: Json };
export type ActionList = { readonly items: readonly ActionSummary[]; readonly total: number };

const ACTIONS = "actions";

const actionSummary = (row: ViewRow): ActionSummary => ({
  id: row.stream.id,
  phase: row.bucket,
  at: row.at,
  ...row.data,
  title: titleInRow(row.data),
});
const MOST = 1_000;

/** By action id, effect id or request id. */
export async function getAction(place: TenantStore, id: string): Promise<Action> {
  const action = await findAction(place, id);
  const state = await readState(place, actionStream(action));
  if (state.phase === "none") throw new HoldpointError("unknown_id", `There is no action ${id}.`);
  const args = await loadValue(place, state.args);
  const title = actionTitle(state.tool, state.titleTemplate, args);
  // A copy: the next decision uses the state itself.
  return structuredClone({ ...withRationale(state), id: action, title, args });
}

const MOST_AT_ONCE = 100;

/** By action id. An action that cannot be read here has none. Large arguments are not loaded for it. */
export async function readTitles(
  place: TenantStore,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const titles = new Map<string, string>();
  const read = async (id: string): Promise<void> => {
    const state = await skipUnreadable(readState(place, actionStream(id)));
    if (state === undefined || state.phase === "none") return;
    titles.set(id, actionTitle(state.tool, state.titleTemplate, state.args));
  };
  for (let from = 0; from < ids.length; from += MOST_AT_ONCE)
    await Promise.all(ids.slice(from, from + MOST_AT_ONCE).map(read));
  return titles;
}

export async function listActions(place: TenantStore, page: ActionPage): Promise<ActionList> {
  const { phase, limit = 100, order = "oldest" } = page;
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST)
    throw new HoldpointError("invalid_input", `A limit is a whole number from 1 to ${MOST}.`);
  const rows = await place.store.query(place.tenant, { view: ACTIONS, bucket: phase, order, limit });
  const total = await place.store.count(place.tenant, ACTIONS, phase);
  return {
    items: rows.map(actionSummary),
    total,
  };
}

type ActionsPage = Omit<ActionPage, "phase"> & {
  readonly phase: LiveAction["phase"] | "any";
  readonly after?: string;
};

/** One page of actions, of one phase or of all. `next`: cursor of the following page. */
export async function pageOfActions(
  place: TenantStore,
  { phase, limit = 100, order = "oldest", after }: ActionsPage,
): Promise<{ readonly items: readonly ActionSummary[]; readonly next: string | null }> {
  const list = { view: ACTIONS, kind: "action", prefix: "act", bucket: phase } as const;
  const { rows, next } = await rowPage(place, { ...list, order, limit, after });
  return { items: rows.map(actionSummary), next };
}

/** Effects started by processes that have ended. The next process that executes takes them over. */
export async function abandonedActions(place: TenantStore): Promise<readonly ActionSummary[]> {
  const running = await listActions(place, { phase: "running", limit: MOST });
  const items = running.items.filter((item) => item["reportBy"] === undefined);
  const epochs = [...new Set(items.map((item) => String(item["epoch"])))];
  const held = await Promise.all(epochs.map((epoch) => place.store.epochHeld(epoch)));
  const gone = new Set(epochs.filter((_, index) => held[index] === false));
  return items.filter((item) => gone.has(String(item["epoch"])));
}

/** Every action in one phase, oldest first. `dueBy: null` excludes effects that outside agents perform and report. */
export async function actionRows(
  place: TenantStore,
  phase: "open" | "waiting" | "running" | "in_doubt",
  only: Pick<ViewQuery, "dueBy"> = {},
): Promise<readonly ViewRow[]> {
  const rows: ViewRow[] = [];
  for await (const row of eachRow(place, { view: ACTIONS, bucket: phase, ...only })) rows.push(row);
  return rows;
}

const LIST_ORDERS = ["oldest", "newest"];
const ACTION_PHASES = ["open", "waiting", "running", "applied", "not_applied", "in_doubt", "refused"];

function checkPageLimit({ limit }: { readonly limit?: unknown }): void {
  if (limit !== undefined && !(Number.isInteger(limit) && Number(limit) >= 1))
    rejectInput("A limit is a whole number of at least 1.");
}

export function checkActionPage<Given extends object>(page: Given): Given {
  const given: { phase?: unknown; order?: unknown } = checkFields("A page of actions", page, [
    "phase",
    "limit",
    "order",
  ]);
  if (given.phase === undefined)
    rejectInput(`A page of actions has a phase: one of ${ACTION_PHASES.join(", ")}.`);
  checkOneOf("An action's phase", given.phase, ACTION_PHASES);
  checkPageLimit(page);
  checkOneOf("A list's order", given.order, LIST_ORDERS);
  return page;
}

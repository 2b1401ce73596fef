/**
 * Lists of approvals: pages of them, those that wait for one person, and counts. A row also says whether its action is
 * irreversible. The card says the same with more data: it also reads what another server recorded when it took the
 * call.
 */

import { z } from "zod";
import { HoldpointError } from "../kernel/errors.ts";
import { rejectInput } from "../kernel/fields.ts";
import type { Json } from "../kernel/json.ts";
import { actionStream, approvalStream, ROSTER } from "../kernel/stream.ts";
import { timestamp } from "../kernel/values.ts";
import { countStops } from "../kill-switch/switches.ts";
import type { RosterState } from "../people/stream.ts";
import {
  cursorAfter,
  eachRow,
  MOST_SCANNED,
  rowPage,
  rowSummary,
  skipUnreadable,
  yieldToOthers,
} from "../runtime/lists.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { readState } from "../runtime/store-access.ts";
import type { TenantStore, ViewRow } from "../stores/store.ts";
import { knownUndo } from "./card-workflow.ts";
import type { ApprovalList, ApprovalPage, ApprovalSummary } from "./contract.ts";
import { describeSubject } from "./read.ts";
import { isIrreversible, type KnownUndo } from "./rules/card.ts";
import { isWaitingFor } from "./rules/quorum.ts";
import { titleInRow } from "./rules/title.ts";
import {
  APPROVAL_STATUSES,
  type ApprovalStatus,
  type ListedApproval,
  type ListedStatus,
  listApproval,
} from "./state.ts";

const count = z.number().int().min(0);
/** What needs attention now, in numbers. */
export const attentionSchema = z.object({
  pending: count,
  mine: count.describe("of those, the ones that the caller may decide and has not decided yet"),
  lookedAt: count.describe("of those that wait longest, so many were looked at"),
  isAll: z.boolean().describe("false where more wait: `mine` is then at least so many, and may be 0"),
  oldestAt: timestamp.nullable().describe("since when the oldest of `mine` waits"),
  nextDeadline: timestamp.nullable().describe("the first one of `mine`"),
  inDoubt: count.describe("0 without the scope actions:read"),
  alerts: count.describe("active alerts; 0 without the scope alerts:read"),
  deadMessages: count.describe("0 without the scope endpoints:read"),
  stopped: count.describe("agents, services and workflows that are stopped; 0 without the scope switch:read"),
  isEmpty: z.boolean().describe("there was never a request here"),
});
type Attention = z.output<typeof attentionSchema>;

type ListStore = Pick<Runtime, "store" | "tenant" | "tools">;

/** A known undo never changes, and lists are requested again and again. */
const undoCaches = new WeakMap<Runtime["tools"], Map<string, KnownUndo>>();
const MAX_CACHED_UNDOS = 10_000;

function undoCacheFor({ tools }: ListStore): Map<string, KnownUndo> {
  const known = undoCaches.get(tools) ?? new Map<string, KnownUndo>();
  if (known.size >= MAX_CACHED_UNDOS) known.clear();
  undoCaches.set(tools, known);
  return known;
}

async function readUndo(place: ListStore, action: string): Promise<KnownUndo> {
  const known = undoCacheFor(place);
  const name = `${place.tenant}/${action}`;
  const before = known.get(name);
  if (before !== undefined) return before;
  const state = await skipUnreadable(readState(place, actionStream(action)));
  if (state === undefined || state.phase === "none") return "not_known";
  const undo = knownUndo(place, state, undefined);
  // A tool that is not declared here may be declared later.
  if (undo !== "not_known" && undo !== "claimed") known.set(name, undo);
  return undo;
}

async function isIrreversibleRow(place: ListStore, { data }: ViewRow): Promise<boolean> {
  if ((data["about"] ?? "action") !== "action" || data["effectClass"] === "read") return false;
  // Outside a workflow nothing is undone.
  if (data["workflow"] === null) return true;
  return isIrreversible(await readUndo(place, String(data["action"])));
}

const APPROVALS = "approvals";
const LIST = { view: APPROVALS, kind: "approval", prefix: "apr" } as const;
const BY_DEADLINE = { ...LIST, view: "approvals_by_deadline", order: "oldest" } as const;
const BY_DECISION = { ...LIST, view: "approvals_by_decision", order: "newest" } as const;

/** The reader of a row. `person`: null without authentication; they give their name when they decide. */
type Onlooker = { readonly person: string | null; readonly roster: RosterState };

const onlookerOf = async (place: TenantStore, person: string | null): Promise<Onlooker> => ({
  person,
  roster: await readState(place, ROSTER),
});

/** Rows that an older process wrote lack fields: those are read from the approval itself. */
async function listedIn(place: TenantStore, { data, stream }: ViewRow): Promise<ListedApproval | undefined> {
  if (data["waiting"] !== undefined) return data as unknown as ListedApproval;
  const state = await skipUnreadable(readState(place, approvalStream(stream.id)));
  return state === undefined || state.status === "none" ? undefined : listApproval(state);
}

async function isMine(place: TenantStore, row: ViewRow, { person, roster }: Onlooker): Promise<boolean> {
  if (row.bucket !== "pending") return false;
  if (person === null) return true;
  return isWaitingFor((await listedIn(place, row))?.waiting ?? null, roster, person);
}

/** Case-insensitive. */
function holdsText({ stream, data }: ViewRow, text: string): boolean {
  const { tool, agent, args, reason } = data;
  const title = titleInRow(data);
  const sought = text.toLowerCase();
  const holds = (one: unknown) =>
    String(one ?? "")
      .toLowerCase()
      .includes(sought);
  return [stream.id, title, tool, agent, args, reason].some(holds);
}

function fits(row: ViewRow, { status, text, about, agent, name }: ApprovalPage): boolean {
  const { data } = row;
  if (status === "decided" && row.bucket === "pending") return false;
  if (about !== undefined && (data["about"] ?? "action") !== about) return false;
  if (agent !== undefined && data["agent"] !== agent && data["agent"] !== `agent:${agent}`) return false;
  if (name !== undefined && data["tool"] !== name) return false;
  return text === undefined || holdsText(row, text);
}

/** Only pending approvals wait for a person. undefined: nothing can match. */
function bucketOf({ status, mine }: ApprovalPage): ApprovalStatus | "any" | undefined {
  if (mine === true) return status === "pending" || status === "any" ? "pending" : undefined;
  return status === "decided" ? "any" : status;
}

/** Ordered by decision, the list holds only decided approvals. */
const isFiltered = ({ status, order, mine, text, about, agent, name }: ApprovalPage): boolean =>
  (status === "decided" && order !== "decided") ||
  mine === true ||
  [text, about, agent, name].some((one) => one !== undefined);

/** A row with what is read for it. Rows of before have no `edited`. */
type Row = Omit<ApprovalSummary, "action" | "workflow" | "intent" | "edited"> &
  ListedApproval & { readonly action: string; readonly edited?: boolean };

async function summaryFor(place: ListStore, row: ViewRow, who: Onlooker): Promise<ApprovalSummary> {
  const stored = { ...rowSummary(row), ...(await listedIn(place, row)) } as unknown as Row;
  const { waiting: _, action, workflow: known, ...summary } = stored;
  return {
    ...summary,
    ...(await describeSubject(place, summary.about, { id: action, known })),
    title: titleInRow(row.data),
    edited: summary.edited ?? false,
    isIrreversible: await isIrreversibleRow(place, row),
    isMine: await isMine(place, row, who),
  };
}

function listOf({ order, status }: ApprovalPage, bucket: string) {
  if (order === "deadline")
    return bucket === "pending"
      ? BY_DEADLINE
      : rejectInput("Only what is pending is listed by its deadline.");
  if (order === "decided")
    return status !== "pending" && status !== "any"
      ? BY_DECISION
      : rejectInput("Only what is decided is listed by when it was.");
  return { ...LIST, order };
}

/** Without a person, every pending approval counts as the caller's. */
export async function listApprovals(place: ListStore, page: ApprovalPage): Promise<ApprovalList> {
  const { person, limit = 100, after } = page;
  if (page.mine === true && person === undefined) rejectInput("Whose approvals they are: person is missing.");
  const bucket = bucketOf(page);
  if (bucket === undefined) return { items: [], next: null };
  const list = listOf(page, bucket);
  const who = await onlookerOf(place, person ?? null);
  const wanted = async (row: ViewRow) =>
    fits(row, page) && (page.mine !== true || (await isMine(place, row, who)));
  const asked = { ...list, bucket, limit, after };
  const { rows, next } = await (isFiltered(page) ? rowPage(place, asked, wanted) : rowPage(place, asked));
  return { items: await Promise.all(rows.map((row) => summaryFor(place, row, who))), next };
}

/** Ids of pending approvals, oldest first, each with its following cursor: the caller may stop anywhere. */
export async function waitingIds(
  place: TenantStore,
  { limit, after }: { readonly limit: number; readonly after?: string },
) {
  const asked = { ...LIST, bucket: "pending", order: "oldest", limit, after } as const;
  const { rows, next } = await rowPage(place, asked);
  return { items: rows.map((row) => ({ id: row.stream.id, cursor: cursorAfter(row) })), next };
}

function bucketsOf(status: ListedStatus): readonly ApprovalStatus[] {
  if (status === "any") return APPROVAL_STATUSES;
  return status === "decided" ? APPROVAL_STATUSES.filter((one) => one !== "pending") : [status];
}

export async function countApprovals(
  { store, tenant }: TenantStore,
  status: ListedStatus = "pending",
): Promise<number> {
  const buckets = bucketsOf(status);
  const counts = await Promise.all(buckets.map((bucket) => store.count(tenant, APPROVALS, bucket)));
  return counts.reduce((sum, count) => sum + count, 0);
}

/**
 * Ids of approvals that change, in any process. The first batch is empty and comes at once: a caller that reads from
 * then on misses no later change. Goes on after a failure of the store. Ends when the signal aborts.
 */
export async function* followApprovals(
  { waker, closing }: Pick<Runtime, "waker" | "closing">,
  signal: AbortSignal,
): AsyncGenerator<readonly string[]> {
  const watch = await waker.watch("approval");
  const stop = () => watch.close();
  signal.addEventListener("abort", stop, { once: true });
  try {
    yield [];
    while (!signal.aborted) {
      const changed = await watch.moved(null);
      if (signal.aborted) return;
      if (closing.aborted)
        throw new HoldpointError("closed", "This instance was closed while approvals were followed.");
      if (changed.length > 0) yield changed.map(({ id }) => id);
    }
  } finally {
    signal.removeEventListener("abort", stop);
    watch.close();
  }
}

/** How many of the longest-waiting approvals are checked for `mine`. More are checked only until one is found. */
const LOOKED_AT = 1_000;
const TURN_ROWS = 500;

type Figures = Pick<Attention, "mine" | "lookedAt" | "isAll" | "oldestAt" | "nextDeadline">;

const least = (values: readonly (Json | undefined)[]): number | null => {
  const times = values.filter((value) => typeof value === "number");
  return times.length === 0 ? null : Math.min(...times);
};

const countMine = (mine: readonly ViewRow[], lookedAt: number, isAll: boolean): Figures => ({
  mine: mine.length,
  lookedAt,
  isAll,
  oldestAt: least(mine.map(({ at }) => at)),
  nextDeadline: least(mine.map(({ data }) => data["decideBy"])),
});

/** `pending` may be slightly out of date: the rows found say whether these were all. */
async function findMine(place: TenantStore, person: string | null, pending: number): Promise<Figures> {
  const query = { view: APPROVALS, bucket: "pending", order: "oldest", limit: LOOKED_AT } as const;
  const who = await onlookerOf(place, person);
  const mine: ViewRow[] = [];
  let looked = 0;
  for await (const row of eachRow(place, query)) {
    if (await isMine(place, row, who)) mine.push(row);
    if (++looked % TURN_ROWS === 0) await yieldToOthers();
    const isEnough = looked >= MOST_SCANNED || (looked >= LOOKED_AT && mine.length > 0);
    if (isEnough && looked < pending) return countMine(mine, looked, false);
  }
  return countMine(mine, looked, true);
}

/** No approval, action or workflow was ever created. */
async function isUnused({ store, tenant }: TenantStore): Promise<boolean> {
  const views = [APPROVALS, "actions", "workflows"];
  const rows = await Promise.all(views.map((view) => store.query(tenant, { view, limit: 1 })));
  return rows.every(({ length }) => length === 0);
}

/** Cheap enough to run after every journal entry. Without authentication, all pending approvals are the caller's. */
export async function attentionOf(place: TenantStore, person: string | null): Promise<Attention> {
  const { store, tenant } = place;
  const pending = await countApprovals(place);
  return {
    pending,
    ...(await findMine(place, person, pending)),
    inDoubt: await store.count(tenant, "actions", "in_doubt"),
    alerts: await store.count(tenant, "alerts", "standing"),
    deadMessages: await store.count(tenant, "messages", "dead"),
    stopped: await countStops(place),
    isEmpty: pending === 0 && (await isUnused(place)),
  };
}

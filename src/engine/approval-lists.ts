/** Lists of approvals: pages of them, those that wait for one person, and how many there are. */

import type { ListedStatus } from "../core/approval/list-words.ts";
import { type Listed, listedOf, waitsFor } from "../core/approval/listed.ts";
import { APPROVAL_STATUSES, type ApprovalStatus } from "../core/approval/state.ts";
import type { Json } from "../core/json.ts";
import type { RosterState } from "../core/roster.ts";
import { approvalStream, ROSTER } from "../core/stream.ts";
import type { ViewRow } from "../stores/store.ts";
import type { Page } from "./approval-page.ts";
import { wrong } from "./check-call.ts";
import { isIrreversibleRow } from "./irreversible-rows.ts";
import { unlessLeftAlone } from "./left-alone.ts";
import { readState } from "./read-state.ts";
import { cursorAfter, rowPage, summaryOf } from "./row-pages.ts";
import type { Runtime } from "./runtime.ts";

export type ApprovalSummary = { readonly id: string; readonly [field: string]: Json };
export type ApprovalList = { readonly items: readonly ApprovalSummary[]; readonly next: string | null };

type Place = Pick<Runtime, "store" | "tenant">;
type ListPlace = Pick<Runtime, "store" | "tenant" | "tools">;

const APPROVALS = "approvals";
const LIST = { view: APPROVALS, kind: "approval", prefix: "apr" } as const;
const BY_DEADLINE = { ...LIST, view: "approvals_by_deadline", order: "oldest" } as const;
const BY_DECISION = { ...LIST, view: "approvals_by_decision", order: "newest" } as const;

/** Whom a row is shown to: a person, or nobody who is known, who then says who they are when they decide. */
export type Onlooker = { readonly person: string | null; readonly roster: RosterState };

export const onlookerOf = async (place: Place, person: string | null): Promise<Onlooker> => ({
  person,
  roster: await readState(place, ROSTER),
});

/** Rows that an older process wrote say less: what is missing is read from the approval itself. */
async function listedIn(place: Place, { data, stream }: ViewRow): Promise<Listed | undefined> {
  if (data["waiting"] !== undefined) return data as unknown as Listed;
  const state = await unlessLeftAlone(readState(place, approvalStream(stream.id)));
  return state === undefined || state.status === "none" ? undefined : listedOf(state);
}

export async function isMine(place: Place, row: ViewRow, { person, roster }: Onlooker): Promise<boolean> {
  if (row.bucket !== "pending") return false;
  if (person === null) return true;
  return waitsFor((await listedIn(place, row))?.waiting ?? null, roster, person);
}

function isOf(agent: Json | undefined, wanted: string): boolean {
  return agent === wanted || agent === `agent:${wanted}`;
}

function holdsText({ stream, data }: ViewRow, text: string): boolean {
  const { tool, agent, args, reason } = data;
  const sought = text.toLowerCase();
  return [stream.id, tool, agent, args, reason].some((one) =>
    String(one ?? "")
      .toLowerCase()
      .includes(sought),
  );
}

function fits(row: ViewRow, { status, text, about, agent, name }: Page): boolean {
  const { data } = row;
  if (status === "decided" && row.bucket === "pending") return false;
  if (about !== undefined && (data["about"] ?? "action") !== about) return false;
  if (agent !== undefined && !isOf(data["agent"], agent)) return false;
  if (name !== undefined && data["tool"] !== name) return false;
  return text === undefined || holdsText(row, text);
}

/** Only what is pending waits for anybody; undefined where nothing can be found. */
function bucketOf({ status = "pending", mine }: Page): ApprovalStatus | "any" | undefined {
  if (mine === true) return status === "pending" || status === "any" ? "pending" : undefined;
  return status === "decided" ? "any" : status;
}

/** By decision, all that is listed is decided. */
const isFiltered = ({ status, order, mine, text, about, agent, name }: Page): boolean =>
  (status === "decided" && order !== "decided") ||
  mine === true ||
  [text, about, agent, name].some((one) => one !== undefined);

async function summaryFor(
  place: ListPlace,
  row: ViewRow,
  who: Onlooker | undefined,
): Promise<ApprovalSummary> {
  const summary = { ...summaryOf(row), ...(await listedIn(place, row)) } as ApprovalSummary;
  const { waiting: _, ...rest } = summary;
  const shown = { ...rest, isIrreversible: await isIrreversibleRow(place, row) };
  return who === undefined ? shown : { ...shown, isMine: await isMine(place, row, who) };
}

function listOf({ order = "oldest", status = "pending" }: Page, bucket: string) {
  if (order === "deadline")
    return bucket === "pending" ? BY_DEADLINE : wrong("Only what is pending is listed by its deadline.");
  if (order === "decided")
    return status !== "pending" && status !== "any"
      ? BY_DECISION
      : wrong("Only what is decided is listed by when it was.");
  return { ...LIST, order };
}

/** `person` is null where nobody is known: then all that is pending is theirs. */
export async function listApprovals(
  place: ListPlace,
  { person, ...page }: Omit<Page, "person"> & { readonly person?: string | null } = {},
): Promise<ApprovalList> {
  const { limit = 100, after } = page;
  const bucket = bucketOf(page);
  if (bucket === undefined) return { items: [], next: null };
  const list = listOf(page, bucket);
  const who = person === undefined ? undefined : await onlookerOf(place, person);
  const wanted = async (row: ViewRow) =>
    fits(row, page) && (page.mine !== true || (who !== undefined && (await isMine(place, row, who))));
  const asked = { ...list, bucket, limit, after };
  const { rows, next } = await (isFiltered(page) ? rowPage(place, asked, wanted) : rowPage(place, asked));
  return { items: await Promise.all(rows.map((row) => summaryFor(place, row, who))), next };
}

/** The ids of what waits, oldest first, with where the list goes on after each: for whoever may stop anywhere. */
export async function waitingIds(
  place: Place,
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
  { store, tenant }: Place,
  status: ListedStatus = "pending",
): Promise<number> {
  const buckets = bucketsOf(status);
  const counts = await Promise.all(buckets.map((bucket) => store.count(tenant, APPROVALS, bucket)));
  return counts.reduce((sum, count) => sum + count, 0);
}

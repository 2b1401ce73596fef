/** Lists of approvals: pages of them, those that wait for one person, and how many there are. */

import type { Json } from "../core/json.ts";
import type { RosterState } from "../core/roster.ts";
import { approvalStream, ROSTER } from "../core/stream.ts";
import type { ApproverRule } from "../core/verdict.ts";
import { wrong } from "../engine/check-call.ts";
import { isIrreversibleRow } from "../engine/irreversible-rows.ts";
import { unlessLeftAlone } from "../engine/left-alone.ts";
import { readState } from "../engine/read-state.ts";
import { cursorAfter, eachRow, MOST_SCANNED, othersTurn, rowPage, summaryOf } from "../engine/row-pages.ts";
import type { Runtime } from "../engine/runtime.ts";
import { countStops } from "../engine/stops.ts";
import type { ViewRow } from "../stores/store.ts";
import { waitsFor } from "./rules/seats.ts";
import {
  APPROVAL_STATUSES,
  type ApprovalOrder,
  type ApprovalStatus,
  type Listed,
  type ListedStatus,
  type LiveApproval,
  listedOf,
  ruleIn,
  stageRules,
} from "./state.ts";

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

/** One page of a list of approvals. */

export type Page = {
  /** `pending` unless set. */
  readonly status?: ListedStatus;
  readonly limit?: number;
  readonly after?: string;
  readonly order?: ApprovalOrder;
  /** Who looks: each item says whether it waits for them, as `isMine`. */
  readonly person?: string;
  /** Only what `person` may decide now, and has not. */
  readonly mine?: boolean;
  /** In the id, name, agent, the beginning of the arguments, or the reason; in any case of letters. */
  readonly text?: string;
  readonly about?: "action" | "checkpoint" | "question" | "intent";
  /** `agent:<name>`, or the name alone. */
  readonly agent?: string;
  /** Of the tool, checkpoint or question. */
  readonly name?: string;
};

/** Which approvals move, as they move, whoever moves them. */

/**
 * The first turn comes at once and is empty: whatever is read from then on, no later change is missed. Ends when the
 * signal aborts.
 */
export async function* followApprovals(
  place: Pick<Runtime, "store" | "tenant">,
  signal: AbortSignal,
): AsyncGenerator<readonly string[]> {
  let position = await place.store.position();
  yield [];
  while (!signal.aborted) {
    const moved = await place.store.follow(position, signal);
    position = moved.position;
    const ids = moved.streams
      .filter(({ tenant, stream }) => tenant === place.tenant && stream.kind === "approval")
      .map(({ stream }) => stream.id);
    if (ids.length > 0) yield [...new Set(ids)];
  }
}

/** What wants somebody now, in figures: cheap enough to be asked after every entry of the journal. */

/** Of those that wait longest, so many are looked at to see whom they wait for; more only until one is theirs. */
export const LOOKED_AT = 1_000;
const TURN_ROWS = 500;

export type Theirs = {
  readonly mine: number;
  /** Since when the first of them waits, and which deadline comes first. */
  readonly oldestAt: number | null;
  readonly nextDeadline: number | null;
  /** Of those that wait longest, so many were looked at. */
  readonly lookedAt: number;
  /** False where more wait than were looked at. */
  readonly isAll: boolean;
};

const timesIn = (values: readonly (Json | undefined)[]): readonly number[] =>
  values.filter((value) => typeof value === "number");

const least = (times: readonly number[]): number | null => (times.length === 0 ? null : Math.min(...times));

function figuresOf(theirs: readonly ViewRow[], lookedAt: number, isAll: boolean): Theirs {
  return {
    mine: theirs.length,
    oldestAt: least(theirs.map(({ at }) => at)),
    nextDeadline: least(timesIn(theirs.map(({ data }) => data["decideBy"]))),
    ...{ lookedAt, isAll },
  };
}

/** `pending` may be of a moment ago: what is there now says whether it was all. */
async function theirsOf(place: Place, person: string | null, pending: number): Promise<Theirs> {
  const query = { view: "approvals", bucket: "pending", order: "oldest", limit: LOOKED_AT } as const;
  const who = await onlookerOf(place, person);
  const theirs: ViewRow[] = [];
  let looked = 0;
  for await (const row of eachRow(place, query)) {
    if (await isMine(place, row, who)) theirs.push(row);
    if (++looked % TURN_ROWS === 0) await othersTurn();
    const isEnough = looked >= MOST_SCANNED || (looked >= LOOKED_AT && theirs.length > 0);
    if (isEnough && looked < pending) return figuresOf(theirs, looked, false);
  }
  return figuresOf(theirs, looked, true);
}

/** Nobody has asked for anything, ever. */
async function isUnused({ store, tenant }: Place): Promise<boolean> {
  const views = ["approvals", "actions", "workflows"];
  const rows = await Promise.all(views.map((view) => store.query(tenant, { view, limit: 1 })));
  return rows.every(({ length }) => length === 0);
}

export type Attention = Theirs & {
  readonly pending: number;
  readonly inDoubt: number;
  readonly alerts: number;
  readonly deadMessages: number;
  /** Agents, services and workflows whose switch is on. */
  readonly stopped: number;
  readonly isEmpty: boolean;
};

/** `person` is null where nobody is known: then all that is pending is theirs. */
export async function attentionOf(place: Place, person: string | null): Promise<Attention> {
  const { store, tenant } = place;
  const pending = await countApprovals(place);
  return {
    pending,
    ...(await theirsOf(place, person, pending)),
    inDoubt: await store.count(tenant, "actions", "in_doubt"),
    alerts: await store.count(tenant, "alerts", "standing"),
    deadMessages: await store.count(tenant, "messages", "dead"),
    stopped: await countStops(place),
    isEmpty: pending === 0 && (await isUnused(place)),
  };
}

/** The stages of an approval as they stand: whom each asks, and how far it has come. */

/**
 * `later`: once those before have agreed. `handed_over`: its time was up, and the next is asked instead. `ended`: the approval ended
 * in it, without its agreement. `not_asked`: it ended before.
 */
export const STAGE_STATES = ["asked", "later", "met", "handed_over", "ended", "not_asked"] as const;
export type StageState = (typeof STAGE_STATES)[number];

export type StageStanding = {
  /** From 1 on. */
  readonly stage: number;
  readonly state: StageState;
  /** With those who may decide in it since its half time. */
  readonly approvers: ApproverRule;
};

const AGREED = new Set<LiveApproval["status"]>(["approved", "modified", "consumed", "lapsed", "revoked"]);

function stateOf({ stage, handedOver, status }: LiveApproval, number: number): StageState {
  if (handedOver.includes(number)) return "handed_over";
  if (number < stage) return "met";
  if (number > stage) return status === "pending" ? "later" : "not_asked";
  if (status === "pending") return "asked";
  return AGREED.has(status) ? "met" : "ended";
}

export const stagesOf = (approval: LiveApproval): readonly StageStanding[] =>
  stageRules(approval).map((_, index) => ({
    stage: index + 1,
    state: stateOf(approval, index + 1),
    approvers: ruleIn(approval, index + 1),
  }));

/** What wants somebody now, in figures: cheap enough to be asked after every entry of the journal. */
import type { Json } from "../core/json.ts";
import type { ViewRow } from "../stores/store.ts";
import { countApprovals, isMine, onlookerOf } from "./approval-lists.ts";
import { eachRow, MOST_SCANNED, othersTurn } from "./row-pages.ts";
import type { Runtime } from "./runtime.ts";
import { countStops } from "./stops.ts";

type Place = Pick<Runtime, "store" | "tenant">;

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

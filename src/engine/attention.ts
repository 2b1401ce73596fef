/** What wants somebody now, in figures: cheap enough to be asked after every entry of the journal. */
import type { Json } from "../core/json.ts";
import { countApprovals, isMine, onlookerOf } from "./approval-lists.ts";
import type { Runtime } from "./runtime.ts";

type Place = Pick<Runtime, "store" | "tenant">;

/** Of those that wait longest, so many are looked at to see whom they wait for. */
export const MOST_LOOKED_AT = 1_000;

export type Theirs = {
  readonly mine: number;
  /** Since when the first of them waits, and which deadline comes first. */
  readonly oldestAt: number | null;
  readonly nextDeadline: number | null;
};

const timesIn = (values: readonly (Json | undefined)[]): readonly number[] =>
  values.filter((value) => typeof value === "number");

const least = (times: readonly number[]): number | null => (times.length === 0 ? null : Math.min(...times));

async function theirsOf(place: Place, person: string | null): Promise<Theirs> {
  const query = { view: "approvals", bucket: "pending", order: "oldest", limit: MOST_LOOKED_AT } as const;
  const rows = await place.store.query(place.tenant, query);
  const who = await onlookerOf(place, person);
  const own = await Promise.all(rows.map((row) => isMine(place, row, who)));
  const theirs = rows.filter((_, index) => own[index]);
  return {
    mine: theirs.length,
    oldestAt: least(theirs.map(({ at }) => at)),
    nextDeadline: least(timesIn(theirs.map(({ data }) => data["decideBy"]))),
  };
}

/** Nobody has asked for anything, ever. */
async function isUnused({ store, tenant }: Place): Promise<boolean> {
  const views = ["approvals", "actions", "workflows"];
  const rows = await Promise.all(views.map((view) => store.query(tenant, { view, limit: 1 })));
  return rows.every(({ length }) => length === 0);
}

export type Attention = Theirs & {
  readonly pending: number;
  /** False where more wait than were looked at. */
  readonly isAll: boolean;
  readonly inDoubt: number;
  readonly alerts: number;
  readonly deadMessages: number;
  readonly isEmpty: boolean;
};

/** `person` is null where nobody is known: then all that is pending is theirs. */
export async function attentionOf(place: Place, person: string | null): Promise<Attention> {
  const { store, tenant } = place;
  const pending = await countApprovals(place);
  return {
    pending,
    ...(await theirsOf(place, person)),
    isAll: pending <= MOST_LOOKED_AT,
    inDoubt: await store.count(tenant, "actions", "in_doubt"),
    alerts: await store.count(tenant, "alerts", "standing"),
    deadMessages: await store.count(tenant, "messages", "dead"),
    isEmpty: pending === 0 && (await isUnused(place)),
  };
}

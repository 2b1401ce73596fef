/** The rows of the inbox, live: more as one goes down, and what leaves is seen leaving. */
import { useEffect, useRef, useState } from "react";
import { listKey, listPage, type Summary } from "../../api/approvals.ts";
import { useLongList } from "../../live/use-long-list.ts";
import { askedOf, type Search } from "./inbox-search.ts";
import { type Item, missingFrom, mixed } from "./leaving.ts";

const SEEN_LEAVING_MS = 5_000;
/** After a pause in which much happened, nobody wants to see all of it leave. */
const MOST_LEAVING = 30;
const NOBODY: ReadonlySet<string> = new Set();

export type Row = Item<Summary>;

/** What was shown last, and what of it is leaving. */
function useLeaving(rows: readonly Summary[]): readonly Row[] {
  const shown = useRef<readonly Row[]>([]);
  const [gone, setGone] = useState(NOBODY);
  const before = shown.current;
  const missing = missingFrom(rows, before);
  const leaving = missing.length > MOST_LEAVING ? NOBODY : new Set([...gone, ...missing]);
  const items = mixed(rows, before, leaving);
  const news = missing.join(" ");
  useEffect(() => {
    shown.current = items;
  });
  useEffect(() => {
    const ids = news === "" ? [] : news.split(" ");
    if (ids.length === 0 || ids.length > MOST_LEAVING) return;
    setGone((now) => new Set([...now, ...ids]));
    window.setTimeout(
      () => setGone((now) => new Set([...now].filter((id) => !ids.includes(id)))),
      SEEN_LEAVING_MS,
    );
  }, [news]);
  return items;
}

const idOf = ({ request_id }: Summary): string => request_id;
/** What has no deadline is last. */
const deadlineOf = ({ decide_by }: Summary): number =>
  decide_by === null ? Number.POSITIVE_INFINITY : Date.parse(decide_by);
const decidedOf = ({ decided_at, requested_at }: Summary): string => decided_at ?? requested_at;
const IS_BELOW = {
  oldest: (row: Summary, last: Summary) => row.requested_at >= last.requested_at,
  newest: (row: Summary, last: Summary) => row.requested_at <= last.requested_at,
  deadline: (row: Summary, last: Summary) => deadlineOf(row) >= deadlineOf(last),
  decided: (row: Summary, last: Summary) => decidedOf(row) <= decidedOf(last),
} as const;

/** Whoever shows it gives it a React key of its search. */
export function useInbox(search: Search) {
  const asked = askedOf(search);
  const list = useLongList({
    key: listKey(asked),
    fetch: (cursor) => listPage(asked, cursor),
    idOf,
    isBelow: IS_BELOW[asked.order ?? "oldest"],
  });
  return { ...list, items: useLeaving(list.items) };
}

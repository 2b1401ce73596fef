/** The rows of the inbox, live: more as one goes down, and what leaves is seen leaving. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import { listQuery, type Summary } from "../../api/approvals.ts";
import { askedOf, type Search } from "./inbox-search.ts";
import { type Item, missingFrom, mixed } from "./leaving.ts";

const SEEN_LEAVING_MS = 5_000;
/** After a pause in which much happened, nobody wants to see all of it leave. */
const MOST_LEAVING = 30;
const NOBODY: ReadonlySet<string> = new Set();

export type Row = Item<Summary>;

/** What was shown last, and what of it is leaving; begun anew with another search. */
function useLeaving(rows: readonly Summary[], key: string): readonly Row[] {
  const shown = useRef<{ readonly key: string; readonly items: readonly Row[] }>({ key, items: [] });
  const [gone, setGone] = useState(NOBODY);
  const before = shown.current.key === key ? shown.current.items : [];
  const missing = missingFrom(rows, before);
  const leaving = missing.length > MOST_LEAVING ? NOBODY : new Set([...gone, ...missing]);
  const items = mixed(rows, before, leaving);
  const news = missing.join(" ");
  useEffect(() => {
    shown.current = { key, items };
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

export function useInbox(search: Search) {
  const asked = askedOf(search);
  const list = useInfiniteQuery(listQuery(asked));
  const rows = useMemo(() => list.data?.pages.flatMap(({ approvals }) => approvals) ?? [], [list.data]);
  const items = useLeaving(rows, JSON.stringify(asked));
  return { ...list, items, isFirst: list.data === undefined };
}

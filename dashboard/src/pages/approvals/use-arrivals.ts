/**
 * What came since one began to look, and was not in sight yet.
 *
 * O1. What stands in the list is told once it is seen not to be in sight. What does not is told where it may stand below the live
 *     page; elsewhere that page's answer is still on its way.
 */
import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useState } from "react";
import { fewQuery, type Summary } from "../../api/approvals.ts";
import { askedOf, type Search } from "./inbox-search.ts";
import type { Row } from "./use-inbox.ts";

export const MOST_TOLD = 20;
/** Until what has come is drawn: what is in sight then is not told. */
const DRAWN_MS = 50;

type Known = { readonly ids: ReadonlySet<string>; readonly since: string };
/** `isPart`: there is more than its live page. */
type Listed = { readonly items: readonly Row[]; readonly isPart: boolean };
const idOf = ({ request_id }: Summary): string => request_id;

export function useArrivals(search: Search, { items, isPart }: Listed) {
  const asked = { ...askedOf(search), order: "newest" } as const;
  const { data } = useQuery({ ...fewQuery(asked, MOST_TOLD + 1), enabled: search.tab !== "decided" });
  const rows = data?.approvals;
  const [known, setKnown] = useState<Known | null>(null);
  const [told, setTold] = useState(0);
  useEffect(() => {
    if (rows === undefined) return;
    setKnown((now) => now ?? { ids: new Set(rows.map(idOf)), since: rows[0]?.requested_at ?? "" });
  }, [rows]);
  const mayBeBelow = isPart && search.order !== "newest";
  const isNew = (row: Summary): boolean =>
    known !== null &&
    row.requested_at >= known.since &&
    !known.ids.has(idOf(row)) &&
    (mayBeBelow || items.some(({ id }) => id === idOf(row)));
  const count = rows?.filter(isNew).length ?? 0;
  useEffect(() => {
    const timer = window.setTimeout(() => setTold(count), count === 0 ? 0 : DRAWN_MS);
    return () => window.clearTimeout(timer);
  }, [count]);
  const onSight = useCallback((ids: readonly string[]) => {
    setKnown((now) => {
      const others = now === null ? [] : ids.filter((id) => !now.ids.has(id));
      return now === null || others.length === 0 ? now : { ...now, ids: new Set([...now.ids, ...others]) };
    });
  }, []);
  return { told, onSight };
}

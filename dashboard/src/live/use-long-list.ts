/**
 * A list of any length: its first page is live; what lies below is asked for when somebody comes there, and asked anew now and
 * then. Whoever shows it gives it a React key of its filters, so that another list begins at the top.
 */
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useState } from "react";
import { mergedPages, type Ways } from "./merged-pages.ts";
import type { Subject } from "./touches.ts";

export type ListPage<Item> = { readonly items: readonly Item[]; readonly next: string | null };

type Asked<Item> = Ways<Item> & {
  readonly key: readonly [Subject, ...unknown[]];
  readonly fetch: (cursor: string | undefined) => Promise<ListPage<Item>>;
};

const BELOW_MS = 20_000;
const FEW_PAGES = 5;

/** Where what lies below a list is kept: no subject of the live stream, so that a hundred pages are not asked for at once. */
export const belowKey = (key: readonly unknown[]): readonly unknown[] => ["below", ...key];

export function useLongList<Item>({ key, fetch, idOf, isBelow }: Asked<Item>) {
  const queries = useQueryClient();
  // Whoever comes back finds as much of it as there was.
  const [isDeep, setDeep] = useState(() => queries.getQueryData(belowKey(key)) !== undefined);
  const head = useQuery({ queryKey: key, queryFn: () => fetch(undefined) });
  const below = useInfiniteQuery({
    queryKey: belowKey(key),
    queryFn: ({ pageParam }) => fetch(pageParam === "" ? undefined : pageParam),
    initialPageParam: "",
    getNextPageParam: ({ next }: ListPage<Item>) => next ?? undefined,
    enabled: isDeep,
    // The more there is, the more seldom.
    refetchInterval: ({ state }) => BELOW_MS * Math.ceil((state.data?.pages.length ?? 1) / FEW_PAGES),
    refetchOnWindowFocus: false,
  });
  const pages = below.data?.pages;
  const items = useMemo(() => {
    const ways = { idOf, ...(isBelow === undefined ? {} : { isBelow }) };
    const rest = head.data?.next === null ? [] : (pages ?? []).flatMap((page) => page.items);
    return mergedPages(head.data?.items ?? [], rest, ways);
  }, [head.data, pages, idOf, isBelow]);
  const hasMore = isDeep ? below.hasNextPage || below.isPending : (head.data?.next ?? null) !== null;
  const { hasNextPage, isFetching, fetchNextPage } = below;
  const more = useCallback(() => {
    if (!isDeep) setDeep(true);
    else if (hasNextPage && !isFetching) void fetchNextPage();
  }, [isDeep, hasNextPage, isFetching, fetchNextPage]);
  // A page of what was searched for may be empty and not the last one.
  const isFurther = head.isSuccess && items.length === 0 && hasMore && below.error === null;
  useEffect(() => {
    if (isFurther) more();
  }, [isFurther, more]);
  const isLooking = head.isPending || isFurther;
  return { items, hasMore, more, head, isLooking, failed: head.error ?? below.error };
}

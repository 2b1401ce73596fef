/**
 * A list of any length: its first page is live; what lies below is asked for when somebody comes there, and asked anew now and
 * then. Whoever shows it gives it a React key of its filters, so that another list begins at the top.
 */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useState } from "react";
import { mergedPages } from "./merged-pages.ts";
import type { Subject } from "./touches.ts";

export type ListPage<Item> = { readonly items: readonly Item[]; readonly next: string | null };

type Asked<Item> = {
  readonly key: readonly [Subject, ...unknown[]];
  readonly fetch: (cursor: string | undefined) => Promise<ListPage<Item>>;
  readonly idOf: (item: Item) => string;
};

const BELOW_MS = 20_000;
const FEW_PAGES = 5;

export function useLongList<Item>({ key, fetch, idOf }: Asked<Item>) {
  const [isDeep, setDeep] = useState(false);
  const head = useQuery({ queryKey: key, queryFn: () => fetch(undefined) });
  const below = useInfiniteQuery({
    // Not a subject of the live stream: a hundred pages are not asked for four times a second.
    queryKey: ["below", ...key],
    queryFn: ({ pageParam }) => fetch(pageParam === "" ? undefined : pageParam),
    initialPageParam: "",
    getNextPageParam: ({ next }: ListPage<Item>) => next ?? undefined,
    enabled: isDeep,
    // The more there is, the more seldom.
    refetchInterval: ({ state }) => BELOW_MS * Math.ceil((state.data?.pages.length ?? 1) / FEW_PAGES),
    refetchOnWindowFocus: false,
  });
  const pages = below.data?.pages;
  const items = useMemo(
    () =>
      mergedPages(
        head.data?.items ?? [],
        (pages ?? []).flatMap((page) => page.items),
        idOf,
      ),
    [head.data, pages, idOf],
  );
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

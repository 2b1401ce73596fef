/**
 * A list of any length: its first page is live; what lies below is asked for when somebody comes there, and asked anew now and
 * then. Whoever shows it gives it a React key of its filters, so that another list begins at the top.
 */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { mergedPages } from "./merged-pages.ts";
import type { Subject } from "./touches.ts";

export type ListPage<Item> = { readonly items: readonly Item[]; readonly next: string | null };

type Asked<Item> = {
  readonly key: readonly [Subject, ...unknown[]];
  readonly fetch: (cursor: string | undefined) => Promise<ListPage<Item>>;
  readonly idOf: (item: Item) => string;
};

const BELOW_MS = 20_000;

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
    refetchInterval: BELOW_MS,
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
  const more = () => {
    if (!isDeep) setDeep(true);
    else if (below.hasNextPage && !below.isFetching) void below.fetchNextPage();
  };
  return { items, hasMore, more, head, failed: head.error ?? below.error };
}

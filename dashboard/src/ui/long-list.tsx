/** A list of which only what is in sight is in the page, and that asks for more when its end comes near. */
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";

type Props<Item> = {
  readonly label: string;
  readonly items: readonly Item[];
  readonly idOf: (item: Item) => string;
  readonly row: (item: Item) => ReactNode;
  /** About how tall a row is, in pixels. */
  readonly height: number;
  readonly hasMore: boolean;
  readonly onMore: () => void;
};

const AHEAD = 12;

export function LongList<Item>({ label, items, idOf, row, height, hasMore, onMore }: Props<Item>) {
  const place = useRef<HTMLUListElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => setTop(place.current?.offsetTop ?? 0), []);
  const virtual = useWindowVirtualizer({
    count: items.length,
    estimateSize: () => height,
    overscan: AHEAD,
    scrollMargin: top,
    getItemKey: (index) => {
      const item = items[index];
      return item === undefined ? index : idOf(item);
    },
  });
  const shown = virtual.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  const isNear = last >= items.length - AHEAD;
  useEffect(() => {
    if (hasMore && isNear) onMore();
  }, [hasMore, isNear, onMore]);
  return (
    <ul ref={place} aria-label={label} className="relative" style={{ height: virtual.getTotalSize() }}>
      {shown.map(({ index, key, start }) => {
        const item = items[index];
        return item === undefined ? null : (
          <li
            key={key}
            ref={virtual.measureElement}
            data-index={index}
            aria-setsize={hasMore ? -1 : items.length}
            aria-posinset={index + 1}
            className="absolute inset-x-0 top-0"
            style={{ transform: `translateY(${start - top}px)` }}
          >
            {row(item)}
          </li>
        );
      })}
    </ul>
  );
}

/** The rows, however many: only those in sight are there. Nothing jumps when others come or go. */
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore } from "react";
import { several } from "../../format/amounts.ts";
import { InboxRow } from "./inbox-row.tsx";
import type { Row } from "./use-inbox.ts";
import type { RowCursor, Selection } from "./use-row-cursor.ts";

const WIDE = window.matchMedia("(min-width: 48rem)");
const HEIGHTS = { wide: 68, phone: 124 };
const AHEAD = 30;

function useRowHeight(): number {
  const isWide = useSyncExternalStore(
    (listener) => {
      WIDE.addEventListener("change", listener);
      return () => WIDE.removeEventListener("change", listener);
    },
    () => WIDE.matches,
  );
  return isWide ? HEIGHTS.wide : HEIGHTS.phone;
}

/** Whoever reads in the middle of the list goes on reading there, whatever happens above. */
function useStillness(
  items: readonly Row[],
  height: number,
  place: { readonly current: HTMLElement | null },
): void {
  const before = useRef<readonly Row[]>(items);
  useLayoutEffect(() => {
    const old = before.current;
    before.current = items;
    const top = place.current?.getBoundingClientRect().top ?? 0;
    if (old === items || top >= 0) return;
    const first = Math.floor(-top / height);
    const anchor = old.slice(first).find(({ id }) => items.some((item) => item.id === id));
    if (anchor === undefined) return;
    const moved = items.findIndex(({ id }) => id === anchor.id) - old.indexOf(anchor);
    if (moved !== 0) window.scrollBy(0, moved * height);
  }, [items, height, place]);
}

type Props = {
  readonly items: readonly Row[];
  readonly canSelect: boolean;
  readonly cursor: Pick<RowCursor, "at" | "setAt">;
  readonly selection: Selection;
  readonly hasMore: boolean;
  readonly onMore: () => void;
  /** Told how to bring a row into sight. */
  readonly onReady: (reveal: (index: number) => void) => void;
  /** Told what is in sight. */
  readonly onSight: (ids: readonly string[]) => void;
};

type RowsProps = Omit<Props, "canSelect" | "cursor" | "selection">;

function useRows({ items, hasMore, onMore, onReady, onSight }: RowsProps) {
  const place = useRef<HTMLUListElement>(null);
  const height = useRowHeight();
  const [margin, setMargin] = useState(0);
  useLayoutEffect(() => setMargin(place.current?.offsetTop ?? 0), []);
  const list = useWindowVirtualizer({
    count: items.length,
    estimateSize: () => height,
    getItemKey: (index) => items[index]?.id ?? index,
    overscan: 8,
    scrollMargin: margin,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: with another height all of it is measured anew.
  useEffect(() => list.measure(), [list, height]);
  useStillness(items, height, place);
  const reveal = useCallback(
    (index: number) => {
      list.scrollToIndex(index, { align: "auto" });
      const focus = () =>
        place.current
          ?.querySelector<HTMLElement>(`[data-index="${index}"] a`)
          ?.focus({ preventScroll: true });
      // A row that was out of sight is there only after the next frame.
      window.requestAnimationFrame(() => window.requestAnimationFrame(focus));
    },
    [list],
  );
  useEffect(() => onReady(reveal), [onReady, reveal]);
  const rows = list.getVirtualItems();
  const { startIndex = 0, endIndex = -1 } = list.range ?? {};
  const lowerEdge = (list.scrollOffset ?? 0) + (list.scrollRect?.height ?? 0);
  // Of the last one only the edge may be there, behind what stays at the foot of a phone.
  const isWhole = margin + (endIndex + 1) * height <= lowerEdge;
  const seenUpTo = endIndex + (isWhole ? 1 : 0);
  useEffect(() => {
    onSight(items.slice(startIndex, seenUpTo).map(({ id }) => id));
  }, [items, startIndex, seenUpTo, onSight]);
  const last = rows.at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasMore && last >= items.length - AHEAD) onMore();
  }, [hasMore, last, items.length, onMore]);
  return { place, rows, margin, height: list.getTotalSize() };
}

export function InboxList(props: Props) {
  const { items, canSelect, cursor, selection, hasMore } = props;
  const { place, rows, margin, height } = useRows(props);
  return (
    <>
      <ul ref={place} aria-label={several(items.length, "approval")} className="relative" style={{ height }}>
        {rows.map(({ index, start, key, size }) => {
          const item = items[index];
          return item === undefined ? null : (
            <li
              key={key}
              data-index={index}
              aria-posinset={index + 1}
              aria-setsize={hasMore ? -1 : items.length}
              className="absolute inset-x-0 top-0"
              style={{ height: size, transform: `translateY(${start - margin}px)` }}
            >
              <InboxRow
                item={item}
                isAt={cursor.at === item.id}
                isSelected={selection.ids.has(item.id)}
                canSelect={canSelect}
                onSelect={selection.toggle}
                onFocus={cursor.setAt}
              />
            </li>
          );
        })}
      </ul>
      {hasMore ? <p className="p-3 text-center text-small text-faint">More is on its way…</p> : null}
    </>
  );
}

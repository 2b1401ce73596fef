/** What stands around every chart: its name, its legend, the figures of the day that is pointed at, and all of them as a table. */
import { type KeyboardEvent, type PointerEvent, type ReactNode, useState } from "react";
import type { Day } from "../../api/activity.ts";
import { Panel } from "../../ui/panel.tsx";
import { longDay } from "./series.ts";
import { useWidth } from "./use-width.ts";

export type Plot = {
  readonly width: number;
  readonly height: number;
  /** The day that is pointed at. */
  readonly active: number | null;
};

type Props = {
  readonly title: string;
  readonly days: readonly Day[];
  readonly legend: ReactNode;
  readonly plot: (plot: Plot) => ReactNode;
  /** In words, of one day or of all. */
  readonly tell: (days: readonly Day[]) => string;
  readonly table: ReactNode;
  readonly note?: ReactNode;
};

export const HEIGHT = 220;
export const MARGIN = { top: 18, right: 18, bottom: 24, left: 40 } as const;

function moved(key: string, at: number | null, last: number): number | null | undefined {
  const from = at ?? last + 1;
  const to: { readonly [key: string]: number } = {
    ArrowLeft: Math.max(0, from - 1),
    ArrowRight: Math.min(last, from + 1),
    Home: 0,
    End: last,
  };
  return key === "Escape" ? null : to[key];
}

function AsTable({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <details className="text-small">
      <summary className="cursor-pointer font-semibold text-soft">As a table</summary>
      <section
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard.
        tabIndex={0}
        aria-label={`${title}, as a table`}
        className="mt-2 max-h-80 overflow-auto"
      >
        {children}
      </section>
    </details>
  );
}

export function ChartFrame({ title, days, legend, plot, tell, table, note }: Props) {
  const [place, width] = useWidth();
  const [active, setActive] = useState<number | null>(null);
  const day = active === null ? undefined : days[active];
  const told =
    day === undefined ? `all ${days.length} days: ${tell(days)}` : `${longDay(day.day)}: ${tell([day])}`;
  const point = ({ clientX, currentTarget }: PointerEvent<HTMLDivElement>) => {
    const { left } = currentTarget.getBoundingClientRect();
    const inner = Math.max(1, width - MARGIN.left - MARGIN.right);
    const at = Math.floor(((clientX - left - MARGIN.left) / inner) * days.length);
    setActive(Math.min(days.length - 1, Math.max(0, at)));
  };
  // A finger that is lifted leaves too: what it pointed at is what somebody wants to read.
  const leave = ({ pointerType }: PointerEvent) => {
    if (pointerType === "mouse") setActive(null);
  };
  const press = (event: KeyboardEvent) => {
    const next = moved(event.key, active, days.length - 1);
    if (next === undefined) return;
    event.preventDefault();
    setActive(next);
  };
  return (
    <Panel title={title} aside={note}>
      <div className="flex flex-col gap-3">
        {legend}
        <div
          ref={place}
          role="slider"
          tabIndex={0}
          aria-label={`${title}, by day`}
          aria-valuemin={0}
          aria-valuemax={days.length - 1}
          aria-valuenow={active ?? days.length - 1}
          aria-valuetext={told}
          onKeyDown={press}
          onPointerMove={point}
          onPointerDown={point}
          onPointerLeave={leave}
          onBlur={() => setActive(null)}
          className="cursor-crosshair touch-pan-y"
          style={{ height: HEIGHT }}
        >
          {width === 0 ? null : plot({ width, height: HEIGHT, active })}
        </div>
        <p className="figures min-h-10 text-small text-soft" aria-hidden="true">
          {told}
        </p>
        <AsTable title={title}>{table}</AsTable>
      </div>
    </Panel>
  );
}

import { useId } from "react";
import { ChartFrame } from "./chart-frame.tsx";
import { type Bars, DayBars } from "./day-bars.tsx";
import { DayTable } from "./day-table.tsx";
import { Legend } from "./legend.tsx";
import { figuresText } from "./series.ts";

type Props = Bars & { readonly title: string; readonly note?: string };

/** A chart of bars by day, with its legend, its figures and its table. */
export function StackedDays({ title, note, ...bars }: Props) {
  const { days, series, mark } = bars;
  const prefix = useId().replaceAll(/[^a-zA-Z0-9]/g, "");
  const all = mark === undefined ? series : [...series, mark];
  return (
    <ChartFrame
      title={title}
      days={days}
      note={note}
      legend={<Legend prefix={prefix} series={all} days={days} />}
      tell={(of) => figuresText(all, of)}
      plot={(plot) => <DayBars {...bars} {...plot} prefix={prefix} />}
      table={<DayTable caption={title} days={days} series={all} />}
    />
  );
}

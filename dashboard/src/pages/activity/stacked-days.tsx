/** A bar a day, its parts one above the other. */
import { scaleBand, scaleLinear } from "@visx/scale";
import { BarStack } from "@visx/shape";
import { useId } from "react";
import type { Day } from "../../api/activity.ts";
import { DayLabels, Rows } from "./axes.tsx";
import { ChartFrame, MARGIN, type Plot } from "./chart-frame.tsx";
import { DayTable } from "./day-table.tsx";
import { Legend } from "./legend.tsx";
import { figuresText, type Series } from "./series.ts";
import { colourOf, fillOf, Textures } from "./textures.tsx";

type Props = {
  readonly title: string;
  readonly days: readonly Day[];
  readonly series: readonly Series[];
  /** Drawn as a mark across the bar: it is no part of the stack. */
  readonly mark?: Series;
  /** Named again above its bar, so that nobody overlooks it. */
  readonly loud?: Series;
  readonly note?: string;
};

type Bars = Props & Plot & { readonly prefix: string };

const heightOf = (series: readonly Series[], day: Day): number =>
  series.reduce((sum, { of }) => sum + of(day), 0);

function scalesOf({ days, series, width, height }: Bars) {
  const names = days.map(({ day }) => day);
  const range: [number, number] = [MARGIN.left, width - MARGIN.right];
  const x = scaleBand<string>({ domain: names, range, padding: 0.25 });
  const most = Math.max(4, ...days.map((day) => heightOf(series, day)));
  const y = scaleLinear<number>({
    domain: [0, most],
    range: [height - MARGIN.bottom, MARGIN.top],
    nice: true,
  });
  return { names, x, y };
}

function Highlight({ days, active, width, height }: Bars) {
  if (active === null) return null;
  const step = (width - MARGIN.left - MARGIN.right) / days.length;
  return (
    <rect
      x={MARGIN.left + active * step}
      y={MARGIN.top - 12}
      width={step}
      height={height - MARGIN.bottom - MARGIN.top + 12}
      rx="3"
      className="fill-sunken"
    />
  );
}

function Bars(props: Bars) {
  const { days, series, width, height, prefix, mark, loud } = props;
  const { names, x, y } = scalesOf(props);
  const ticks = y.ticks(4).filter(Number.isInteger);
  const middle = (day: string) => (x(day) ?? 0) + x.bandwidth() / 2;
  const looks = new Map(series.map((one) => [one.id, one]));
  return (
    <svg width={width} height={height} aria-hidden="true">
      <Textures prefix={prefix} series={series} />
      <Highlight {...props} />
      <Rows
        ticks={ticks.map((at) => ({ at: y(at), text: String(at) }))}
        left={MARGIN.left}
        right={width - MARGIN.right}
      />
      <BarStack<Day, string>
        data={[...days]}
        keys={series.map(({ id }) => id)}
        value={(day, id) => looks.get(id)?.of(day) ?? 0}
        x={({ day }) => day}
        xScale={x}
        yScale={y}
        color={() => "transparent"}
      >
        {(stacks) =>
          stacks.flatMap(({ bars }) =>
            bars.map((bar) => {
              const look = looks.get(bar.key);
              if (look === undefined || bar.height <= 0) return null;
              return (
                <rect
                  key={`${bar.key} ${bar.index}`}
                  x={bar.x + 0.5}
                  y={bar.y + 0.5}
                  width={Math.max(1, bar.width - 1)}
                  height={Math.max(1, bar.height - 1)}
                  rx="1.500"
                  fill={fillOf(prefix, look)}
                  stroke={look.texture === "solid" ? "none" : colourOf(look)}
                />
              );
            }),
          )
        }
      </BarStack>
      {mark === undefined
        ? null
        : days.map((day) =>
            mark.of(day) === 0 ? null : (
              <line
                key={day.day}
                x1={(x(day.day) ?? 0) - 2}
                x2={(x(day.day) ?? 0) + x.bandwidth() + 2}
                y1={y(mark.of(day))}
                y2={y(mark.of(day))}
                stroke={colourOf(mark)}
                strokeWidth="3"
              />
            ),
          )}
      {loud === undefined
        ? null
        : days.map((day) =>
            loud.of(day) === 0 ? null : (
              <text
                key={day.day}
                x={middle(day.day)}
                y={y(heightOf(series, day)) - 5}
                textAnchor="middle"
                className="fill-doubt text-tiny font-semibold"
              >
                ?
              </text>
            ),
          )}
      <DayLabels days={names} width={width - MARGIN.left - MARGIN.right} y={height - 6} x={middle} />
    </svg>
  );
}

export function StackedDays(props: Props) {
  const { title, days, series, mark, note } = props;
  const prefix = useId().replaceAll(/[^a-zA-Z0-9]/g, "");
  const all = mark === undefined ? series : [...series, mark];
  return (
    <ChartFrame
      title={title}
      days={days}
      note={note}
      legend={<Legend prefix={prefix} series={all} days={days} />}
      tell={(of) => figuresText(all, of)}
      plot={(plot) => <Bars {...props} {...plot} prefix={prefix} />}
      table={<DayTable caption={title} days={days} series={all} />}
    />
  );
}

/** The drawing of a chart of bars: a bar a day, its parts one above the other. */
import { scaleBand, scaleLinear } from "@visx/scale";
import { BarStack } from "@visx/shape";
import type { Day } from "../../api/activity.ts";
import { DayLabels, Rows } from "./axes.tsx";
import { MARGIN, type Plot } from "./chart-frame.tsx";
import type { Series } from "./series.ts";
import { colourOf, fillOf, Textures } from "./textures.tsx";

export type Bars = {
  readonly days: readonly Day[];
  readonly series: readonly Series[];
  /** Drawn as a mark across the bar: it is no part of the stack. */
  readonly mark?: Series;
  /** Named again above its bar, so that nobody overlooks it. */
  readonly loud?: Series;
};
type Drawn = Bars & Plot & { readonly prefix: string };

const heightOf = (series: readonly Series[], day: Day): number =>
  series.reduce((sum, { of }) => sum + of(day), 0);

function scalesOf({ days, series, width, height }: Drawn) {
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
type Scaled = Drawn & { readonly scales: ReturnType<typeof scalesOf> };

function Highlight({ days, active, width, height }: Drawn) {
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

type Bar = { readonly [side in "x" | "y" | "width" | "height"]: number };

function Part({ bar, look, prefix }: { readonly bar: Bar; readonly look: Series; readonly prefix: string }) {
  if (bar.height <= 0) return null;
  return (
    <rect
      x={bar.x + 0.5}
      y={bar.y + 0.5}
      width={Math.max(1, bar.width - 1)}
      height={Math.max(1, bar.height - 1)}
      rx="1.500"
      fill={fillOf(prefix, look)}
      stroke={look.texture === "solid" ? "none" : colourOf(look)}
    />
  );
}

function Stack({ days, series, prefix, scales: { x, y } }: Scaled) {
  const looks = new Map(series.map((one) => [one.id, one]));
  return (
    <BarStack<Day, string>
      data={[...days]}
      keys={[...looks.keys()]}
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
            if (look === undefined) return null;
            return <Part key={`${bar.key} ${bar.index}`} bar={bar} look={look} prefix={prefix} />;
          }),
        )
      }
    </BarStack>
  );
}

function Marks({ days, mark, scales: { x, y } }: Scaled) {
  if (mark === undefined) return null;
  return days
    .filter((day) => mark.of(day) > 0)
    .map((day) => (
      <line
        key={day.day}
        x1={(x(day.day) ?? 0) - 2}
        x2={(x(day.day) ?? 0) + x.bandwidth() + 2}
        y1={y(mark.of(day))}
        y2={y(mark.of(day))}
        stroke={colourOf(mark)}
        strokeWidth="3"
      />
    ));
}

function Louds({ days, series, loud, scales: { x, y } }: Scaled) {
  if (loud === undefined) return null;
  return days
    .filter((day) => loud.of(day) > 0)
    .map((day) => (
      <text
        key={day.day}
        x={(x(day.day) ?? 0) + x.bandwidth() / 2}
        y={y(heightOf(series, day)) - 5}
        textAnchor="middle"
        className="fill-doubt text-tiny font-semibold"
      >
        ?
      </text>
    ));
}

export function DayBars(props: Drawn) {
  const { series, width, height, prefix } = props;
  const scales = scalesOf(props);
  const { names, x, y } = scales;
  const ticks = y.ticks(4).filter(Number.isInteger);
  return (
    <svg width={width} height={height} aria-hidden="true">
      <Textures prefix={prefix} series={series} />
      <Highlight {...props} />
      <Rows
        ticks={ticks.map((at) => ({ at: y(at), text: String(at) }))}
        left={MARGIN.left}
        right={width - MARGIN.right}
      />
      <Stack {...props} scales={scales} />
      <Marks {...props} scales={scales} />
      <Louds {...props} scales={scales} />
      <DayLabels
        days={names}
        width={width - MARGIN.left - MARGIN.right}
        y={height - 6}
        x={(day) => (x(day) ?? 0) + x.bandwidth() / 2}
      />
    </svg>
  );
}

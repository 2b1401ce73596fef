/** How long a question waits for people: half of them, and nine in ten, on a scale of powers. */
import { scaleLog, scalePoint } from "@visx/scale";
import { Area, LinePath } from "@visx/shape";
import type { Day } from "../../api/activity.ts";
import { spanText } from "../../format/times.ts";
import { DayLabels, Rows } from "./axes.tsx";
import { ChartFrame, MARGIN, type Plot } from "./chart-frame.tsx";
import { longDay } from "./series.ts";
import { marksFor, type Waited, waitsOf, waitsText } from "./waits.ts";

const LEFT = 56;

type Drawn = Plot & { readonly days: readonly Day[]; readonly waits: readonly Waited[] };

function scalesOf({ days, waits, width, height }: Drawn) {
  const names = days.map(({ day }) => day);
  const x = scalePoint<string>({ domain: names, range: [LEFT, width - MARGIN.right], padding: 0.5 });
  const marks = marksFor(waits);
  const domain = [marks[0] ?? 1, marks.at(-1) ?? 10];
  const y = scaleLog<number>({ domain, range: [height - MARGIN.bottom, MARGIN.top], clamp: true });
  return { names, x, y, marks };
}

function Points({
  waits,
  x,
  half,
  most,
}: {
  waits: readonly Waited[];
  x: (one: Waited) => number;
  half: (one: Waited) => number;
  most: (one: Waited) => number;
}) {
  return waits.map((one) => (
    <g key={one.day}>
      <circle cx={x(one)} cy={half(one)} r="2.500" className="fill-ink" />
      <rect x={x(one) - 2} y={most(one) - 2} width="4" height="4" className="fill-hold" />
    </g>
  ));
}

function Drawing(props: Drawn) {
  const { waits, width, height, active, days } = props;
  const { names, x, y, marks } = scalesOf(props);
  const at = ({ day }: Waited) => x(day) ?? 0;
  const half = (one: Waited) => y(one.half);
  const most = (one: Waited) => y(one.most);
  const ticks = marks.map((mark) => ({ at: y(mark), text: spanText(mark * 1_000) }));
  const pointed = active === null ? undefined : days[active];
  return (
    <svg width={width} height={height} aria-hidden="true">
      <Rows ticks={ticks} left={LEFT} right={width - MARGIN.right} />
      {pointed === undefined ? null : (
        <line
          x1={x(pointed.day) ?? 0}
          x2={x(pointed.day) ?? 0}
          y1={MARGIN.top}
          y2={height - MARGIN.bottom}
          className="stroke-edge"
        />
      )}
      <Area<Waited> data={[...waits]} x={at} y0={half} y1={most} className="fill-hold-wash" />
      <LinePath<Waited>
        data={[...waits]}
        x={at}
        y={most}
        className="stroke-hold"
        strokeWidth={1.5}
        strokeDasharray="4 3"
      />
      <LinePath<Waited> data={[...waits]} x={at} y={half} className="stroke-ink" strokeWidth={2} />
      <Points waits={waits} x={at} half={half} most={most} />
      <DayLabels days={names} width={width - LEFT - MARGIN.right} y={height - 6} x={(day) => x(day) ?? 0} />
    </svg>
  );
}

function WaitLegend() {
  return (
    <ul className="flex flex-wrap gap-x-4 gap-y-1 text-small text-soft">
      <li className="flex items-center gap-1.5">
        <svg viewBox="0 0 20 8" className="h-2 w-5" aria-hidden="true">
          <path d="M0 4h20" className="stroke-ink" strokeWidth="2" />
        </svg>
        half are decided within
      </li>
      <li className="flex items-center gap-1.5">
        <svg viewBox="0 0 20 8" className="h-2 w-5" aria-hidden="true">
          <path d="M0 4h20" className="stroke-hold" strokeWidth="2" strokeDasharray="4 3" />
        </svg>
        nine in ten within
      </li>
    </ul>
  );
}

function WaitTable({ waits }: { readonly waits: readonly Waited[] }) {
  return (
    <table className="figures w-full text-left text-small">
      <caption className="sr-only">Waiting time by day</caption>
      <thead className="text-tiny text-faint">
        <tr>
          <th scope="col">Day</th>
          <th scope="col">half within</th>
          <th scope="col">nine in ten within</th>
        </tr>
      </thead>
      <tbody>
        {waits.toReversed().map(({ day, half, most }) => (
          <tr key={day} className="border-t border-line">
            <th scope="row" className="py-1 font-normal">
              {longDay(day)}
            </th>
            <td>{spanText(half * 1_000)}</td>
            <td>{spanText(most * 1_000)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function WaitingTime({ days }: { readonly days: readonly Day[] }) {
  const waits = waitsOf(days);
  return (
    <ChartFrame
      title="Waiting for people"
      days={days}
      legend={<WaitLegend />}
      tell={waitsText}
      plot={(plot) =>
        waits.length === 0 ? (
          <p className="flex h-full items-center justify-center text-small text-faint">
            Nothing was decided by people.
          </p>
        ) : (
          <Drawing {...plot} days={days} waits={waits} />
        )
      }
      table={<WaitTable waits={waits} />}
    />
  );
}

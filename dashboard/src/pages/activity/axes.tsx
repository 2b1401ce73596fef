import { labelledDays, shortDay } from "./series.ts";

type Tick = { readonly at: number; readonly text: string };

const DAY_WIDTH = 56;

/** Lines across, with what each stands for at the left. */
export function Rows({
  ticks,
  left,
  right,
}: {
  readonly ticks: readonly Tick[];
  readonly left: number;
  readonly right: number;
}) {
  return ticks.map(({ at, text }) => (
    <g key={text}>
      <line x1={left} x2={right} y1={at} y2={at} className="stroke-line" />
      <text x={left - 8} y={at + 4} textAnchor="end" className="fill-faint text-tiny">
        {text}
      </text>
    </g>
  ));
}

type Days = {
  readonly days: readonly string[];
  readonly width: number;
  readonly y: number;
  readonly x: (day: string) => number;
};

export function DayLabels({ days, width, y, x }: Days) {
  return labelledDays(days, Math.floor(width / DAY_WIDTH)).map((day) => (
    <text key={day} x={x(day)} y={y} textAnchor="middle" className="fill-faint text-tiny">
      {shortDay(day)}
    </text>
  ));
}

/** How many verdicts would be others, and which: before on the left, after on the right. */
import { countText } from "../../format/amounts.ts";
import { statusText, TEXT } from "../../ui/tone.ts";
import { type Band, type FlowEnd, flowOf } from "./flow.ts";
import type { Report } from "./policy-queries.ts";
import { verdictTone } from "./trial-figures.ts";

const LEAST_HEIGHT = 88;
const MORE_HEIGHT = 56;
const WIDTH = 100;

function bandPath({ fromTop, toTop, height }: Band, whole: number): string {
  const [left, right, thick] = [fromTop * whole, toTop * whole, Math.max(1, height * whole)];
  const middle = WIDTH / 2;
  return [
    `M0 ${left}C${middle} ${left} ${middle} ${right} ${WIDTH} ${right}`,
    `V${right + thick}C${middle} ${right + thick} ${middle} ${left + thick} 0 ${left + thick}Z`,
  ].join("");
}

type EndsProps = {
  readonly ends: readonly FlowEnd[];
  readonly isRight: boolean;
  readonly whole: number;
};

function Ends({ ends, isRight, whole }: EndsProps) {
  return (
    <div className="relative w-24 shrink-0 text-small" style={{ height: whole }}>
      {ends.map(({ verdict, count, top, height }) => (
        <p
          key={verdict}
          className={`absolute inset-x-0 flex -translate-y-1/2 flex-col leading-tight ${isRight ? "pl-2" : "items-end pr-2"}`}
          style={{ top: `${(top + height / 2) * 100}%` }}
        >
          <span className={`font-semibold ${TEXT[verdictTone(verdict)]}`}>{statusText(verdict)}</span>
          <span className="figures text-tiny text-faint">{countText(count)}</span>
        </p>
      ))}
    </div>
  );
}

/** The same figures stand in the table beside it: the picture is only looked at. */
export function VerdictFlow({ transitions }: Pick<Report, "transitions">) {
  const { before, after, bands } = flowOf(transitions);
  const whole = LEAST_HEIGHT + MORE_HEIGHT * (Math.max(before.length, after.length) - 1);
  return (
    <div aria-hidden="true" className="flex w-full py-4">
      <Ends ends={before} isRight={false} whole={whole} />
      <svg
        viewBox={`0 0 ${WIDTH} ${whole}`}
        preserveAspectRatio="none"
        className="min-w-0 grow"
        style={{ height: whole }}
        aria-hidden="true"
        focusable="false"
      >
        {bands.map((band) => (
          <path
            key={`${band.from} ${band.to}`}
            d={bandPath(band, whole)}
            className={TEXT[verdictTone(band.to)]}
            fill="currentColor"
            fillOpacity="0.45"
          />
        ))}
      </svg>
      <Ends ends={after} isRight whole={whole} />
    </div>
  );
}

/** How each series is filled: a colour and a texture. */
import { PatternCircles, PatternLines } from "@visx/pattern";
import type { Tone } from "../../ui/tone.ts";
import type { Series } from "./series.ts";

const COLOURS: { readonly [tone in Tone]: string } = {
  plain: "var(--edge)",
  hold: "var(--hold)",
  go: "var(--go)",
  stop: "var(--stop)",
  doubt: "var(--doubt)",
  note: "var(--note)",
};
const WASHES: { readonly [tone in Tone]: string } = {
  plain: "var(--sunken)",
  hold: "var(--hold-wash)",
  go: "var(--go-wash)",
  stop: "var(--stop-wash)",
  doubt: "var(--doubt-wash)",
  note: "var(--note-wash)",
};

export const colourOf = ({ tone }: Series): string => COLOURS[tone];

const idOf = (prefix: string, { id }: Series): string => `${prefix}-${id}`;

export function fillOf(prefix: string, series: Series): string {
  if (series.texture === "solid") return colourOf(series);
  return series.texture === "hollow" ? WASHES[series.tone] : `url(#${idOf(prefix, series)})`;
}

function Texture({ prefix, series }: { readonly prefix: string; readonly series: Series }) {
  const common = { id: idOf(prefix, series), width: 6, height: 6, background: WASHES[series.tone] };
  if (series.texture === "dots")
    return <PatternCircles {...common} radius={1.5} fill={colourOf(series)} complement />;
  return (
    <PatternLines
      {...common}
      stroke={colourOf(series)}
      strokeWidth={1.75}
      orientation={series.texture === "cross" ? ["diagonal", "diagonalRightToLeft"] : ["diagonal"]}
    />
  );
}

const isPattern = ({ texture }: Series): boolean => texture !== "solid" && texture !== "hollow";

export function Textures({
  prefix,
  series,
}: {
  readonly prefix: string;
  readonly series: readonly Series[];
}) {
  return (
    <defs>
      {series.filter(isPattern).map((one) => (
        <Texture key={one.id} prefix={prefix} series={one} />
      ))}
    </defs>
  );
}

/** The same look beside a name. */
export function Swatch({ prefix, series }: { readonly prefix: string; readonly series: Series }) {
  return (
    <svg viewBox="0 0 12 12" className="size-3 shrink-0" aria-hidden="true">
      <rect
        x="0.500"
        y="0.500"
        width="11"
        height="11"
        rx="2"
        fill={fillOf(prefix, series)}
        stroke={colourOf(series)}
      />
    </svg>
  );
}

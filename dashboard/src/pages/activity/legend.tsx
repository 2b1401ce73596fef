import type { Day } from "../../api/activity.ts";
import { countText } from "../../format/amounts.ts";
import { type Series, totalOf } from "./series.ts";
import { Swatch } from "./textures.tsx";

type Props = { readonly prefix: string; readonly series: readonly Series[]; readonly days: readonly Day[] };

/** Each series with its look and how many there were. */
export function Legend({ prefix, series, days }: Props) {
  return (
    <ul className="flex flex-wrap gap-x-4 gap-y-1 text-small">
      {series.map((one) => {
        const total = totalOf(one, days);
        const isLoud = one.id === "in_doubt" && total > 0;
        return (
          <li
            key={one.id}
            className={`flex items-center gap-1.5 ${isLoud ? "rounded-small bg-doubt-wash px-1.5 font-semibold text-doubt" : "text-soft"}`}
          >
            <Swatch prefix={prefix} series={one} />
            {one.name} <span className="figures font-semibold text-ink">{countText(total)}</span>
          </li>
        );
      })}
    </ul>
  );
}

import type { Day } from "../../api/activity.ts";
import { longDay, type Series } from "./series.ts";

type Props = { readonly caption: string; readonly days: readonly Day[]; readonly series: readonly Series[] };

/** The figures of a chart for whoever reads rather than looks. Newest first, days without anything left out. */
export function DayTable({ caption, days, series }: Props) {
  const told = days.filter((day) => series.some(({ of }) => of(day) > 0)).toReversed();
  return (
    <table className="figures w-full text-left text-small">
      <caption className="sr-only">{caption}</caption>
      <thead className="text-tiny text-faint">
        <tr>
          <th scope="col" className="py-1 pr-3 font-semibold">
            Day
          </th>
          {series.map(({ id, name }) => (
            <th key={id} scope="col" className="px-2 py-1 text-right font-semibold">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {told.map((day) => (
          <tr key={day.day} className="border-t border-line">
            <th scope="row" className="py-1 pr-3 font-normal whitespace-nowrap">
              {longDay(day.day)}
            </th>
            {series.map(({ id, of }) => (
              <td key={id} className="px-2 py-1 text-right">
                {of(day)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Like things, side by side. */
import { type ReactNode, useMemo } from "react";
import type { JsonObject } from "../../format/json.ts";
import { labelsOf } from "../../format/labels.ts";
import { FieldName } from "./field-name.tsx";
import { Rest, useMany } from "./many.tsx";

type Props = {
  readonly columns: readonly string[];
  readonly rows: readonly JsonObject[];
  readonly cell: (name: string, row: JsonObject) => ReactNode;
};

const MOST_ROWS = 12;

export function ValueTable({ columns, rows, cell }: Props) {
  const many = useMany(rows, { most: MOST_ROWS });
  const labels = useMemo(() => labelsOf(columns), [columns]);
  return (
    <section
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard.
      tabIndex={0}
      aria-label="Table"
      className="overflow-x-auto rounded-base border border-line bg-ground"
    >
      <table className="w-full text-left text-small">
        <thead>
          <tr className="border-b border-line text-faint">
            {columns.map((name) => (
              <th key={name} scope="col" className="px-3 py-1.5 font-semibold">
                <FieldName label={labels.get(name) ?? name} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {many.shown.map((row, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows of a value have no other name than their place.
            <tr key={at}>
              {columns.map((name) => (
                <td key={name} className="px-3 py-1.5 align-baseline">
                  {cell(name, row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <Rest many={many} what="rows" asJson={(rest) => rest} />
    </section>
  );
}

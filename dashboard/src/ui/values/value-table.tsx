/** Like things, side by side. */
import type { ReactNode } from "react";

import type { JsonObject } from "../../format/json.ts";
import { labelOf } from "../../format/labels.ts";
import { Strange } from "../strange.tsx";
import { useFold } from "./folds.tsx";

type Props = {
  readonly columns: readonly string[];
  readonly rows: readonly JsonObject[];
  readonly cell: (name: string, row: JsonObject) => ReactNode;
};

const MOST_ROWS = 12;

export function ValueTable({ columns, rows, cell }: Props) {
  const left = Math.max(0, rows.length - MOST_ROWS);
  const hidden = left === 0 ? 0 : JSON.stringify(rows.slice(MOST_ROWS)).length;
  const { isOpen, setOpen } = useFold(hidden);
  const shown = isOpen ? rows : rows.slice(0, MOST_ROWS);
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
                <Strange text={labelOf(name)} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {shown.map((row, at) => (
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
      {left === 0 ? null : (
        <button
          type="button"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
          className="min-h-9 w-full border-t border-line px-3 text-small font-semibold text-soft hover:text-ink"
        >
          {isOpen ? "Fold again" : `${left} rows more: show all`}
        </button>
      )}
    </section>
  );
}

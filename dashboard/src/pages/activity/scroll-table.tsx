import type { ReactNode } from "react";
import { SCROLLS } from "../../ui/scrolls.ts";

type Props = { readonly caption: string; readonly columns: readonly string[]; readonly children: ReactNode };

/** Wider than a phone: it scrolls by itself, by the keyboard too. */
export function ScrollTable({ caption, columns: [first, ...rest], children }: Props) {
  return (
    <section aria-label={`${caption}: a table`} {...SCROLLS} className="overflow-x-auto">
      <table className="figures w-full min-w-md text-small">
        <thead className="text-tiny text-faint">
          <tr>
            <th scope="col" className="px-4 py-2 text-left font-semibold sm:px-5">
              {first}
            </th>
            {rest.map((name) => (
              <th
                key={name}
                scope="col"
                className="px-2 py-2 text-right font-semibold last:pr-4 sm:last:pr-5"
              >
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="[&_td:last-child]:pr-4 sm:[&_td:last-child]:pr-5">{children}</tbody>
      </table>
    </section>
  );
}

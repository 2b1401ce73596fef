/** By tool or by agent: how much, and how it went. */
import type { Share } from "../../api/activity.ts";
import { countText } from "../../format/amounts.ts";
import { Panel } from "../../ui/panel.tsx";
import { ShareBar } from "../../ui/share-bar.tsx";
import { Strange } from "../../ui/strange.tsx";
import { ScrollTable } from "./scroll-table.tsx";

type Column = { readonly name: string; readonly of: (share: Share) => number; readonly loud?: string };

const COLUMNS: readonly Column[] = [
  { name: "asked", of: ({ asked }) => asked },
  { name: "rejected", of: ({ rejected }) => rejected, loud: "text-stop" },
  { name: "refused", of: ({ refused }) => refused, loud: "text-stop" },
  { name: "in doubt", of: ({ in_doubt }) => in_doubt, loud: "text-doubt" },
];

function Cell({ count, loud }: { readonly count: number; readonly loud: string | undefined }) {
  const look = count === 0 ? "text-faint" : `font-semibold ${loud ?? ""}`;
  return <td className={`px-2 py-2 text-right ${look}`}>{countText(count)}</td>;
}

type Props = {
  readonly title: string;
  readonly shares: readonly Share[];
  readonly nameOf?: (name: string) => string;
};

export function ShareTable({ title, shares, nameOf = (name) => name }: Props) {
  const most = Math.max(1, ...shares.map(({ actions }) => actions));
  return (
    <Panel title={title} isFlush>
      <ScrollTable caption={title} columns={["Name", "proposed", ...COLUMNS.map(({ name }) => name)]}>
        {shares.map((share) => (
          <tr key={share.name} className="border-t border-line">
            <th scope="row" className="min-w-28 px-4 py-2 text-left font-semibold sm:px-5">
              <Strange text={nameOf(share.name)} />
            </th>
            <td className="px-2 py-2">
              <span className="flex items-center justify-end gap-2">
                <ShareBar share={share.actions / most} tone="note" className="w-8 2xl:w-16" />
                <span className="min-w-8 text-right">{countText(share.actions)}</span>
              </span>
            </td>
            {COLUMNS.map(({ name, of, loud }) => (
              <Cell key={name} count={of(share)} loud={loud} />
            ))}
          </tr>
        ))}
      </ScrollTable>
    </Panel>
  );
}

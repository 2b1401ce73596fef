/** Who decides, how much and how fast. Very fast is worth a look: three seconds are not enough to read. */
import type { PersonShare } from "../../api/activity.ts";
import { nameOf } from "../../api/session.ts";
import { countText } from "../../format/amounts.ts";
import { spanText } from "../../format/times.ts";
import { Panel } from "../../ui/panel.tsx";
import { ShareBar } from "../../ui/share-bar.tsx";
import { Empty } from "../../ui/states.tsx";
import { Strange } from "../../ui/strange.tsx";
import { ScrollTable } from "./scroll-table.tsx";

const COLUMNS = ["Person", "decided", "rejected", "half within", "within 3 s"];

function PersonRow({ share, most }: { readonly share: PersonShare; readonly most: number }) {
  const { person, decided, rejected, p50_seconds: half, hasty } = share;
  return (
    <tr className="border-t border-line">
      <th scope="row" className="px-4 py-2 text-left font-semibold sm:px-5">
        <Strange text={nameOf(person)} />
      </th>
      <td className="px-2 py-2">
        <span className="flex items-center justify-end gap-2">
          <ShareBar share={decided / most} tone="go" className="w-16" />
          <span className="w-10 text-right">{countText(decided)}</span>
        </span>
      </td>
      <td className="px-2 py-2 text-right">{countText(rejected)}</td>
      <td className="px-2 py-2 text-right whitespace-nowrap">
        {half === null ? "–" : spanText(half * 1_000)}
      </td>
      <td className={`px-2 py-2 text-right ${hasty === 0 ? "text-faint" : "font-semibold text-hold"}`}>
        {countText(hasty)}
      </td>
    </tr>
  );
}

export function PeopleTable({ people }: { readonly people: readonly PersonShare[] }) {
  const most = Math.max(1, ...people.map(({ decided }) => decided));
  return (
    <Panel title="By person" isFlush>
      {people.length === 0 ? (
        <Empty icon="person" title="Nobody has decided anything in this time" />
      ) : (
        <ScrollTable caption="By person" columns={COLUMNS}>
          {people.map((share) => (
            <PersonRow key={share.person} share={share} most={most} />
          ))}
        </ScrollTable>
      )}
    </Panel>
  );
}

/** What was decided last, in a line of figures and a few rows. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { fewQuery, type Summary } from "../../api/approvals.ts";
import { useNow } from "../../live/use-now.ts";
import { Badge } from "../../ui/badge.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Strange } from "../../ui/strange.tsx";
import { When } from "../../ui/when.tsx";
import { namesText, personName, statusWord } from "../approvals/words.ts";
import { countsSince } from "./counts-since.ts";

const LOOKED_AT = 200;
const SHOWN = 6;
const HOURS = 24;
const DECIDED = { status: "decided", order: "decided" } as const;

type LineProps = { readonly rows: readonly Summary[]; readonly hasMore: boolean };

function Line({ rows, hasMore }: LineProps) {
  const now = useNow();
  const { counts, isAll } = countsSince(rows, now - HOURS * 3_600_000, hasMore);
  if (counts.length === 0) return <>Nothing in the last {HOURS} hours</>;
  return (
    <>
      Last {HOURS} hours: {counts.map(([word, count]) => `${count} ${word}`).join(", ")}
      {isAll ? "" : ", and more"}
    </>
  );
}

function Decided({ row }: { readonly row: Summary }) {
  return (
    <li>
      <Link
        to="/approvals/$id"
        params={{ id: row.request_id }}
        className="flex min-h-11 flex-wrap items-center gap-x-3 px-4 py-1.5 text-small hover:bg-sunken sm:flex-nowrap sm:px-5"
      >
        <Badge status={statusWord(row)} className="shrink-0" />
        <Strange text={row.tool} className="min-w-0 font-semibold" />
        <span className="min-w-0 grow truncate text-soft max-sm:order-last max-sm:basis-full">
          <Strange text={personName(row.agent)} className="whitespace-nowrap" />
          {row.decided_by.length === 0 ? null : (
            <>
              {" · "}
              <Strange text={namesText(row.decided_by)} className="whitespace-nowrap" />
            </>
          )}
        </span>
        <When at={row.decided_at ?? row.requested_at} className="ml-auto shrink-0 text-faint" />
      </Link>
    </li>
  );
}

export function Lately() {
  const { data } = useQuery(fewQuery(DECIDED, LOOKED_AT));
  const rows = data?.approvals ?? [];
  if (rows.length === 0) return null;
  return (
    <Panel title="Decided lately" aside={<Line rows={rows} hasMore={data?.next_cursor != null} />} isFlush>
      <ul className="divide-y divide-line">
        {rows.slice(0, SHOWN).map((row) => (
          <Decided key={row.request_id} row={row} />
        ))}
      </ul>
    </Panel>
  );
}

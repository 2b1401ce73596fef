/** The first few of what waits for whoever looks. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { fewQuery } from "../../api/approvals.ts";
import { Panel } from "../../ui/panel.tsx";
import { Empty, Failure, Loading } from "../../ui/states.tsx";
import { Example } from "../approvals/example.tsx";
import { InboxRow } from "../approvals/inbox-row.tsx";
import { MINE } from "../approvals/use-neighbours.ts";
import { nearestFirst } from "./nearest.ts";

const LOOKED_AT = 100;
const SHOWN = 5;

type Props = { readonly mine: number; readonly pending: number };

function Rows() {
  const { data, error, refetch } = useQuery(fewQuery(MINE, LOOKED_AT));
  if (data === undefined)
    return error === null ? <Loading /> : <Failure error={error} onRetry={() => void refetch()} />;
  return (
    <ul className="overflow-clip rounded-b-large [&>li:last-child>div]:border-0">
      {nearestFirst(data.approvals)
        .slice(0, SHOWN)
        .map((row) => (
          <li key={row.request_id} className="max-md:h-26 md:h-17">
            <InboxRow
              item={{ id: row.request_id, row, isGone: false }}
              isAt={false}
              isSelected={false}
              canSelect={false}
              onSelect={() => {}}
              onFocus={() => {}}
            />
          </li>
        ))}
    </ul>
  );
}

export function WaitsForYou({ mine, pending }: Props) {
  const others = pending - mine;
  const all = (
    <Link
      to="/approvals"
      search={mine === 0 ? { tab: "waiting" } : {}}
      className="inline-flex min-h-9 items-center font-semibold underline"
    >
      {mine > SHOWN ? `All ${mine}` : "Approvals"}
    </Link>
  );
  return (
    <Panel title="Waits for you" aside={all} isFlush>
      {mine === 0 ? (
        <Empty icon="check" title="Nothing waits for you">
          What an agent asks next appears here by itself.
          {others > 0 ? ` ${others} ${others === 1 ? "waits" : "wait"} for others.` : ""}
          <div className="mt-4 flex justify-center">
            <Example />
          </div>
        </Empty>
      ) : (
        <Rows />
      )}
    </Panel>
  );
}

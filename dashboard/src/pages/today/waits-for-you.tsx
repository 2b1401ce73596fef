/** The first few of what waits for whoever looks: what runs out soonest, then what waits longest. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { AnswerOf } from "holdpoint/client";
import { fewQuery } from "../../api/approvals.ts";
import { countText } from "../../format/amounts.ts";
import { Panel } from "../../ui/panel.tsx";
import { Empty, Failure, Loading } from "../../ui/states.tsx";
import { Example } from "../approvals/example.tsx";
import { InboxRow } from "../approvals/inbox-row.tsx";
import { MINE } from "../approvals/last-inbox.ts";

const SHOWN = 5;
const NEAREST = { ...MINE, order: "deadline" } as const;

type Props = { readonly attention: AnswerOf<"GET /api/attention"> };

function Rows() {
  const { data, error, refetch } = useQuery(fewQuery(NEAREST, SHOWN));
  if (data === undefined)
    return error === null ? <Loading /> : <Failure error={error} onRetry={() => void refetch()} />;
  return (
    <ul className="overflow-clip rounded-b-large [&>li:last-child>div]:border-0">
      {data.approvals.map((row) => (
        <li key={row.request_id} className="max-md:h-31 md:h-17">
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

function Nothing({ attention }: Props) {
  const { mine, pending, is_all, looked_at } = attention;
  if (!is_all)
    return (
      <Empty icon="search" title="Not all of it was looked at">
        {countText(pending)} approvals wait. The {countText(looked_at)} that wait longest are for others; what
        came later may be for you.{" "}
        <Link to="/approvals" className="underline">
          Look through all of it
        </Link>
      </Empty>
    );
  const others = pending - mine;
  return (
    <Empty icon="check" title="Nothing waits for you">
      What an agent asks next appears here by itself.
      {others > 0 ? ` ${countText(others)} ${others === 1 ? "waits" : "wait"} for others.` : ""}
      <div className="mt-4 flex justify-center">
        <Example />
      </div>
    </Empty>
  );
}

export function WaitsForYou({ attention }: Props) {
  const { mine, is_all } = attention;
  const all = (
    <Link
      to="/approvals"
      search={mine === 0 && is_all ? { tab: "waiting" } : {}}
      className="inline-flex min-h-9 items-center font-semibold underline"
    >
      {mine > SHOWN && is_all ? `All ${countText(mine)}` : "Approvals"}
    </Link>
  );
  return (
    <Panel title="Waits for you" aside={all} isFlush>
      {mine === 0 ? <Nothing attention={attention} /> : <Rows />}
    </Panel>
  );
}

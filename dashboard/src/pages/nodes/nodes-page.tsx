/** Who executes: the processes on this store, what they have in hand, and those that are gone. */
import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { client } from "../../api/client.ts";
import { several } from "../../format/amounts.ts";
import { Page } from "../../ui/page.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Empty, Failure, Loading } from "../../ui/states.tsx";
import { GoneNodes } from "./gone-nodes.tsx";
import { NodeCard } from "./node-card.tsx";
import { hostsOf } from "./node-words.ts";

/** Whether a lease still holds shows in no entry of the journal. */
const LOOK_MS = 5_000;
const MOST = 200;

function Explained({ hosts }: { readonly hosts: readonly string[] }) {
  return (
    <p className="max-w-prose text-small text-soft">
      {hosts.length > 1
        ? `They are on ${hosts.length} machines and share one PostgreSQL; each holds its epoch by a lease that it keeps renewing.`
        : "They are all on one machine. Where the store is one file, any process of that machine can join it, and one that dies is known by the lock it lets go of. To work on several machines, they share a PostgreSQL."}
    </p>
  );
}

export function NodesPage() {
  const isAll = useSearch({ from: "/nodes" })["all"] === "true";
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ["epoch", isAll],
    queryFn: () => client.nodes.list({ all: isAll, limit: MOST }),
    refetchInterval: LOOK_MS,
  });
  const there = data?.nodes.filter(({ ended_at: ended }) => ended === null) ?? [];
  const gone = data?.nodes.filter(({ ended_at: ended }) => ended !== null) ?? [];
  return (
    <Page
      title="Nodes"
      lead="The processes that execute here: servers, workers and programs. What waits is nobody's until one takes it up."
      aside={
        data === undefined ? null : (
          <p className="text-small text-soft">{several(there.length, "node")} there</p>
        )
      }
    >
      {error === null ? null : <Failure error={error} onRetry={() => void refetch()} />}
      {isPending ? <Loading /> : null}
      {data !== undefined && there.length === 0 ? (
        <Panel>
          <Empty icon="nodes" title="Nobody executes right now">
            Whatever is approved waits until a server, a worker or a program is there.
          </Empty>
        </Panel>
      ) : null}
      <ul aria-label="Nodes" className="grid gap-4 md:grid-cols-2 xl:grid-cols-3">
        {there.map((node) => (
          <NodeCard key={node.epoch} node={node} />
        ))}
      </ul>
      {there.length === 0 ? null : <Explained hosts={hostsOf(there)} />}
      {isAll && data !== undefined ? <GoneNodes nodes={gone} isCut={data.next_cursor !== null} /> : null}
      <Link
        to="/nodes"
        search={isAll ? {} : { all: "true" }}
        className="flex min-h-11 items-center self-start text-small font-semibold underline underline-offset-3"
      >
        {isAll ? "Only those that are there" : "Those that are gone too"}
      </Link>
    </Page>
  );
}

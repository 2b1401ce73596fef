/** The workflow's own stream of the journal. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { client } from "../../api/client.ts";
import { several } from "../../format/amounts.ts";
import { Button } from "../../ui/button.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Failure, Loading } from "../../ui/states.tsx";
import { Entries } from "../journal/entries.tsx";
import { Verify } from "../journal/verify.tsx";

const PAGE = 200;

export function WorkflowJournal({ id }: { readonly id: string }) {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: ["journal", "workflow", id],
    queryFn: ({ pageParam }) => client.journal.stream("workflow", id, { from_seq: pageParam, limit: PAGE }),
    initialPageParam: 1,
    getNextPageParam: ({ next_seq }) => next_seq,
  });
  const entries = data?.pages.flatMap((page) => page.entries) ?? [];
  return (
    <div className="flex flex-col gap-4">
      <Verify />
      <Panel
        title={<code className="font-mono text-small break-all">workflow/{id}</code>}
        aside={several(entries.length, "entry", "entries")}
        isFlush
      >
        {error === null ? null : <Failure error={error} onRetry={() => void refetch()} />}
        {data === undefined && error === null ? <Loading /> : null}
        <Entries entries={entries} />
        {hasNextPage ? (
          <div className="p-4">
            <Button size="small" isBusy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
              Show more entries
            </Button>
          </div>
        ) : null}
      </Panel>
    </div>
  );
}

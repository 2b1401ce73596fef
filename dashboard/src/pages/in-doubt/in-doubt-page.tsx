/** What cannot be known from here, oldest first. It is never sent again by itself, and never called done or not done. */

import type { ListedAction } from "../../api/actions.ts";
import { client } from "../../api/client.ts";
import { several } from "../../format/amounts.ts";
import { belowBy } from "../../live/merged-pages.ts";
import { useLongList } from "../../live/use-long-list.ts";
import { Button } from "../../ui/button.tsx";
import { Page } from "../../ui/page.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Empty, Failure, Loading } from "../../ui/states.tsx";
import { DoubtCard } from "./doubt-card.tsx";

const PAGE = 20;
/** The oldest are open; who comes here comes for them. */
const OPEN = 2;
const idOf = ({ action_id }: ListedAction): string => action_id;
const { oldest: isBelow } = belowBy(({ proposed_at }: ListedAction) => proposed_at);

async function pageOf(cursor: string | undefined) {
  const query = { phase: "in_doubt", order: "oldest", limit: PAGE } as const;
  const { actions, next_cursor } = await client.actions.list({
    ...query,
    ...(cursor === undefined ? {} : { cursor }),
  });
  return { items: actions, next: next_cursor };
}

function Nothing() {
  return (
    <Panel>
      <Empty icon="check" title="Nothing is in doubt">
        <p>
          Of everything that was sent, it is known whether it happened. Should an answer get lost on the way,
          it is shown here instead of being sent twice or forgotten.
        </p>
      </Empty>
    </Panel>
  );
}

export function InDoubtPage() {
  const { items, hasMore, more, head, isLooking, failed } = useLongList({
    key: ["actions", "in doubt"],
    fetch: pageOf,
    idOf,
    isBelow,
  });
  return (
    <Page
      title="In doubt"
      lead="These were sent, and no answer proves whether they happened. Find out, and say so: until then nothing is sent again."
      aside={
        items.length === 0 ? null : (
          <p className="text-small text-soft">
            {hasMore ? "more than " : ""}
            {several(items.length, "doubt")}, oldest first
          </p>
        )
      }
    >
      {failed === null ? null : <Failure error={failed} onRetry={() => void head.refetch()} />}
      {isLooking && failed === null ? <Loading /> : null}
      {head.isSuccess && items.length === 0 && !isLooking ? <Nothing /> : null}
      {items.map((listed, index) => (
        <DoubtCard key={listed.action_id} listed={listed} isOpenFirst={index < OPEN} />
      ))}
      {hasMore ? (
        <Button className="self-start" onClick={more}>
          Show more
        </Button>
      ) : null}
    </Page>
  );
}

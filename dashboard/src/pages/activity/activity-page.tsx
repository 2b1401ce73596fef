/** What was asked, decided and done: charts first, tables behind them. */

import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { Suspense } from "react";
import { type Activity, activityQuery } from "../../api/activity.ts";
import { nameOf } from "../../api/session.ts";
import { momentText } from "../../format/times.ts";
import { lazyPart } from "../../shell/lazy-part.ts";
import { Page } from "../../ui/page.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Empty, Failure, Loading } from "../../ui/states.tsx";
import { Figures } from "./figures.tsx";
import { PeopleTable } from "./people-table.tsx";
import { RangeChoice, rangeOf } from "./range-choice.tsx";
import { ShareTable } from "./share-table.tsx";

const Charts = lazyPart(async () => (await import("./charts.tsx")).Charts);

function Shown({ activity }: { readonly activity: Activity }) {
  const { days, tools, agents, people, is_all: isAll, since } = activity;
  const isEmpty = days.every(({ actions, asked }) => actions === 0 && asked === 0);
  return (
    <>
      <Figures activity={activity} />
      {isAll ? null : (
        <p className="rounded-base bg-note-wash px-4 py-2 text-small text-note">
          There was more than is counted at once: what is shown begins at {momentText(since)}.
        </p>
      )}
      {isEmpty ? (
        <Panel>
          <Empty icon="chart" title="Nothing happened in this time">
            As soon as an agent proposes something, its days appear here.
          </Empty>
        </Panel>
      ) : (
        <>
          <Suspense fallback={<Loading />}>
            <Charts days={days} />
          </Suspense>
          <ShareTable title="By tool" shares={tools} />
          <div className="grid items-start gap-4 xl:grid-cols-2">
            <ShareTable title="By agent" shares={agents} nameOf={nameOf} />
            <PeopleTable people={people} />
          </div>
        </>
      )}
    </>
  );
}

export function ActivityPage() {
  const range = rangeOf(useSearch({ from: "/activity" })["days"]);
  const { data, error, isPending, refetch } = useQuery(activityQuery(range));
  return (
    <Page
      title="Activity"
      lead="What agents asked for, what policy and people made of it, and what became of it. Days are those of UTC."
      aside={<RangeChoice range={range} />}
    >
      {error === null ? null : <Failure error={error} onRetry={() => void refetch()} />}
      {isPending ? <Loading /> : null}
      {data === undefined ? null : <Shown activity={data} />}
    </Page>
  );
}

/** One approval: what is asked, and the place to decide. */

import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { type ReactNode, Suspense, useEffect } from "react";
import { visible } from "../../../../src/kernel/text.ts";
import { cardQuery } from "../../api/approvals.ts";
import { lazyPart } from "../../shell/lazy-part.ts";
import { isMissing, Missing } from "../../ui/missing.tsx";
import { Page } from "../../ui/page.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Failure, Loading } from "../../ui/states.tsx";
import { CardSheet } from "./card-sheet.tsx";
import { headText } from "./words.ts";

/** Loaded when there is one: it has the form with it. */
const QuestionSheet = lazyPart(async () => (await import("./question-sheet.tsx")).QuestionSheet);

function Around({ children }: { readonly children: ReactNode }) {
  return <div className="mx-auto w-full max-w-6xl px-4 py-5 sm:px-6">{children}</div>;
}

function OnItsWay() {
  return (
    <Around>
      <h1 className="sr-only">Approval</h1>
      <Loading lines={2} />
      <div className="grid gap-4 lg:grid-cols-[minmax(0,1fr)_22rem] lg:gap-6">
        <Panel>
          <Loading />
        </Panel>
        <Panel>
          <Loading lines={3} />
        </Panel>
      </div>
    </Around>
  );
}

export function ApprovalPage() {
  const { id } = useParams({ from: "/approvals/$id" });
  const { data, error, refetch } = useQuery(cardQuery(id));
  const name = data === undefined ? "Approval" : headText(data.approval, data.card);
  useEffect(() => {
    document.title = `${visible(name)} · Holdpoint`;
  }, [name]);
  if (data !== undefined && data.approval.about !== "question") return <CardSheet key={id} answer={data} />;
  if (data !== undefined)
    return (
      <Suspense fallback={<OnItsWay />}>
        <QuestionSheet key={id} answer={data} />
      </Suspense>
    );
  if (error === null) return <OnItsWay />;
  if (isMissing(error))
    return (
      <Missing what="approval">
        <Link to="/approvals" className="underline">
          See what waits
        </Link>
      </Missing>
    );
  return (
    <Page title="Approval">
      <Failure error={error} onRetry={() => void refetch()} />
    </Page>
  );
}

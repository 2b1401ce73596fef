/** One action: what was proposed, what policy and people said, what ran, and what proves it. */
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { type Action, actionQuery, historyQuery, type JournalLine } from "../../api/actions.ts";
import { may, useSession } from "../../api/session.ts";
import { several } from "../../format/amounts.ts";
import { Badge } from "../../ui/badge.tsx";
import { Facts } from "../../ui/facts.tsx";
import { Known } from "../../ui/known.tsx";
import { isMissing, Missing } from "../../ui/missing.tsx";
import { Page } from "../../ui/page.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Principals } from "../../ui/principals.tsx";
import { Failure, Loading } from "../../ui/states.tsx";
import { Strange } from "../../ui/strange.tsx";
import { ValueBlock } from "../../ui/values/value-block.tsx";
import { WayBack } from "../../ui/way-back.tsx";
import { When } from "../../ui/when.tsx";
import { Entries } from "../journal/entries.tsx";
import { Verify } from "../journal/verify.tsx";
import { CLASS_WORDS, PHASE_WORDS } from "./action-words.ts";
import { ArgsFacts } from "./args-facts.tsx";
import { AttemptList } from "./attempt-list.tsx";
import { attemptsOf } from "./effect-attempts.ts";
import { ReceiptPanel } from "./receipt-panel.tsx";
import { ReviewFacts } from "./review-facts.tsx";

function Head({ action }: { readonly action: Action }) {
  const { tool, phase, action_id: id } = action;
  return (
    <header className="flex flex-col gap-2">
      <WayBack />
      <h1 className="flex flex-wrap items-center gap-x-3 gap-y-1 text-title font-semibold tracking-tight">
        <Strange text={tool} />
        <Badge status={phase} className="text-small" />
      </h1>
      <p className="flex flex-wrap items-center gap-x-2 text-small text-soft">
        <Known id={id} /> proposed <When at={action.proposed_at} />
      </p>
      <p className="text-soft">
        {PHASE_WORDS[phase]}{" "}
        {phase === "in_doubt" ? (
          <Link to="/in-doubt" className="font-semibold text-doubt underline underline-offset-3">
            Find out, and say so
          </Link>
        ) : null}
      </p>
    </header>
  );
}

function About({ action }: { readonly action: Action }) {
  const { workflow_id: workflow, request_id: request } = action;
  return (
    <Facts
      facts={[
        { name: "Agent", value: <Principals of={[action.agent]} /> },
        action.requester.length < 2
          ? null
          : { name: "On behalf of", value: <Principals of={action.requester.slice(1)} /> },
        action.rationale === null
          ? null
          : { name: "The agent says", value: <Strange as="lines" text={action.rationale} /> },
        workflow === null
          ? null
          : {
              name: "Workflow",
              value: (
                <Link
                  to="/workflows/$id"
                  params={{ id: workflow }}
                  className="font-mono underline underline-offset-3"
                >
                  {workflow}
                </Link>
              ),
            },
        request === null
          ? null
          : { name: "Request id", value: <Strange text={request} className="font-mono" /> },
        {
          name: "Effect class",
          value: (
            <>
              <span className="font-semibold">{action.effect_class}</span>
              <span className="block text-soft">{CLASS_WORDS[action.effect_class]}</span>
            </>
          ),
        },
      ]}
    />
  );
}

function Outcome({ action, entries }: { readonly action: Action; readonly entries: readonly JournalLine[] }) {
  const { outcome, refusal, held } = action;
  const stopped = refusal ?? held;
  const attempts = attemptsOf(action.action_id, entries);
  return (
    <Panel
      title="What became of it"
      aside={action.effect === null ? "never started" : several(action.effect.attempt, "attempt")}
    >
      <div className="flex flex-col gap-4">
        {stopped === null ? null : (
          <p className="rounded-base bg-stop-wash px-3 py-2 text-small text-stop">
            <span className="font-semibold">{refusal === null ? "Held" : "Refused"}</span> by{" "}
            <Strange text={stopped.by} />: <Strange isProse text={stopped.reason} />{" "}
            <Strange text={stopped.next} />
          </p>
        )}
        <AttemptList attempts={attempts} />
        {outcome === null || outcome.result === null ? null : (
          <ValueBlock
            heading={<h3 className="font-semibold">Result</h3>}
            value={outcome.result}
            label="Result"
          />
        )}
      </div>
    </Panel>
  );
}

const STANDS = { success: "there", pending: "coming", error: "failed" } as const;

function Shown({ action }: { readonly action: Action }) {
  const session = useSession();
  const maySee = may(session, "journal:read");
  const { error, refetch, ...asked } = useQuery({ ...historyQuery(action.action_id), enabled: maySee });
  const entries = asked.data?.entries ?? [];
  const history = maySee ? STANDS[asked.status] : "closed";
  return (
    <>
      <Head action={action} />
      <div className="grid gap-4 lg:grid-cols-2">
        <Panel title="Who and what">
          <About action={action} />
        </Panel>
        <Panel title="What policy said">
          <ReviewFacts action={action} />
        </Panel>
      </div>
      <ArgsFacts action={action} entries={entries} history={history} />
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <Outcome action={action} entries={entries} />
        {action.outcome === null ? null : (
          <Panel title="Receipt">
            <ReceiptPanel id={action.action_id} />
          </Panel>
        )}
      </div>
      {maySee ? (
        <Panel title="History" aside="everything about it in the journal, in commit order" isFlush>
          {error === null ? null : (
            <div className="p-4">
              <Failure error={error} onRetry={() => void refetch()} />
            </div>
          )}
          <Entries entries={entries} hasStreams />
          <div className="p-4 sm:px-5">
            <Verify />
          </div>
        </Panel>
      ) : null}
    </>
  );
}

export function ActionPage() {
  const { id } = useParams({ from: "/actions/$id" });
  const { data, error, refetch } = useQuery(actionQuery(id));
  if (data === undefined && isMissing(error))
    return (
      <Missing what="action">
        <Link to="/workflows" className="underline">
          See the workflows
        </Link>
      </Missing>
    );
  return (
    <Page title={data === undefined ? "Action" : data.tool} isBare={data !== undefined}>
      {error === null ? null : <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null ? <Loading /> : null}
      {data === undefined ? null : <Shown action={data} />}
    </Page>
  );
}

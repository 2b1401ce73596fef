import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { type Action, actionQuery, historyQuery, type ListedAction } from "../../api/actions.ts";
import { may, useSession } from "../../api/session.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Facts } from "../../ui/facts.tsx";
import { JsonView } from "../../ui/json-view.tsx";
import { Known } from "../../ui/known.tsx";
import { Principals } from "../../ui/principals.tsx";
import { Failure, Loading } from "../../ui/states.tsx";
import { Strange } from "../../ui/strange.tsx";
import { When } from "../../ui/when.tsx";
import { AttemptList } from "../actions/attempt-list.tsx";
import { attemptsOf } from "../actions/effect-attempts.ts";
import { ASK_WORDS, FOLLOWS, type Word } from "./doubt-words.ts";
import { ResolveForm } from "./resolve-form.tsx";

function Tried({ action }: { readonly action: Action }) {
  const session = useSession();
  const { data } = useQuery({ ...historyQuery(action.action_id), enabled: may(session, "journal:read") });
  const attempts = attemptsOf(action.action_id, data?.entries ?? []);
  return (
    <div className="grid gap-5 lg:grid-cols-2">
      <div className="flex min-w-0 flex-col gap-2">
        <h3 className="text-small font-semibold">What was tried</h3>
        <JsonView value={action.args} label="Arguments" lines={10} />
      </div>
      <div className="flex min-w-0 flex-col gap-2">
        <h3 className="text-small font-semibold">What is known</h3>
        <AttemptList attempts={attempts} />
      </div>
    </div>
  );
}

function Asking({ action }: { readonly action: Action }) {
  const workflow = action.workflow_id;
  return (
    <Facts
      facts={[
        { name: "What to ask", value: ASK_WORDS[action.effect_class] ?? "Look at the receiver." },
        action.effect === null
          ? null
          : { name: "Its key there", value: <Known id={action.effect.effect_id} /> },
        workflow === null
          ? null
          : {
              name: "Held up by it",
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
      ]}
    />
  );
}

function Details({ id }: { readonly id: string }) {
  const { data, error, refetch } = useQuery(actionQuery(id));
  if (error !== null) return <Failure error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading lines={3} />;
  return (
    <>
      <Tried action={data} />
      <Asking action={data} />
    </>
  );
}

function Settle({ effect }: { readonly effect: string }) {
  const [word, setWord] = useState<Word | null>(null);
  const close = () => setWord(null);
  return (
    <div className="flex flex-wrap gap-3">
      <Button kind="plain" icon="check" onClick={() => setWord("applied")}>
        It happened
      </Button>
      <Button kind="plain" icon="cross" onClick={() => setWord("not_applied")}>
        It did not happen
      </Button>
      <Dialog title={word === null ? "" : FOLLOWS[word].title} isOpen={word !== null} onClose={close}>
        {word === null ? null : <ResolveForm effect={effect} word={word} onClose={close} />}
      </Dialog>
    </div>
  );
}

/** One doubt: what was tried, when, why nobody knows, whom to ask, and the word that ends it. */
export function DoubtCard({ listed }: { readonly listed: ListedAction }) {
  const session = useSession();
  const { action_id: id, tool, agent, effect_id: effect } = listed;
  return (
    <article
      aria-labelledby={id}
      className="overflow-hidden rounded-large border border-line border-l-doubt border-l-4 bg-surface"
    >
      <header className="flex flex-wrap items-baseline gap-x-3 gap-y-1 border-b border-line px-4 py-3 sm:px-5">
        <h2 id={id} className="font-semibold">
          <Link to="/actions/$id" params={{ id }} className="underline decoration-edge underline-offset-3">
            <Strange text={tool} />
          </Link>
        </h2>
        <Badge status="in_doubt" />
        <span className="text-small text-soft">
          by <Principals of={[agent]} />
        </span>
        <span className="text-small text-soft sm:ml-auto">
          <When at={listed.proposed_at} />
        </span>
      </header>
      <div className="flex flex-col gap-5 p-4 sm:p-5">
        {listed.reason === null ? null : (
          <p className="rounded-base bg-doubt-wash px-3 py-2 text-small text-doubt">
            <span className="font-semibold">Why nobody knows: </span>
            <Strange text={listed.reason} />
          </p>
        )}
        <Details id={id} />
        {may(session, "effects:resolve") && effect !== null ? <Settle effect={effect} /> : null}
      </div>
    </article>
  );
}

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { type Action, actionQuery, historyQuery, type ListedAction } from "../../api/actions.ts";
import { may, useSession } from "../../api/session.ts";
import { Brief, isBrief } from "../../ui/brief.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Facts } from "../../ui/facts.tsx";
import { Known } from "../../ui/known.tsx";
import { Principals } from "../../ui/principals.tsx";
import { Failure, Loading } from "../../ui/states.tsx";
import { Strange } from "../../ui/strange.tsx";
import { ValueBlock } from "../../ui/values/value-block.tsx";
import { When } from "../../ui/when.tsx";
import { AttemptList } from "../actions/attempt-list.tsx";
import { attemptsOf } from "../actions/effect-attempts.ts";
import { ASK_WORDS, FOLLOWS, type Word } from "./doubt-words.ts";
import { ResolveForm } from "./resolve-form.tsx";

function Tried({ action, known }: { readonly action: Action; readonly known: string | null }) {
  const session = useSession();
  const { data } = useQuery({ ...historyQuery(action.action_id), enabled: may(session, "journal:read") });
  // Why nobody knows stands above already.
  const attempts = attemptsOf(action.action_id, data?.entries ?? []).map((attempt) =>
    attempt.detail === known ? { ...attempt, detail: "" } : attempt,
  );
  return (
    <div className="grid gap-5 lg:grid-cols-2">
      <ValueBlock
        heading={<h3 className="font-semibold">What was tried</h3>}
        value={action.args}
        label={`Arguments of ${action.action_id}`}
      />
      <div className="flex min-w-0 flex-col gap-2">
        <h3 className="text-small font-semibold">What is known</h3>
        <AttemptList attempts={attempts} />
        <Asking action={action} />
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

function Details({ id, known }: { readonly id: string; readonly known: string | null }) {
  const { data, error, refetch } = useQuery(actionQuery(id));
  if (error !== null) return <Failure error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading lines={3} />;
  return <Tried action={data} known={known} />;
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

type Props = { readonly listed: ListedAction; readonly isOpenFirst: boolean };

/** One doubt: what was tried, when, why nobody knows, whom to ask, and the word that ends it. */
export function DoubtCard({ listed, isOpenFirst }: Props) {
  const session = useSession();
  const [isOpen, setOpen] = useState(isOpenFirst);
  const { action_id: id, tool, agent, effect_id: effect, reason } = listed;
  return (
    <details
      open={isOpen}
      onToggle={(event) => setOpen(event.currentTarget.open)}
      className="overflow-hidden rounded-large border border-line border-l-4 border-l-doubt bg-surface"
    >
      <summary className="flex cursor-pointer flex-wrap items-baseline gap-x-3 gap-y-1 px-4 py-3 sm:px-5">
        <h2 className="font-semibold">
          <Strange text={tool} />
        </h2>
        <span className="text-small text-soft">
          by <Principals of={[agent]} />
        </span>
        <span className="text-small text-soft sm:ml-auto">
          <When at={listed.proposed_at} />
        </span>
        {reason === null ? null : (
          <span className="w-full text-small text-doubt">
            <span className="font-semibold">Why nobody knows: </span>
            <Brief text={reason} />
          </span>
        )}
      </summary>
      <div className="flex flex-col gap-5 border-t border-line p-4 sm:p-5">
        {isOpen ? <Details id={id} known={reason !== null && isBrief(reason) ? reason : null} /> : null}
        {may(session, "effects:resolve") && effect !== null ? <Settle effect={effect} /> : null}
        <Link
          to="/actions/$id"
          params={{ id }}
          className="self-start text-small underline underline-offset-3"
        >
          The action in full: what was proposed, approved and sent
        </Link>
      </div>
    </details>
  );
}

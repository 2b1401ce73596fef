/** What became of it, as it happens; and where to go from here. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { RefObject } from "react";
import { type Outcome, outcomeQuery } from "../../api/outcome.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Strange } from "../../ui/strange.tsx";
import { When } from "../../ui/when.tsx";
import { AT_THE_THUMB } from "./at-the-thumb.ts";
import { MoreMenu } from "./more-menu.tsx";
import type { Desk } from "./use-desk.ts";
import type { Neighbours } from "./use-neighbours.ts";
import { endWords, statusWord } from "./words.ts";

const PHASES: { readonly [phase in Outcome["phase"]]: string } = {
  open: "It is about to be reviewed.",
  waiting: "It waits for people.",
  running: "It is running.",
  applied: "It was done.",
  not_applied: "It was tried, and certainly did nothing.",
  in_doubt: "It was started, and nobody knows whether it happened.",
  refused: "It did not run.",
};

function wordsOf({ phase, held }: Outcome, isGiven: boolean): string {
  if (held !== null) return "It is held until it may start.";
  return phase === "waiting" && isGiven ? "It is not started yet: whoever asked takes it up." : PHASES[phase];
}

/** `told` is the reason that stands there already. */
type WordsProps = { readonly outcome: Outcome; readonly isGiven: boolean; readonly told: string };

function Words({ outcome, isGiven, told }: WordsProps) {
  const why = outcome.outcome?.reason ?? outcome.refusal?.reason ?? outcome.held?.reason ?? "";
  return (
    <div className="flex flex-col gap-1 text-small">
      <p className="flex flex-wrap items-center gap-2">
        <Badge status={outcome.held === null ? outcome.phase : "held"} />
        {wordsOf(outcome, isGiven)}
        {outcome.outcome === null ? null : <When at={outcome.outcome.at} className="text-faint" />}
      </p>
      {why === "" || why === told ? null : (
        <p className="text-soft">
          <Strange text={why} as="lines" />
        </p>
      )}
    </div>
  );
}

type ActionProps = Omit<WordsProps, "outcome"> & { readonly id: string };

function ActionOutcome({ id, isGiven, told }: ActionProps) {
  const { data } = useQuery(outcomeQuery(id));
  if (data === undefined) return null;
  const link = data.outcome === null ? "See the action" : "See the receipt";
  return (
    <>
      <Words outcome={data} isGiven={isGiven} told={told} />
      <p className="flex flex-wrap gap-4 text-small font-semibold">
        <Link to="/actions/$id" params={{ id }} className="underline">
          {link}
        </Link>
        {data.phase === "in_doubt" ? (
          <Link to="/in-doubt" className="text-doubt underline">
            Say what happened
          </Link>
        ) : null}
      </p>
    </>
  );
}

export function Next({ neighbours: { next, left, isAll, go } }: { readonly neighbours: Neighbours }) {
  if (next === null)
    return (
      <Link to="/approvals" className="text-small font-semibold underline">
        {isAll ? "Nothing else waits for you" : "See what else waits"}
      </Link>
    );
  return (
    <Button kind="main" icon="next" className="self-stretch whitespace-nowrap" onClick={() => go(next)}>
      Next approval <span className="font-normal opacity-80">{isAll ? `(${left})` : `(${left}+)`}</span>
      <kbd className="ml-1 rounded-small border border-current px-1.5 text-tiny max-md:hidden">n</kbd>
    </Button>
  );
}

type Props = {
  readonly desk: Desk;
  readonly neighbours: Neighbours;
  readonly place: RefObject<HTMLElement | null>;
};

const nothing = () => {};

/** The words and the way on: first and last in the panel, and together at the thumb on a phone. */
function AtHand({ desk, neighbours, place }: Props) {
  return (
    <div className={`${AT_THE_THUMB} flex flex-col gap-2 lg:contents`} data-decide>
      <p
        ref={place as RefObject<HTMLParagraphElement | null>}
        tabIndex={-1}
        className="font-semibold outline-none lg:order-first"
      >
        <Strange text={endWords(desk.approval)} />
      </p>
      <div className="flex items-center gap-2 *:last:grow lg:order-last">
        <MoreMenu desk={desk} onAsk={nothing} />
        <Next neighbours={neighbours} />
      </div>
    </div>
  );
}

export function OutcomePanel({ desk, neighbours, place }: Props) {
  const { approval } = desk;
  const { action_id, workflow_id, about, decided, ended } = approval;
  const isGiven = approval.status === "approved" || approval.status === "modified";
  const reason = decided?.reason ?? ended?.reason ?? "";
  return (
    <Panel title="What became of it" aside={<Badge status={statusWord(approval)} />}>
      <div aria-live="polite" className="flex flex-col gap-3">
        <AtHand {...{ desk, neighbours, place }} />
        {reason === "" ? null : (
          <p className="text-small text-soft">
            <Strange text={reason} as="lines" />
          </p>
        )}
        {about === "action" && action_id !== null ? (
          <ActionOutcome id={action_id} isGiven={isGiven} told={reason} />
        ) : null}
        {about !== "action" && workflow_id !== null ? (
          <Link
            to="/workflows/$id"
            params={{ id: workflow_id }}
            className="text-small font-semibold underline"
          >
            See how the workflow goes on
          </Link>
        ) : null}
      </div>
    </Panel>
  );
}

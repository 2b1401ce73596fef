/** The card: on the left what will run, on the right who, why and the decision. A phone shows one after the other. */

import { type RefObject, Suspense, useEffect, useRef, useState } from "react";
import type { CardAnswer } from "../../api/approvals.ts";
import { lazyPart } from "../../shell/lazy-part.ts";
import { useKeys } from "../../shell/use-keys.ts";
import { Panel } from "../../ui/panel.tsx";
import { Coming } from "../../ui/values/coming.tsx";
import { FoldsProvider } from "../../ui/values/folds.tsx";
import { AgentSays } from "./agent-says.tsx";
import { AT_THE_THUMB } from "./at-the-thumb.ts";
import { CardHeading } from "./card-heading.tsx";
import { ChangedNotice } from "./changed-notice.tsx";
import { CommentsPanel } from "./comments-panel.tsx";
import { CutShort } from "./cut-short.tsx";
import { DeadlineClock } from "./deadline-clock.tsx";
import { DecidingAs } from "./deciding-as.tsx";
import { DecisionBar, Refused } from "./decision-bar.tsx";
import { ConfirmDialog, RejectDialog } from "./dialogs.tsx";
import { DocumentSections } from "./document-sections.tsx";
import { CARD_KEYS } from "./keys.ts";
import { NoteField } from "./note-field.tsx";
import { OutcomePanel } from "./outcome-panel.tsx";
import { RejectingWords } from "./rejecting.tsx";
import { Preview, Undo } from "./shown-by-tool.tsx";
import { type Desk, useDesk } from "./use-desk.ts";
import { type Draft, type FirstAnswer, useDraft } from "./use-draft.ts";
import { useKeptFocus } from "./use-kept-focus.ts";
import { type Neighbours, useNeighbours } from "./use-neighbours.ts";
import { ChangedSinceProposed, WhatRuns } from "./what-runs.tsx";

/** Loaded when there is a checkpoint to look at, something is changed, or more is done than to decide: most cards are neither. */
const CheckpointLayers = lazyPart(async () => (await import("./checkpoint-layers.tsx")).CheckpointLayers);
const OtherDialogs = lazyPart(async () => (await import("./other-dialogs.tsx")).OtherDialogs);
const ModifyPanel = lazyPart(async () => (await import("./modify-panel.tsx")).ModifyPanel);

function Dialogs({ desk, draft }: { readonly desk: Desk; readonly draft: Draft }) {
  const { asking } = desk;
  const isOther = asking !== null && asking !== "reject" && asking !== "confirm";
  // They stay: one that closes puts the focus back.
  const [wasOther, setOther] = useState(false);
  if (isOther && !wasOther) setOther(true);
  const isAnswer = desk.approval.about === "question";
  return (
    <>
      <RejectDialog desk={desk} />
      <ConfirmDialog desk={desk} edit={desk.isEditing || isAnswer ? draft.edit : undefined} />
      {wasOther ? (
        <Suspense>
          <OtherDialogs desk={desk} />
        </Suspense>
      ) : null}
    </>
  );
}

function WhatItIs({ desk, draft }: { readonly desk: Desk; readonly draft: Draft }) {
  const { approval, card } = desk;
  const isQuestion = approval.about === "question";
  const isAnswering = isQuestion && desk.mayApprove;
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <ChangedNotice desk={desk} />
      <CutShort desk={desk} draft={draft} />
      {isQuestion ? <AgentSays agent={approval.agent} says={approval.reason} verb="asks" /> : null}
      {desk.isEditing || isAnswering ? (
        <Suspense fallback={<Coming />}>
          <ModifyPanel
            draft={draft}
            title={isAnswering ? "Your answer" : "Modify, then approve"}
            isAnswer={isAnswering}
            onLeave={() => desk.setEditing(false)}
          />
        </Suspense>
      ) : null}
      {isAnswering ? null : <WhatRuns desk={desk} />}
      <ChangedSinceProposed desk={desk} />
      <Preview approval={approval} />
      <AgentSays agent={approval.agent} says={isQuestion ? null : approval.rationale} />
      {card.snapshot === null ? null : (
        <Suspense fallback={<Coming />}>
          <CheckpointLayers approval={approval} card={card} />
        </Suspense>
      )}
      <Undo approval={approval} />
    </div>
  );
}

type AroundProps = { readonly desk: Desk; readonly box: RefObject<HTMLTextAreaElement | null> };

function WhatIsAround({ desk: { approval, card, can }, box }: AroundProps) {
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <DocumentSections card={card} parts={["effects", "history"]} />
      <CommentsPanel approval={approval} box={box} canWrite={can("comment")} />
    </div>
  );
}

type RightProps = {
  readonly desk: Desk;
  readonly draft: Draft;
  readonly neighbours: Neighbours;
  readonly approveButton: RefObject<HTMLButtonElement | null>;
  readonly outcome: RefObject<HTMLElement | null>;
  readonly onAsk: () => void;
};

function Right({ desk, draft, neighbours, approveButton, outcome, onAsk }: RightProps) {
  const { approval, card, isOpen, hasScope } = desk;
  const isPending = approval.status === "pending";
  return (
    <div className="flex min-w-0 flex-col gap-4 lg:sticky lg:col-start-2 lg:row-span-2 lg:row-start-1 lg:top-5 lg:max-h-[calc(100dvh-2.5rem)] lg:overflow-y-auto lg:pb-2">
      {isPending ? (
        <Panel title="Your decision">
          <div className="flex flex-col gap-4">
            <DeadlineClock span={approval} />
            {isOpen && hasScope ? <DecidingAs /> : null}
            <NoteField desk={desk} />
            <div className={AT_THE_THUMB} data-decide>
              <DecisionBar {...{ desk, draft, neighbours, approveButton, onAsk }} />
            </div>
            {card.rejecting === null ? null : (
              <section aria-labelledby="rejecting">
                <h3 id="rejecting" className="mb-1 text-small font-semibold">
                  If you reject
                </h3>
                <RejectingWords approval={approval} card={card} />
              </section>
            )}
          </div>
        </Panel>
      ) : (
        <>
          <Refused desk={desk} />
          <OutcomePanel {...{ desk, neighbours, place: outcome }} />
        </>
      )}
      <DocumentSections card={card} parts={["subject", "costs", "why", "people", "when", "identity"]} />
    </div>
  );
}

function useCardKeys(
  desk: Desk,
  neighbours: Neighbours,
  focus: { readonly approve: () => void; readonly ask: () => void },
) {
  const isPending = desk.approval.status === "pending";
  useKeys(
    {
      a: () => (desk.mayApprove ? focus.approve() : undefined),
      m: () => (desk.mayApprove && desk.can("edit") ? desk.setEditing(true) : undefined),
      r: () => (desk.mayDecide ? desk.setAsking("reject") : undefined),
      c: focus.ask,
      e: () => (desk.can("extend") ? desk.setAsking("extend") : undefined),
      j: () => neighbours.go(neighbours.next),
      k: () => neighbours.go(neighbours.before),
      n: () => (isPending ? undefined : neighbours.go(neighbours.next)),
      Escape: () => desk.setEditing(false),
    },
    CARD_KEYS,
  );
}

type SheetProps = { readonly answer: CardAnswer; readonly firstAnswer?: FirstAnswer };

const NO_ANSWER: FirstAnswer = () => null;

export function CardSheet({ answer, firstAnswer = NO_ANSWER }: SheetProps) {
  const desk = useDesk(answer);
  const draft = useDraft(desk, firstAnswer);
  const neighbours = useNeighbours(desk.approval.request_id);
  const box = useRef<HTMLTextAreaElement>(null);
  const approveButton = useRef<HTMLButtonElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const outcome = useRef<HTMLElement>(null);
  const ask = () => {
    box.current?.scrollIntoView({ block: "center" });
    box.current?.focus({ preventScroll: true });
  };
  // A dialog that closes puts the focus back where it was first.
  const onAsk = () => void window.setTimeout(ask, 0);
  useCardKeys(desk, neighbours, { approve: () => approveButton.current?.focus(), ask });
  useKeptFocus(desk, { heading, outcome });
  const { reset } = draft.form;
  const { isEditing } = desk;
  const { before } = draft;
  const wasEditing = useRef(isEditing);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only opening and closing begins anew, not what comes in meanwhile.
  useEffect(() => {
    if (wasEditing.current === isEditing) return;
    wasEditing.current = isEditing;
    if (answer.approval.about !== "question" && !desk.isCutShort) reset(before);
  }, [isEditing]);
  return (
    <FoldsProvider>
      <div className="mx-auto flex w-full max-w-6xl flex-col gap-4 px-4 py-4 max-lg:pb-28 sm:px-6 sm:py-6">
        <CardHeading approval={desk.approval} card={desk.card} neighbours={neighbours} place={heading} />
        <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-[minmax(0,1fr)_22rem] lg:grid-rows-[auto_1fr] lg:gap-x-6">
          <WhatItIs desk={desk} draft={draft} />
          <Right
            desk={desk}
            draft={draft}
            neighbours={neighbours}
            approveButton={approveButton}
            outcome={outcome}
            onAsk={onAsk}
          />
          <WhatIsAround desk={desk} box={box} />
        </div>
      </div>
      <Dialogs desk={desk} draft={draft} />
    </FoldsProvider>
  );
}

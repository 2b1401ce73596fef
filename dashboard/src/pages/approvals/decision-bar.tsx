/** Yes, no, or yes with changes. On a phone it stays at the thumb. */
import { isClientError } from "holdpoint/client";
import { type ReactNode, type RefObject, Suspense } from "react";
import { useClaimedName } from "../../api/claimed-name.ts";
import { countText } from "../../format/amounts.ts";
import { lazyPart } from "../../shell/lazy-part.ts";
import { Button } from "../../ui/button.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Failure } from "../../ui/states.tsx";
import { Strange } from "../../ui/strange.tsx";
import { useSteady } from "../../ui/use-steady.ts";
import { useFolds } from "../../ui/values/folds.tsx";
import { MoreMenu } from "./more-menu.tsx";
import { Next } from "./outcome-panel.tsx";
import type { Desk } from "./use-desk.ts";
import type { Draft } from "./use-draft.ts";
import type { Neighbours } from "./use-neighbours.ts";
import { endWords, sentence } from "./words.ts";

/** Loaded with the first change. */
const PolicyWord = lazyPart(async () => (await import("./modify-panel.tsx")).PolicyWord);

export type BarProps = {
  readonly desk: Desk;
  readonly draft: Draft;
  readonly neighbours: Neighbours;
  readonly onAsk: () => void;
  readonly approveButton: RefObject<HTMLButtonElement | null>;
};

function Folded() {
  const { hidden, places, isComing } = useFolds();
  if (isComing) return <p className="text-small text-hold">Some of it is still being loaded.</p>;
  if (hidden === 0) return null;
  return (
    <p className="flex items-center gap-2 text-small text-hold">
      <Icon name="warn" className="size-4" />
      <span className="grow">
        {countText(hidden)} characters are folded{places > 1 ? ` in ${places} places` : ""}.
      </span>
    </p>
  );
}

/** Somebody else was there first, or it is no longer what was looked at. */
export function Refused({ desk: { vote, approval } }: { readonly desk: Desk }) {
  if (vote.error === null) return null;
  const isConflict = isClientError(vote.error) && vote.error.status === 409;
  if (!isConflict) return <Failure error={vote.error} />;
  return (
    <div role="alert" className="rounded-base bg-hold-wash px-3 py-2 text-small text-hold">
      <p className="font-semibold">
        <Strange text={`Your decision did not count. ${endWords(approval)}`} />
      </p>
      <p>
        <Strange text={isClientError(vote.error) ? vote.error.what : ""} />
      </p>
    </div>
  );
}

type MainProps = Pick<BarProps, "desk" | "approveButton"> & {
  readonly act: string;
  readonly isReady: boolean;
  readonly className?: string;
  readonly onSend: () => void;
};

/** Nothing is approved while something of it is not there yet or out of sight: the same button shows it first. */
function MainButton({ desk, approveButton, act, isReady, className, onSend }: MainProps) {
  const { hidden, isComing, openAll } = useFolds();
  const isFolded = hidden > 0 && !isComing && desk.mayApprove;
  const isBusy = desk.vote.isPending;
  const words = isFolded ? "Show all of it first" : act;
  const isSteady = useSteady(isComing ? "" : words);
  const isHeld = isComing || (!isFolded && !isSteady);
  const press = isFolded ? openAll : onSend;
  return (
    <Button
      ref={approveButton}
      className={className}
      kind={isFolded ? "main" : "go"}
      icon={isFolded ? "down" : "check"}
      isBusy={isBusy}
      disabled={!desk.mayApprove || (!isFolded && !isReady)}
      // Not disabled: the focus stays.
      aria-disabled={isHeld || undefined}
      // The second half of a double click approves nothing.
      onClick={({ detail }) => (detail > 1 || isHeld ? undefined : press())}
    >
      {isBusy ? "Sending…" : words}
    </Button>
  );
}

function EditButtons({ desk, draft, approveButton }: BarProps) {
  const act = draft.tried?.outcome === "asks" ? "Send changes" : "Approve with changes";
  const send = () => (desk.card.confirm === null ? desk.approve(draft.edit) : desk.setAsking("confirm"));
  return (
    <div className="grid grid-cols-[auto_1fr] gap-2">
      <Button onClick={() => desk.setEditing(false)}>Back</Button>
      <MainButton {...{ desk, approveButton, act }} isReady={draft.canSend} onSend={send} />
    </div>
  );
}

function LookButtons({ desk, draft, onAsk, approveButton }: BarProps) {
  const { approval, card, vote } = desk;
  const isAnswer = approval.about === "question";
  const act = isAnswer ? "Answer" : "Approve";
  const isBusy = vote.isPending;
  const edit = isAnswer ? draft.edit : undefined;
  const approve = () => (card.confirm === null ? desk.approve(edit) : desk.setAsking("confirm"));
  return (
    <div className="flex gap-1.5 sm:gap-2 lg:flex-wrap">
      <MoreMenu desk={desk} onAsk={onAsk} />
      <Button
        className="grow max-sm:gap-1.5 max-sm:px-3"
        icon="cross"
        disabled={!desk.mayDecide || isBusy}
        onClick={() => desk.setAsking("reject")}
      >
        Reject
      </Button>
      {desk.can("edit") ? (
        <Button
          className="grow max-sm:gap-1.5 max-sm:px-3"
          icon="edit"
          aria-label="Modify"
          disabled={!desk.mayApprove || isBusy}
          onClick={() => desk.setEditing(true)}
        >
          <span className="max-sm:hidden">Modify</span>
        </Button>
      ) : null}
      <MainButton
        {...{ desk, approveButton, act }}
        className="grow-2 max-sm:gap-1.5 max-sm:px-3 lg:order-first lg:basis-full"
        isReady={!isAnswer || draft.canSend}
        onSend={approve}
      />
    </div>
  );
}

function WhyNot({ desk }: { readonly desk: Desk }) {
  const { card, hasScope, seen } = desk;
  if (seen.isChanged) return <Line>Look at what has changed, then decide.</Line>;
  if (!hasScope) return <Line>You may look at it, and not decide.</Line>;
  if (card.you.vote !== null)
    return (
      <Line>You have {card.you.vote === "approve" ? "approved" : "rejected"} it; it waits for others.</Line>
    );
  if (card.you.why_not !== null)
    return (
      <Line>
        <Strange text={sentence(card.you.why_not)} />
      </Line>
    );
  return card.you.may_decide ? null : <Line>It is not yours to decide.</Line>;
}

const Line = ({ children }: { readonly children: ReactNode }) => (
  <p className="flex items-start gap-2 text-small text-soft">
    <Icon name="lock" className="mt-0.5 size-4" />
    <span>{children}</span>
  </p>
);

const KEY = "rounded-small border border-line px-1 font-mono";

/** What the main button does, once all is shown. */
function enterDoes({ approval, card }: Desk): string {
  if (approval.about === "question") return "answers";
  return card.confirm === null ? "approves" : "asks for a word";
}

function KeyHints({ desk }: { readonly desk: Desk }) {
  return (
    <p className="text-tiny text-faint max-lg:hidden">
      <kbd className={KEY}>a</kbd> <kbd className={KEY}>Enter</kbd> {enterDoes(desk)},{" "}
      {desk.can("edit") ? (
        <>
          <kbd className={KEY}>m</kbd> modifies,{" "}
        </>
      ) : null}
      <kbd className={KEY}>r</kbd> rejects
    </p>
  );
}

/** On a phone the field for the name is out of sight. */
function As() {
  const name = useClaimedName();
  return (
    <p className="text-tiny text-soft lg:hidden">
      Deciding as <strong className="text-ink">{name}</strong>, as claimed
    </p>
  );
}

/** What would become of it stands where it is sent. */
const isWriting = ({ desk, draft }: BarProps): boolean =>
  desk.isEditing || (desk.approval.about === "question" && draft.edit !== undefined);

export function DecisionBar(props: BarProps) {
  const { desk } = props;
  const isQuiet = !desk.can("reject");
  return (
    <div className="flex flex-col gap-2">
      <Refused desk={desk} />
      <WhyNot desk={desk} />
      {desk.isOpen && !isQuiet ? <As /> : null}
      {isQuiet ? null : <Folded />}
      {isQuiet ? (
        <div className="flex gap-2">
          <MoreMenu desk={desk} onAsk={props.onAsk} />
          {desk.card.you.vote === null ? null : <Next neighbours={props.neighbours} />}
        </div>
      ) : null}
      {isQuiet || !isWriting(props) ? null : (
        <div className="max-lg:max-h-[35dvh] max-lg:overflow-y-auto">
          <Suspense>
            <PolicyWord draft={props.draft} />
          </Suspense>
        </div>
      )}
      {!isQuiet && desk.isEditing ? <EditButtons {...props} /> : null}
      {isQuiet || desk.isEditing ? null : (
        <>
          <LookButtons {...props} />
          <KeyHints desk={desk} />
        </>
      )}
    </div>
  );
}

/** Yes, no, or yes with changes. On a phone it stays at the thumb. */
import { isClientError } from "holdpoint/client";
import type { ReactNode, RefObject } from "react";
import { useClaimedName } from "../../api/claimed-name.ts";
import { countText } from "../../format/amounts.ts";
import { Button } from "../../ui/button.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Failure } from "../../ui/states.tsx";
import { Strange } from "../../ui/strange.tsx";
import { useFolds } from "../../ui/values/folds.tsx";
import { MoreMenu } from "./more-menu.tsx";
import { Next } from "./outcome-panel.tsx";
import { PolicyWord } from "./policy-word.tsx";
import type { Desk } from "./use-desk.ts";
import type { Draft } from "./use-draft.ts";
import type { Neighbours } from "./use-neighbours.ts";
import { endWords, sentence } from "./words.ts";

export type BarProps = {
  readonly desk: Desk;
  readonly draft: Draft;
  readonly neighbours: Neighbours;
  readonly onAsk: () => void;
  readonly approveButton: RefObject<HTMLButtonElement | null>;
};

function Folded() {
  const { hidden, places, openAll } = useFolds();
  if (hidden === 0) return null;
  return (
    <p className="flex items-center gap-2 text-small text-hold">
      <Icon name="warn" className="size-4" />
      <span className="grow">
        {countText(hidden)} characters are folded{places > 1 ? ` in ${places} places` : ""}.
      </span>
      <button type="button" className="min-h-8 px-1 font-semibold underline" onClick={openAll}>
        Show all
      </button>
    </p>
  );
}

/** Somebody else was there first, or it is no longer what was looked at. */
function Refused({ desk: { vote, approval } }: { readonly desk: Desk }) {
  if (vote.error === null) return null;
  const isConflict = isClientError(vote.error) && vote.error.status === 409;
  if (!isConflict) return <Failure error={vote.error} />;
  return (
    <div role="alert" className="rounded-base bg-hold-wash px-3 py-2 text-small text-hold">
      <p className="font-semibold">Your decision did not count. {endWords(approval)}</p>
      <p>{isClientError(vote.error) ? vote.error.what : ""}</p>
    </div>
  );
}

function EditButtons({ desk, draft, approveButton }: BarProps) {
  const act = draft.tried?.outcome === "asks" ? "Send changes" : "Approve with changes";
  const send = () => (desk.card.confirm === null ? desk.approve(draft.edit) : desk.setAsking("confirm"));
  return (
    <div className="grid grid-cols-[auto_1fr] gap-2">
      <Button onClick={() => desk.setEditing(false)}>Back</Button>
      <Button
        ref={approveButton}
        kind="go"
        icon="check"
        isBusy={desk.vote.isPending}
        disabled={!draft.canSend || !desk.mayApprove}
        onClick={send}
      >
        {desk.vote.isPending ? "Sending…" : act}
      </Button>
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
      {desk.canEdit ? (
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
      <Button
        ref={approveButton}
        className="grow-2 max-sm:gap-1.5 max-sm:px-3 lg:order-first lg:basis-full"
        kind="go"
        icon="check"
        isBusy={isBusy}
        disabled={!desk.mayApprove || (isAnswer && !draft.canSend)}
        onClick={approve}
      >
        {isBusy ? "Sending…" : act}
      </Button>
    </div>
  );
}

function WhyNot({ desk }: { readonly desk: Desk }) {
  const { card, hasScope, seen, approval } = desk;
  if (approval.status !== "pending") return null;
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

function KeyHints({ canEdit }: { readonly canEdit: boolean }) {
  return (
    <p className="text-tiny text-faint max-lg:hidden">
      <kbd className={KEY}>a</kbd> <kbd className={KEY}>Enter</kbd> approves,{" "}
      {canEdit ? (
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
  if (desk.approval.status !== "pending") return <Refused desk={desk} />;
  const isQuiet = !desk.card.you.may_decide || !desk.hasScope;
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
          <PolicyWord draft={props.draft} />
        </div>
      )}
      {!isQuiet && desk.isEditing ? <EditButtons {...props} /> : null}
      {isQuiet || desk.isEditing ? null : (
        <>
          <LookButtons {...props} />
          <KeyHints canEdit={desk.canEdit} />
        </>
      )}
    </div>
  );
}

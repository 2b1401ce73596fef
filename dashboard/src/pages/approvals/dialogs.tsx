/** What is asked before an approval is decided. */
import { useEffect, useState } from "react";
import { TextArea, TextField } from "../../ui/field.tsx";
import { Strange } from "../../ui/strange.tsx";
import { Ask } from "./ask.tsx";
import { RejectingWords } from "./rejecting.tsx";
import type { Desk } from "./use-desk.ts";
import { useKeptText } from "./use-kept-text.ts";
import { sentence } from "./words.ts";

type Props = { readonly desk: Desk };

export function RejectDialog({ desk }: Props) {
  const [reason, setReason] = useKeptText(desk.approval, "reason");
  const [isFinal, setFinal] = useState(false);
  const { rejecting } = desk.card;
  const canBeFinal = desk.approval.about === "checkpoint" && rejecting !== null && !rejecting.is_last;
  return (
    <Ask
      desk={desk}
      asking="reject"
      title="Reject"
      act="Reject"
      kind="stop"
      isReady={reason.trim() !== "" && desk.mayDecide}
      isBusy={desk.vote.isPending}
      error={desk.vote.error}
      onSend={() => desk.reject(reason.trim(), isFinal)}
    >
      <RejectingWords approval={desk.approval} card={desk.card} />
      <TextArea
        label="Reason"
        hint={desk.card.you.rejection_ends === true ? "Recorded, and told to whoever asked." : "Recorded."}
        required
        maxLength={10_000}
        value={reason}
        onChange={({ target }) => setReason(target.value)}
      />
      {canBeFinal ? (
        <label className="flex min-h-11 items-center gap-3 text-small">
          <input
            type="checkbox"
            className="size-5"
            checked={isFinal}
            onChange={({ target }) => setFinal(target.checked)}
          />
          For good: go back, and do not try again
        </label>
      ) : null}
    </Ask>
  );
}

/** For what cannot be taken back: the word is typed, not pressed. */
export function ConfirmDialog({ desk, edit }: Props & { readonly edit: unknown }) {
  const [typed, setTyped] = useState("");
  const word = desk.card.confirm ?? "";
  const isOpen = desk.asking === "confirm";
  // Whoever went back types it again: it is never one press.
  useEffect(() => {
    if (!isOpen) setTyped("");
  }, [isOpen]);
  return (
    <Ask
      desk={desk}
      asking="confirm"
      title="This cannot be undone"
      act="Approve"
      kind="go"
      isReady={typed.trim() === word && desk.mayApprove}
      isBusy={desk.vote.isPending}
      error={desk.vote.error}
      onSend={() => desk.approve(edit)}
    >
      <p className="text-small text-soft">{sentence(desk.card.effect_words)}</p>
      <TextField
        label={
          <>
            Type{" "}
            <code className="rounded-small bg-sunken px-1.5 py-0.5 font-mono">
              <Strange text={word} />
            </code>{" "}
            to approve
          </>
        }
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
    </Ask>
  );
}

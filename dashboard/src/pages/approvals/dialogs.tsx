/** What is asked before something is done with an approval. */
import { type ReactNode, type SubmitEvent, useState } from "react";
import { useCancel, useDelegate, useExtend, useRevoke, useTakeBack } from "../../api/approvals.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { TextArea, TextField } from "../../ui/field.tsx";
import { Failure } from "../../ui/states.tsx";
import { Strange } from "../../ui/strange.tsx";
import { toast } from "../../ui/toaster.tsx";
import { RejectingWords } from "./rejecting.tsx";
import type { Asking, Desk } from "./use-desk.ts";
import { endWords, sentence } from "./words.ts";

type Props = { readonly desk: Desk };

type AskProps = Props & {
  readonly asking: Exclude<Asking, null>;
  readonly title: string;
  readonly act: string;
  readonly kind?: "go" | "stop" | "main";
  readonly isReady: boolean;
  readonly isBusy: boolean;
  readonly error?: unknown;
  readonly onSend: () => void;
  readonly children: ReactNode;
};

/** What has happened meanwhile, so that it cannot be sent any more. */
function whyOver({ approval, can, seen }: Desk, asking: AskProps["asking"]): string | null {
  if (asking === "revoke") return can("revoke") ? null : endWords(approval);
  if (approval.status !== "pending") return endWords(approval);
  const isDecision = asking === "reject" || asking === "confirm";
  return isDecision && seen.isChanged ? "It has changed since you looked: close this, and look at it." : null;
}

function Over({ why }: { readonly why: string }) {
  return (
    <div role="alert" className="rounded-base bg-hold-wash px-3 py-2 text-small text-hold">
      <p className="font-semibold">
        <Strange text={why} />
      </p>
      <p>What you wrote was not sent.</p>
    </div>
  );
}

function Ask({
  desk,
  asking,
  title,
  act,
  kind = "main",
  isReady,
  isBusy,
  error,
  onSend,
  children,
}: AskProps) {
  const close = () => desk.setAsking(null);
  const over = isBusy ? null : whyOver(desk, asking);
  const send = (event: SubmitEvent) => {
    event.preventDefault();
    if (isReady && !isBusy && over === null) onSend();
  };
  return (
    <Dialog title={title} isOpen={desk.asking === asking} onClose={close}>
      <form onSubmit={send} className="flex flex-col gap-4">
        {children}
        {error === undefined || error === null || over !== null ? null : <Failure error={error} />}
        {over === null ? null : <Over why={over} />}
        <div className="grid auto-cols-fr grid-flow-col gap-3">
          <Button onClick={close}>{over === null ? "Back" : "Close"}</Button>
          {over === null ? (
            <Button type="submit" kind={kind} disabled={!isReady} isBusy={isBusy}>
              {isBusy ? "Sending…" : act}
            </Button>
          ) : null}
        </div>
      </form>
    </Dialog>
  );
}

export function RejectDialog({ desk }: Props) {
  const [reason, setReason] = useState("");
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
        hint="Recorded, and told to whoever asked."
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
  return (
    <Ask
      desk={desk}
      asking="confirm"
      title="This cannot be taken back"
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

const SPANS = [
  [15 * 60, "15 min"],
  [60 * 60, "1 h"],
  [4 * 60 * 60, "4 h"],
  [24 * 60 * 60, "1 day"],
] as const;

export function ExtendDialog({ desk }: Props) {
  const [seconds, setSeconds] = useState<number>(SPANS[1][0]);
  const extend = useExtend(desk.approval.request_id);
  const send = () =>
    extend.mutate(
      { by_seconds: seconds },
      {
        onSuccess: (stands) => {
          // Whoever gives more time has seen that there is more, and nothing else that may have changed meanwhile.
          if (stands.binding === desk.seen.before.binding) desk.seen.accept(stands);
          desk.setAsking(null);
          toast("There is more time.");
        },
      },
    );
  return (
    <Ask
      desk={desk}
      asking="extend"
      title="Give more time"
      act="Give more time"
      isReady
      isBusy={extend.isPending}
      error={extend.error}
      onSend={send}
    >
      <fieldset className="grid grid-cols-2 gap-2 sm:grid-cols-4">
        <legend className="mb-1 text-small font-semibold">How much longer</legend>
        {SPANS.map(([value, title]) => (
          <label
            key={value}
            className="flex min-h-11 items-center justify-center gap-2 rounded-base border border-edge px-3 font-semibold has-checked:border-ink has-checked:bg-sunken"
          >
            <input type="radio" name="span" checked={seconds === value} onChange={() => setSeconds(value)} />
            {title}
          </label>
        ))}
      </fieldset>
    </Ask>
  );
}

export function DelegateDialog({ desk }: Props) {
  const [to, setTo] = useState("");
  const [reason, setReason] = useState("");
  const delegate = useDelegate(desk.approval.request_id);
  const send = () =>
    delegate.mutate(
      { to: to.trim(), reason: reason.trim() },
      {
        onSuccess: () => {
          desk.setAsking(null);
          toast(`${to.trim()} decides in your place.`);
        },
      },
    );
  return (
    <Ask
      desk={desk}
      asking="delegate"
      title="Have somebody else decide"
      act="Hand over"
      isReady={to.trim() !== "" && reason.trim() !== ""}
      isBusy={delegate.isPending}
      error={delegate.error}
      onSend={send}
    >
      <TextField
        label="Who decides in your place"
        autoComplete="off"
        value={to}
        onChange={({ target }) => setTo(target.value)}
      />
      <TextField label="Reason" value={reason} onChange={({ target }) => setReason(target.value)} />
    </Ask>
  );
}

const WORDS = {
  cancel: ["Take the question back", "Nobody is asked any more. It does not run.", "Take it back"],
  revoke: [
    "Take the decision back",
    "It was not used yet. It does not run by this approval.",
    "Take it back",
  ],
  "take-back": [
    "Decide yourself again",
    "Your seat comes back to you, if nobody has decided with it.",
    "Take the seat back",
  ],
} as const;

export function WordDialog({ desk, asking }: Props & { readonly asking: keyof typeof WORDS }) {
  const [reason, setReason] = useState("");
  const id = desk.approval.request_id;
  const deeds = { cancel: useCancel(id), revoke: useRevoke(id), "take-back": useTakeBack(id) };
  const deed = deeds[asking];
  const [title, meaning, act] = WORDS[asking];
  const send = () => deed.mutate({ reason: reason.trim() }, { onSuccess: () => desk.setAsking(null) });
  return (
    <Ask
      desk={desk}
      asking={asking}
      title={title}
      act={act}
      kind="stop"
      isReady={reason.trim() !== ""}
      isBusy={deed.isPending}
      error={deed.error}
      onSend={send}
    >
      <p className="text-small text-soft">{meaning}</p>
      <TextArea label="Reason" value={reason} onChange={({ target }) => setReason(target.value)} />
    </Ask>
  );
}

/** What is asked before something else is done with an approval than to decide it. Loaded when it is asked for. */
import { useState } from "react";
import { useCancel, useDelegate, useExtend, useRevoke, useTakeBack } from "../../api/approvals.ts";
import { TextArea, TextField } from "../../ui/field.tsx";
import { toast } from "../../ui/toaster.tsx";
import { Ask } from "./ask.tsx";
import type { Desk } from "./use-desk.ts";

type Props = { readonly desk: Desk };

const SPANS = [
  [15 * 60, "15 min"],
  [60 * 60, "1 h"],
  [4 * 60 * 60, "4 h"],
  [24 * 60 * 60, "1 day"],
] as const;

function ExtendDialog({ desk }: Props) {
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

function DelegateDialog({ desk }: Props) {
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

function WordDialog({ desk, asking }: Props & { readonly asking: keyof typeof WORDS }) {
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

export function OtherDialogs({ desk }: Props) {
  return (
    <>
      <ExtendDialog desk={desk} />
      <DelegateDialog desk={desk} />
      <WordDialog desk={desk} asking="cancel" />
      <WordDialog desk={desk} asking="revoke" />
      <WordDialog desk={desk} asking="take-back" />
    </>
  );
}

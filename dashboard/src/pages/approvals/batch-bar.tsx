/** Several decided together: each is listed, each is decided on what it says, and each has its own answer. */
import { useState } from "react";
import { useDecideAll } from "../../api/approvals.ts";
import { useSession } from "../../api/session.ts";
import { several } from "../../format/amounts.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { TextArea } from "../../ui/field.tsx";
import { Failure, Loading } from "../../ui/states.tsx";
import { type Batched, batchOf, rejectionWords, type Said, whyAlone, whyLeftOut } from "./batch.ts";
import { BatchRow } from "./batch-row.tsx";
import { DecidingAs } from "./deciding-as.tsx";
import { useBatched } from "./use-batched.ts";
import type { Selection } from "./use-row-cursor.ts";

type DialogProps = {
  readonly ids: readonly string[];
  readonly said: Said;
  readonly onSent: () => void;
  readonly onClose: () => void;
};

type Deed = ReturnType<typeof useDecideAll>;
type AskProps = Omit<DialogProps, "ids"> & { readonly batched: readonly Batched[]; readonly decide: Deed };

/** Where nothing of it can be decided together. */
function NoneTaken({ onClose }: Pick<AskProps, "onClose">) {
  return (
    <>
      <p className="text-soft">Each of these is decided on its own page.</p>
      <Button onClick={onClose}>Back</Button>
    </>
  );
}

/** Before it is sent: a reason, a name, and the two ways out. */
function BatchAsk({ batched, said, decide, onSent, onClose }: AskProps) {
  const [reason, setReason] = useState("");
  const { isOpen } = useSession();
  const batch = batchOf(batched, said, reason.trim());
  const taken = batched.filter((one) => whyLeftOut(one, said) === null);
  const isReady = batch.length > 0 && (said === "approve" || reason.trim() !== "");
  const act = `${said === "approve" ? "Approve" : "Reject"} ${batch.length}`;
  if (taken.length === 0) return <NoneTaken onClose={onClose} />;
  return (
    <>
      {said === "approve" ? null : (
        <TextArea
          label="Reason, for all of them"
          hint={rejectionWords(taken)}
          value={reason}
          onChange={({ target }) => setReason(target.value)}
        />
      )}
      {isOpen ? <DecidingAs /> : null}
      <div className="grid grid-cols-2 gap-3">
        <Button onClick={onClose}>Back</Button>
        <Button
          kind={said === "approve" ? "go" : "stop"}
          disabled={!isReady}
          isBusy={decide.isPending}
          onClick={() => decide.mutate(batch, { onSuccess: onSent })}
        >
          {decide.isPending ? "Sending…" : act}
        </Button>
      </div>
    </>
  );
}

/** What is left out comes last: nobody has to scroll past it to what they decide. What is left out later stays where it was. */
const takenFirst = (batched: readonly Batched[], said: Said): readonly Batched[] =>
  batched.toSorted(
    (one, other) => Number(whyAlone(one.seen, said) !== null) - Number(whyAlone(other.seen, said) !== null),
  );

function BatchSheet({ ids, said, onSent, onClose }: DialogProps) {
  const { batched, isComplete, error: unread } = useBatched(ids);
  const decide = useDecideAll();
  const error = unread ?? decide.error;
  if (!isComplete) return <Loading />;
  const isSent = decide.isPending || decide.isSuccess;
  const sent = new Set(isSent ? decide.variables.map(({ request_id }) => request_id) : []);
  return (
    <div className="flex flex-col gap-4">
      <ul
        aria-label="Each of them"
        aria-live="polite"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard.
        tabIndex={0}
        className="max-h-[45dvh] overflow-y-auto rounded-base border border-line"
      >
        {takenFirst(batched, said).map((one) => {
          const id = one.seen.approval.request_id;
          const leftOut = sent.has(id) ? null : whyLeftOut(one, said);
          return <BatchRow key={id} answer={one.seen} leftOut={leftOut} answers={decide.data} />;
        })}
      </ul>
      {error === null ? null : <Failure error={error} />}
      {decide.data === undefined ? (
        <BatchAsk {...{ said, onSent, onClose, batched, decide }} />
      ) : (
        <Button onClick={onClose}>Close</Button>
      )}
    </div>
  );
}

export function BatchBar({ selection }: { readonly selection: Selection }) {
  const [asking, setAsking] = useState<{ readonly said: Said; readonly ids: readonly string[] } | null>(null);
  const ids = [...selection.ids];
  const close = () => setAsking(null);
  const title =
    asking === null
      ? ""
      : `${asking.said === "approve" ? "Approve" : "Reject"} ${several(asking.ids.length, "approval")}`;
  return (
    <>
      {ids.length === 0 ? null : (
        <section
          aria-label="Selected"
          className="fixed inset-x-0 bottom-[calc(3.5rem+env(safe-area-inset-bottom))] z-10 flex items-center gap-2 border-t border-line bg-surface px-4 py-2 shadow-[0_-6px_20px_rgb(0_0_0/0.08)] md:bottom-4 md:left-1/2 md:w-max md:-translate-x-1/2 md:rounded-large md:border"
        >
          <span className="grow font-semibold md:mr-4">{ids.length} selected</span>
          <Button kind="quiet" className="max-sm:hidden" onClick={selection.clear}>
            None
          </Button>
          <Button icon="cross" onClick={() => setAsking({ said: "reject", ids })}>
            Reject
          </Button>
          <Button kind="go" icon="check" onClick={() => setAsking({ said: "approve", ids })}>
            Approve
          </Button>
        </section>
      )}
      <Dialog title={title} isOpen={asking !== null} onClose={close}>
        {asking === null ? null : <BatchSheet {...asking} onSent={selection.clear} onClose={close} />}
      </Dialog>
    </>
  );
}

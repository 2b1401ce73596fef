/** What a rejection does, before anybody rejects. */
import type { Approval, Card } from "../../api/approvals.ts";
import { Icon } from "../../ui/icon.tsx";
import { Strange } from "../../ui/strange.tsx";
import { notOverWords } from "./words.ts";

type Rejecting = NonNullable<Card["rejecting"]>;

function Tools({ names }: { readonly names: readonly string[] }) {
  return names.map((name, at) => (
    <span key={name}>
      {at === 0 ? "" : ", "}
      <Strange text={name} className="font-mono" />
    </span>
  ));
}

function Way({ rejecting: { is_end, goes_back_to, is_last } }: { readonly rejecting: Rejecting }) {
  if (is_end) return <p>The workflow cannot go back: it ends here, failed.</p>;
  return (
    <p>
      The workflow goes back to{" "}
      {goes_back_to === null ? "its start" : <Strange text={goes_back_to} className="font-semibold" />}
      {is_last ? ", and is not tried again: it fails." : "."}
    </p>
  );
}

function Done({ approval, card }: Props) {
  const { rejecting } = card;
  if (rejecting === null)
    return (
      <p className="text-soft">
        {approval.about === "question"
          ? "The workflow is told that there is no answer, with your reason, and goes on by its own rules."
          : "It does not run. The agent is told so, with your reason."}
      </p>
    );
  return (
    <>
      <Way rejecting={rejecting} />
      {rejecting.undone.length === 0 ? null : (
        <p className="flex gap-2 text-note">
          <Icon name="undo" className="mt-0.5 size-4" />
          <span>
            Taken back: <Tools names={rejecting.undone} />
          </span>
        </p>
      )}
      {rejecting.claimed.length === 0 ? null : (
        <p className="flex gap-2 text-soft">
          <Icon name="warn" className="mt-0.5 size-4" />
          <span>
            Taken back, as the agent says: <Tools names={rejecting.claimed} />
          </span>
        </p>
      )}
      {rejecting.stays.length === 0 ? null : (
        <p className="flex gap-2 font-semibold text-stop">
          <Icon name="warn" className="mt-0.5 size-4" />
          <span>
            Cannot be undone, stays done: <Tools names={rejecting.stays} />
          </span>
        </p>
      )}
    </>
  );
}

type Props = { readonly approval: Approval; readonly card: Card };

export function RejectingWords({ approval, card }: Props) {
  const notYet = notOverWords(card.you.rejection_ends);
  return (
    <div className="flex flex-col gap-2 text-small">
      {notYet === null ? null : (
        <p>
          {notYet} <span className="text-soft">Once it is rejected:</span>
        </p>
      )}
      <Done approval={approval} card={card} />
    </div>
  );
}

/** The frame of what is asked before something is done with an approval. */
import type { ReactNode, SubmitEvent } from "react";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Failure } from "../../ui/states.tsx";
import { Strange } from "../../ui/strange.tsx";
import type { Asking, Desk } from "./use-desk.ts";
import { endWords } from "./words.ts";

type Props = {
  readonly desk: Desk;
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
function whyOver({ approval, can, seen }: Desk, asking: Props["asking"]): string | null {
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

export function Ask({
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
}: Props) {
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

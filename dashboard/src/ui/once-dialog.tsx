/** A dialog that ends with something that is shown once: a key, a secret, a link. Closing it forgets it. */
import { type ReactNode, useId, useRef, useState } from "react";
import { Button } from "./button.tsx";
import { copyText, NOT_COPIED } from "./copy-text.ts";
import { Dialog } from "./dialog.tsx";
import { Icon } from "./icon.tsx";

const COPIED = "Copied.";

export type Shown = { readonly label: string; readonly text: string; readonly note: ReactNode };

function ShownOnce({ shown, onClose }: { readonly shown: Shown; readonly onClose: () => void }) {
  const id = useId();
  const box = useRef<HTMLTextAreaElement>(null);
  const [told, setTold] = useState("");
  const copy = async () => {
    const isCopied = await copyText(shown.text);
    setTold(isCopied ? COPIED : NOT_COPIED);
    if (!isCopied) box.current?.focus();
  };
  return (
    <div className="flex flex-col gap-4">
      <p className="flex items-start gap-2 rounded-base bg-hold-wash p-3 text-small text-hold">
        <Icon name="warn" className="mt-0.5 size-4" />
        <span>
          <strong>It is shown this once and kept nowhere.</strong> Copy it now; after this window is closed
          nobody can read it again.
        </span>
      </p>
      <div className="flex flex-col gap-1">
        <label htmlFor={id} className="text-small font-semibold">
          {shown.label}
        </label>
        <textarea
          id={id}
          ref={box}
          readOnly
          rows={3}
          value={shown.text}
          onFocus={(event) => event.target.select()}
          className="resize-none rounded-base border border-edge bg-sunken p-3 font-mono text-small break-all"
        />
      </div>
      <div className="text-small text-soft">{shown.note}</div>
      <div className="flex flex-wrap items-center justify-end gap-2">
        <span role="status" className={`text-small ${told === COPIED ? "text-go" : "text-stop"}`}>
          {told}
        </span>
        <Button icon={told === COPIED ? "check" : "copy"} onClick={() => void copy()} autoFocus>
          Copy
        </Button>
        <Button kind="main" onClick={onClose}>
          I have it
        </Button>
      </div>
    </div>
  );
}

type Props = {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly children: (show: (shown: Shown) => void) => ReactNode;
};

export function OnceDialog({ title, isOpen, onClose, children }: Props) {
  const [shown, setShown] = useState<Shown | null>(null);
  const close = () => {
    setShown(null);
    onClose();
  };
  return (
    <Dialog title={title} isOpen={isOpen} onClose={close}>
      {shown === null ? children(setShown) : <ShownOnce shown={shown} onClose={close} />}
    </Dialog>
  );
}

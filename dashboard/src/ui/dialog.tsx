/** A question in front of the page. The browser's own: it keeps the focus inside, makes the rest inert and closes by Escape. */
import { type ReactNode, useEffect, useId, useRef } from "react";
import { Button } from "./button.tsx";
import { Strange } from "./strange.tsx";

type Props = {
  /** May hold a name that somebody else gave. */
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
};

/** What one came to fill in; without any, the browser chooses. */
const FIRST = "textarea, select, input:not([type=checkbox], [type=radio])";

export function Dialog({ title, isOpen, onClose, children }: Props) {
  const id = useId();
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = ref.current;
    if (dialog === null || dialog.open === isOpen) return;
    if (!isOpen) return dialog.close();
    dialog.showModal();
    dialog.querySelector<HTMLElement>(FIRST)?.focus();
  }, [isOpen]);
  return (
    <dialog
      ref={ref}
      aria-labelledby={id}
      onClose={onClose}
      className="m-auto w-[min(36rem,calc(100vw-2rem))] rounded-large border border-line bg-surface p-0 text-ink backdrop:bg-[rgb(0_0_0/0.5)]"
    >
      <header className="flex items-center justify-between gap-4 border-b border-line px-5 py-3">
        <h2 id={id} className="text-large font-semibold">
          <Strange text={title} />
        </h2>
        <Button kind="quiet" size="small" icon="cross" aria-label="Close" onClick={onClose} />
      </header>
      <div className="p-5">{isOpen ? children : null}</div>
    </dialog>
  );
}

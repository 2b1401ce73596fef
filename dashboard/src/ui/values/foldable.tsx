/** Text that may be long: its beginning, how much more there is, and all of it at a press. */
import type { ReactNode } from "react";
import { countText } from "../../format/amounts.ts";
import { folded } from "../../format/folded.ts";
import { useFold } from "./folds.tsx";

type Props = { readonly text: string; readonly children: (shown: string) => ReactNode };

export function Foldable({ text, children }: Props) {
  const { shown, more } = folded(text);
  const { isOpen, setOpen } = useFold(more);
  return (
    <div className="min-w-0">
      {children(isOpen ? text : shown)}
      {more === 0 ? null : (
        <button
          type="button"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
          className="mt-1 flex min-h-9 w-full items-center justify-center gap-2 rounded-base border border-dashed border-edge bg-sunken px-3 text-small font-semibold text-soft hover:text-ink"
        >
          {isOpen ? "Fold again" : `${countText(more)} characters more: show all`}
        </button>
      )}
    </div>
  );
}

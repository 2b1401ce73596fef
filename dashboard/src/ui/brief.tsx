/** Text of strangers that may be long, where nobody decides on it: its beginning, and how much more there is. */
import { useState } from "react";
import { countText } from "../format/amounts.ts";
import { Strange } from "./strange.tsx";

const MOST = 300;

export const isBrief = (text: string): boolean => text.length <= MOST;

/** In a row: all of it stands on the page behind the row. */
export function Brief({ text, className }: { readonly text: string; readonly className?: string }) {
  const isLong = !isBrief(text);
  const shown = isLong ? text.slice(0, MOST).toWellFormed() : text;
  return (
    <span className={className}>
      <Strange isProse text={shown} />
      {isLong ? <> … {countText(text.length - MOST)} characters more</> : null}
    </span>
  );
}

/** On a page: all of it at a press. */
export function Unfolding({ text }: { readonly text: string }) {
  const [isOpen, setOpen] = useState(false);
  if (isBrief(text)) return <Strange text={text} as="lines" />;
  return (
    <>
      {isOpen ? <Strange text={text} as="lines" /> : <Brief text={text} />}{" "}
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        className="min-h-6 font-semibold underline underline-offset-3"
      >
        {isOpen ? "fold again" : "show all"}
      </button>
    </>
  );
}

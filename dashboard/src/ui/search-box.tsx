/** Text to look for. It is handed on when somebody has stopped typing for a moment. */
import { type RefObject, useEffect, useRef, useState } from "react";
import { Icon } from "./icon.tsx";

type Props = {
  readonly label: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly box?: RefObject<HTMLInputElement | null>;
  /** The key that leads here. */
  readonly hint?: string;
  readonly className?: string;
};

const PAUSE_MS = 250;

/** What was handed on comes back as the value, and does not write over what was typed since. */
function useTyped(value: string, onChange: Props["onChange"]) {
  const [text, setText] = useState(value);
  const handed = useRef(value);
  useEffect(() => {
    // Somebody went back, or cleared it elsewhere.
    if (value !== handed.current) setText(value);
    handed.current = value;
  }, [value]);
  useEffect(() => {
    const next = text.trim();
    if (next === value) return;
    const timer = window.setTimeout(() => {
      handed.current = next;
      onChange(next);
    }, PAUSE_MS);
    return () => window.clearTimeout(timer);
  }, [text, value, onChange]);
  return [text, setText] as const;
}

export function SearchBox({ label, value, onChange, box, hint, className = "" }: Props) {
  const [text, setText] = useTyped(value, onChange);
  return (
    <label
      className={`flex min-h-11 min-w-0 grow items-center gap-2 rounded-base border border-edge bg-surface px-3 focus-within:outline-2 focus-within:outline-offset-2 ${className}`}
    >
      <Icon name="search" className="size-4 text-faint" />
      <span className="sr-only">{label}</span>
      <input
        ref={box}
        type="search"
        maxLength={200}
        value={text}
        placeholder={label}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={({ key, currentTarget }) => (key === "Escape" ? currentTarget.blur() : undefined)}
        className="min-w-0 grow bg-transparent outline-none placeholder:text-faint"
      />
      {hint === undefined ? null : (
        <span
          aria-hidden="true"
          className="rounded-small border border-line px-1.5 text-tiny text-faint max-md:hidden font-mono"
        >
          {hint}
        </span>
      )}
    </label>
  );
}

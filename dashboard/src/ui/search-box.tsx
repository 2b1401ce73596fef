/** Text to look for. It is handed on when somebody has stopped typing for a moment. */
import { useEffect, useState } from "react";
import { Icon } from "./icon.tsx";

type Props = { readonly label: string; readonly value: string; readonly onChange: (text: string) => void };

const PAUSE_MS = 250;

export function SearchBox({ label, value, onChange }: Props) {
  const [text, setText] = useState(value);
  // Somebody went back, or cleared it elsewhere.
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text.trim() === value) return;
    const timer = window.setTimeout(() => onChange(text.trim()), PAUSE_MS);
    return () => window.clearTimeout(timer);
  }, [text, value, onChange]);
  return (
    <label className="relative block min-w-0 grow">
      <span className="sr-only">{label}</span>
      <Icon
        name="search"
        className="pointer-events-none absolute top-1/2 left-3 size-4 -translate-y-1/2 text-faint"
      />
      <input
        type="search"
        value={text}
        placeholder={label}
        onChange={(event) => setText(event.target.value)}
        className="min-h-11 w-full rounded-base border border-edge bg-surface pr-3 pl-9 text-base text-ink placeholder:text-faint"
      />
    </label>
  );
}

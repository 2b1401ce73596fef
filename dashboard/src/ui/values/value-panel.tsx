/** A value as a readable form or as exact JSON, whichever one wants to read. */
import { type ReactNode, useState } from "react";
import type { Json } from "../../format/json.ts";
import { classes } from "../classes.ts";
import { Panel } from "../panel.tsx";
import { ExactJson } from "./exact-json.tsx";
import { AnyValue } from "./value-view.tsx";

type Way = "form" | "json";
const WAYS: readonly (readonly [Way, string])[] = [
  ["form", "Readable"],
  ["json", "Exact JSON"],
];

function WaySwitch({ way, onChange }: { readonly way: Way; readonly onChange: (way: Way) => void }) {
  return (
    <fieldset className="flex rounded-base bg-sunken p-0.5">
      <legend className="sr-only">Shown as</legend>
      {WAYS.map(([name, title]) => (
        <button
          key={name}
          type="button"
          aria-pressed={way === name}
          onClick={() => onChange(name)}
          className={classes(
            "min-h-8 rounded-small px-2.5 text-small font-semibold",
            way === name ? "bg-surface text-ink shadow-sm" : "text-soft hover:text-ink",
          )}
        >
          {title}
        </button>
      ))}
    </fieldset>
  );
}

type Props = { readonly title: ReactNode; readonly value: Json; readonly lead?: ReactNode };

export function ValuePanel({ title, value, lead }: Props) {
  const [way, setWay] = useState<Way>("form");
  return (
    <Panel title={title} aside={<WaySwitch way={way} onChange={setWay} />}>
      {lead}
      {way === "json" ? (
        <ExactJson value={value} label={`${title}, exact JSON`} />
      ) : (
        <AnyValue value={value} />
      )}
    </Panel>
  );
}

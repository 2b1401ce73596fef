import { classes } from "../classes.ts";

export type Way = "form" | "json";
const WAYS: readonly (readonly [Way, string])[] = [
  ["form", "Readable"],
  ["json", "Exact JSON"],
];

/** In which of the two forms a value is read. */
export function WaySwitch({ way, onChange }: { readonly way: Way; readonly onChange: (way: Way) => void }) {
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

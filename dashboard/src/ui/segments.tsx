/** One of a few, side by side: a group of radio buttons that looks like one control. */
import { useId } from "react";
import { classes } from "./classes.ts";

type Option<Id extends string> = { readonly id: Id; readonly title: string };
type Props<Id extends string> = {
  readonly label: string;
  readonly value: Id;
  readonly options: readonly Option<Id>[];
  readonly onChange: (id: Id) => void;
};

export function Segments<Id extends string>({ label, value, options, onChange }: Props<Id>) {
  const name = useId();
  return (
    <fieldset className="flex w-fit max-w-full flex-wrap gap-1 rounded-base border border-edge bg-sunken p-1">
      <legend className="sr-only">{label}</legend>
      {options.map(({ id, title }) => (
        <label
          key={id}
          className={classes(
            "inline-flex min-h-9 cursor-pointer items-center rounded-small px-3 text-small font-semibold has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-ink",
            id === value ? "bg-surface text-ink" : "text-soft hover:text-ink",
          )}
        >
          <input
            type="radio"
            name={name}
            className="sr-only"
            checked={id === value}
            onChange={() => onChange(id)}
          />
          {title}
        </label>
      ))}
    </fieldset>
  );
}

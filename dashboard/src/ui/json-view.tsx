/** A value as it is stored: exact JSON, folded where it is long. */
import { useId, useState } from "react";
import { countText } from "../format/amounts.ts";
import { Button } from "./button.tsx";
import { classes } from "./classes.ts";
import { SCROLLS } from "./scrolls.ts";
import { Strange } from "./strange.tsx";

type Props = {
  readonly value: unknown;
  /** How many lines are shown before the rest is folded. */
  readonly lines?: number;
  readonly className?: string;
  readonly label?: string;
};

/** A single line of a million characters is folded too. */
const WIDEST = 400;

export function JsonView({ value, lines = 14, className, label = "A value" }: Props) {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const text = JSON.stringify(value, null, 2) ?? "null";
  const all = text.split("\n");
  const isLong = all.length > lines || text.length > lines * WIDEST;
  const shown =
    isOpen || !isLong
      ? text
      : all
          .slice(0, lines)
          .join("\n")
          .slice(0, lines * WIDEST);
  return (
    <div className={classes("min-w-0 overflow-hidden rounded-base border border-line bg-sunken", className)}>
      <section
        id={id}
        aria-label={`${label} as JSON`}
        {...SCROLLS}
        className="max-h-96 overflow-auto px-3 py-2"
      >
        <code className="block font-mono text-tiny leading-relaxed">
          <Strange as="json" text={shown} />
        </code>
      </section>
      {isLong ? (
        <div className="border-t border-line px-1 py-0.5">
          <Button
            kind="quiet"
            size="small"
            aria-expanded={isOpen}
            aria-controls={id}
            onClick={() => setOpen(!isOpen)}
          >
            {isOpen
              ? "Show less"
              : `Show all ${countText(all.length)} lines, ${countText(text.length)} characters`}
          </Button>
        </div>
      ) : null}
    </div>
  );
}

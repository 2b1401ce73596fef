import { classes } from "./classes.ts";
import { statusText, type Tone, toneOf, WASH } from "./tone.ts";

type Props = { readonly status: string; readonly tone?: Tone | undefined; readonly className?: string };

/** A status in its colour and in words: the colour is never all that says it. */
export function Badge({ status, tone = toneOf(status), className }: Props) {
  return (
    <span
      className={classes(
        "inline-flex items-center rounded-small px-1.5 py-0.5 text-tiny font-semibold whitespace-nowrap",
        WASH[tone],
        className,
      )}
    >
      {statusText(status)}
    </span>
  );
}

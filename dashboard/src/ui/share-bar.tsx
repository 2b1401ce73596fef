import { classes } from "./classes.ts";
import { FILL, type Tone } from "./tone.ts";

type Props = { readonly share: number; readonly tone?: Tone; readonly className?: string };

/** How much of a whole, as a small bar beside the figure that says it. */
export function ShareBar({ share, tone = "plain", className }: Props) {
  const width = `${Math.min(1, Math.max(0, share)) * 100}%`;
  return (
    <span
      aria-hidden="true"
      className={classes("block h-1.5 overflow-hidden rounded-full bg-sunken", className)}
    >
      <span className={classes("block h-full rounded-full", FILL[tone])} style={{ width }} />
    </span>
  );
}

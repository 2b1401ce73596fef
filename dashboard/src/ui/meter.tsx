/** How much of something is used: a bar, with its figures in words beside it. */
import { classes } from "./classes.ts";
import { FILL, type Tone } from "./tone.ts";

export type Part = { readonly name: string; readonly share: number; readonly tone: Tone };

const percent = (share: number): number => Math.round(Math.min(1, Math.max(0, share)) * 1000) / 10;

type Props = {
  readonly label: string;
  /** In words: "12 of 50 uses". */
  readonly text: string;
  readonly parts: readonly Part[];
  readonly className?: string;
};

export function Meter({ label, text, parts, className }: Props) {
  return (
    <div className={classes("flex min-w-0 flex-col gap-1", className)}>
      <p className="figures flex items-baseline justify-between gap-3 text-small">
        <span className="text-faint">{label}</span>
        <span className="text-right">{text}</span>
      </p>
      <div aria-hidden="true" className="flex h-2 overflow-hidden rounded-full border border-line bg-sunken">
        {parts.map(({ name, share, tone }) => (
          <span key={name} title={name} className={FILL[tone]} style={{ width: `${percent(share)}%` }} />
        ))}
      </div>
    </div>
  );
}

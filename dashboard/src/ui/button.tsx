import type { ComponentProps, KeyboardEvent } from "react";
import { classes } from "./classes.ts";
import { Icon, type IconName } from "./icon.tsx";

const KINDS = {
  /** The one thing that a page is there for. */
  main: "bg-accent text-on-accent border-transparent hover:opacity-90",
  go: "bg-go text-on-solid border-transparent hover:opacity-90",
  stop: "bg-stop text-on-solid border-transparent hover:opacity-90",
  plain: "bg-surface text-ink border-edge hover:bg-sunken",
  quiet: "bg-transparent text-soft border-transparent hover:bg-sunken hover:text-ink",
} as const;
const SIZES = {
  /** Easily hit with a thumb. */
  base: "min-h-11 px-4 text-base",
  small: "min-h-8 px-2.5 text-small",
} as const;

type Props = ComponentProps<"button"> & {
  readonly kind?: keyof typeof KINDS;
  readonly size?: keyof typeof SIZES;
  readonly icon?: IconName;
  /** What it does is under way. */
  readonly isBusy?: boolean;
};

/** A key that is held presses once. */
function pressOnce(event: KeyboardEvent): void {
  if (event.repeat && (event.key === "Enter" || event.key === " ")) event.preventDefault();
}

export function Button({
  kind = "plain",
  size = "base",
  icon,
  isBusy = false,
  children,
  className,
  ...rest
}: Props) {
  return (
    <button
      type="button"
      onKeyDown={pressOnce}
      {...rest}
      disabled={rest.disabled === true || isBusy}
      aria-busy={isBusy || undefined}
      className={classes(
        "inline-flex items-center justify-center gap-2 rounded-base border font-semibold",
        "transition-opacity disabled:cursor-not-allowed disabled:opacity-50",
        "aria-disabled:cursor-not-allowed aria-disabled:opacity-50",
        KINDS[kind],
        SIZES[size],
        className,
      )}
    >
      {icon === undefined ? null : <Icon name={icon} className={size === "small" ? "size-4" : "size-5"} />}
      {children}
    </button>
  );
}

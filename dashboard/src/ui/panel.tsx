import { type ReactNode, useId } from "react";
import { classes } from "./classes.ts";

type Props = {
  readonly title?: ReactNode;
  /** Stands at the end of the heading's line. */
  readonly aside?: ReactNode;
  readonly children: ReactNode;
  readonly className?: string;
  /** Its content reaches the edges: for lists and tables. */
  readonly isFlush?: boolean;
};

/** One thing on a page, with its heading. */
export function Panel({ title, aside, children, className, isFlush = false }: Props) {
  const id = useId();
  return (
    <section
      aria-labelledby={title === undefined ? undefined : id}
      className={classes(
        "min-w-0 rounded-large border border-line bg-surface [--behind:var(--surface)]",
        className,
      )}
    >
      {title === undefined ? null : (
        <header className="flex min-h-12 flex-wrap items-center justify-between gap-x-4 gap-y-1 border-b border-line px-4 py-2 sm:px-5">
          <h2 id={id} className="text-base font-semibold">
            {title}
          </h2>
          {aside === undefined ? null : <div className="text-small text-soft">{aside}</div>}
        </header>
      )}
      <div className={isFlush ? "" : "p-4 sm:p-5"}>{children}</div>
    </section>
  );
}

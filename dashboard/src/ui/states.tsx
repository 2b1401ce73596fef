/** What a page shows when there is nothing, nothing yet, or something went wrong. */
import { isClientError } from "holdpoint/client";
import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import { Icon, type IconName } from "./icon.tsx";
import { Strange } from "./strange.tsx";

type EmptyProps = {
  readonly icon: IconName;
  readonly title: string;
  readonly children?: ReactNode;
};

export function Empty({ icon, title, children }: EmptyProps) {
  return (
    <div className="flex flex-col items-center gap-2 px-6 py-14 text-center">
      <span className="rounded-full bg-sunken p-3 text-faint">
        <Icon name={icon} />
      </span>
      <p className="font-semibold">{title}</p>
      {children === undefined ? null : <div className="max-w-prose text-small text-soft">{children}</div>}
    </div>
  );
}

const WIDTHS = ["w-5/6", "w-2/3", "w-3/4", "w-1/2", "w-4/5"];

/** The shape of what is on its way. */
export function Loading({ lines = 5 }: { readonly lines?: number }) {
  return (
    <div role="status" aria-label="Loading" className="flex flex-col gap-4 p-5">
      {WIDTHS.slice(0, lines).map((width) => (
        <div key={width} className={`h-4 rounded-small bg-sunken motion-safe:animate-pulse ${width}`} />
      ))}
    </div>
  );
}

function wordsOf(error: unknown): { readonly what: string; readonly data: string; readonly next: string } {
  if (isClientError(error)) return { what: error.what, data: error.data, next: error.next };
  const what = error instanceof Error ? error.message : String(error);
  return { what, data: "", next: "Load the page again; if it stays, look at the server's log." };
}

type FailureProps = { readonly error: unknown; readonly onRetry?: () => void };

/** What was wrong, what happened to the data, what to do next. The sentences may quote what strangers wrote. */
export function Failure({ error, onRetry }: FailureProps) {
  const { what, data, next } = wordsOf(error);
  const correlation = isClientError(error) ? error.correlationId : null;
  return (
    <div
      role="alert"
      className="flex flex-col items-start gap-2 rounded-base bg-stop-wash p-4 text-small text-stop"
    >
      <p className="font-semibold">
        <Strange text={what} as="lines" />
      </p>
      <p>
        <Strange text={`${data} ${next}`.trim()} as="lines" />
      </p>
      {correlation === null ? null : <p className="font-mono text-tiny">in the log: {correlation}</p>}
      {onRetry === undefined ? null : (
        <Button size="small" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}

/** The time that is left, running. */
import { clockText, nearnessOf, shareOver } from "../../format/deadline.ts";
import { exactText, momentText } from "../../format/times.ts";
import { useNow } from "../../live/use-now.ts";
import { classes } from "../../ui/classes.ts";
import { Icon } from "../../ui/icon.tsx";

type Span = { readonly requested_at: string; readonly decide_by: string | null };

export function DeadlineClock({ span }: { readonly span: Span }) {
  const now = useNow();
  const nearness = nearnessOf(span, now);
  if (span.decide_by === null)
    return (
      <p className="flex items-center gap-2 text-small text-soft">
        <Icon name="clock" className="size-4" /> No deadline: it waits until somebody decides.
      </p>
    );
  const isUrgent = nearness !== "far";
  const left = Date.parse(span.decide_by) - now;
  return (
    <div className="flex flex-col gap-1.5">
      <p className={classes("flex flex-wrap items-baseline gap-x-2", isUrgent ? "text-stop" : "text-ink")}>
        <Icon name={isUrgent ? "warn" : "clock"} className="size-4 translate-y-0.5" />
        <time
          dateTime={span.decide_by}
          title={exactText(span.decide_by)}
          className="figures text-large font-semibold whitespace-nowrap"
        >
          {nearness === "over" ? "0:00" : clockText(left)}
        </time>
        <span className="text-small">
          {nearness === "over" ? "its time is over" : `left, until ${momentText(span.decide_by)}`}
        </span>
      </p>
      <div aria-hidden="true" className="h-1 overflow-hidden rounded-full bg-sunken">
        <div
          className={classes("h-full rounded-full", isUrgent ? "bg-stop" : "bg-hold")}
          style={{ width: `${shareOver(span, now) * 100}%` }}
        />
      </div>
    </div>
  );
}

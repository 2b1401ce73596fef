/** How long somebody has yet, in a few words. */
import type { Summary } from "../../api/approvals.ts";
import { nearnessOf } from "../../format/deadline.ts";
import { spanText } from "../../format/times.ts";
import { useNow } from "../../live/use-now.ts";
import { classes } from "../../ui/classes.ts";
import { Icon } from "../../ui/icon.tsx";

type Standing = Pick<Summary, "status" | "requested_at" | "decide_by">;

export function Deadline({ row }: { readonly row: Standing }) {
  const now = useNow();
  if (row.decide_by === null || row.status !== "pending") return null;
  const nearness = nearnessOf(row, now);
  const isUrgent = nearness !== "far";
  return (
    <span
      className={classes(
        "figures flex items-center gap-1 whitespace-nowrap",
        isUrgent ? "font-semibold text-stop" : "text-soft",
      )}
    >
      <Icon name={isUrgent ? "warn" : "clock"} className="size-3.5" />
      {nearness === "over" ? "time is over" : `${spanText(Date.parse(row.decide_by) - now)} left`}
    </span>
  );
}

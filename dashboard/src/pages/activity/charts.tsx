/** The charts, with the library that draws them: loaded when somebody comes to look. */
import type { Day } from "../../api/activity.ts";
import { DECIDED, DONE, REFUSED, REVIEWED, VERDICTS } from "./series.ts";
import { StackedDays } from "./stacked-days.tsx";
import { WaitingTime } from "./waiting-time.tsx";

const DOUBT = DONE.find(({ id }) => id === "in_doubt");

export function Charts({ days }: { readonly days: readonly Day[] }) {
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <div className="min-w-0 lg:col-span-2">
        <StackedDays title="What policy said" days={days} series={VERDICTS} note="verdicts by day" />
      </div>
      <StackedDays title="What people decided" days={days} series={DECIDED} note="approvals by day" />
      <WaitingTime days={days} />
      <StackedDays
        title="Who decided"
        days={days}
        series={REVIEWED}
        mark={REFUSED}
        note="proposed actions by day"
      />
      <StackedDays
        title="What became of it"
        days={days}
        series={DONE}
        {...(DOUBT === undefined ? {} : { loud: DOUBT })}
        note="effects by day"
      />
    </div>
  );
}

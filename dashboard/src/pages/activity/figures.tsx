/** The four figures that somebody wants first. */
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Activity, Day } from "../../api/activity.ts";
import { countText, several } from "../../format/amounts.ts";
import { When } from "../../ui/when.tsx";

const sum = (days: readonly Day[], of: (day: Day) => number): number =>
  days.reduce((total, day) => total + of(day), 0);

function Figure({
  name,
  value,
  children,
}: {
  readonly name: string;
  readonly value: string;
  readonly children: ReactNode;
}) {
  return (
    <div className="flex flex-col gap-1 rounded-large border border-line bg-surface p-4 sm:p-5">
      <dt className="text-small text-soft">{name}</dt>
      <dd className="figures text-figure font-semibold tracking-tight">{value}</dd>
      <dd className="text-small text-soft">{children}</dd>
    </div>
  );
}

const share = (part: number, whole: number): string =>
  whole === 0 ? "–" : `${Math.round((part / whole) * 100)} %`;

export function Figures({ activity: { days, now } }: { readonly activity: Activity }) {
  const actions = sum(days, (day) => day.actions);
  const byPolicy = sum(days, (day) => day.by_policy);
  const asked = sum(days, (day) => day.asked);
  const decided = sum(days, (day) => day.approved + day.modified + day.rejected);
  const rejected = sum(days, (day) => day.rejected);
  return (
    <dl className="grid grid-cols-2 gap-3 lg:grid-cols-4 lg:gap-4">
      <Figure name="Proposed by agents" value={countText(actions)}>
        {actions === 0 ? "nothing yet" : `${share(byPolicy, actions)} decided by policy alone`}
      </Figure>
      <Figure name="Asked of people" value={countText(asked)}>
        {decided === 0
          ? "none decided"
          : `${share(rejected, decided)} of ${countText(decided)} decided were rejected`}
      </Figure>
      <Figure name="Waiting now" value={countText(now.pending)}>
        {now.oldest_pending_at === null ? (
          "nobody waits"
        ) : (
          <Link to="/approvals" className="underline underline-offset-3">
            the oldest <When at={now.oldest_pending_at} />
          </Link>
        )}
      </Figure>
      <Figure name="In doubt now" value={countText(now.in_doubt)}>
        {now.in_doubt === 0 ? (
          "of everything sent it is known what became of it"
        ) : (
          <Link to="/in-doubt" className="font-semibold text-doubt underline underline-offset-3">
            {several(now.in_doubt, "effect")} to find out about
          </Link>
        )}
      </Figure>
    </dl>
  );
}

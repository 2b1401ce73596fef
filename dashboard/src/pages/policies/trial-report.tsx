/** What a policy would have said to everything that was recorded. */
import { countText, several } from "../../format/amounts.ts";
import { Badge } from "../../ui/badge.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Meter } from "../../ui/meter.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Empty } from "../../ui/states.tsx";
import { Strange } from "../../ui/strange.tsx";
import { ChangedList } from "./changed-list.tsx";
import type { Report } from "./policy-queries.ts";
import { trialFigures, verdictTone } from "./trial-figures.ts";
import { VerdictFlow } from "./verdict-flow.tsx";

function ChangeRows({
  change: { from, to, count, sums },
}: {
  readonly change: Report["transitions"][number];
}) {
  return (
    <>
      <tr className="border-t border-line">
        <td className="py-1.5 pr-3">
          <Badge status={from} tone={verdictTone(from)} />
        </td>
        <td className="py-1.5 pr-3">
          <Badge status={to} tone={verdictTone(to)} />
        </td>
        <td className="figures py-1.5 text-right font-semibold">{countText(count)}</td>
      </tr>
      {sums.map((sum) => (
        <tr key={sum}>
          <td colSpan={3} className="figures pb-1.5 text-soft">
            <Strange text={sum} />
          </td>
        </tr>
      ))}
    </>
  );
}

function ChangesTable({ transitions }: Pick<Report, "transitions">) {
  return (
    <table className="w-full text-left text-small">
      <thead className="text-tiny text-faint">
        <tr>
          <th className="py-1.5 pr-3 font-normal">was</th>
          <th className="py-1.5 pr-3 font-normal">would be</th>
          <th className="py-1.5 text-right font-normal">actions</th>
        </tr>
      </thead>
      <tbody>
        {transitions.map((change) => (
          <ChangeRows key={`${change.from} ${change.to}`} change={change} />
        ))}
      </tbody>
    </table>
  );
}

function Changes({ report }: { readonly report: Report }) {
  if (report.changed === 0)
    return (
      <Empty icon="check" title="Nothing would have been decided otherwise">
        {several(report.actions, "recorded action")} would get the same verdict by this text.
      </Empty>
    );
  return (
    <div className="grid items-center gap-x-8 gap-y-2 md:grid-cols-2">
      <VerdictFlow transitions={report.transitions} />
      <ChangesTable transitions={report.transitions} />
    </div>
  );
}

function Dangers({ count }: { readonly count: number }) {
  if (count === 0) return null;
  return (
    <p className="mt-3 flex items-start gap-2 rounded-base bg-stop-wash p-3 text-small font-semibold text-stop">
      <Icon name="warn" className="mt-0.5 size-4" />
      {several(count, "action")} that people rejected or changed would run without asking anybody.
    </p>
  );
}

export function TrialReport({ report }: { readonly report: Report }) {
  const { actions, same, changed, unknown, dangers } = trialFigures(report);
  const whole = Math.max(1, actions);
  return (
    <div className="flex flex-col gap-4">
      <Panel title="What would be different" aside={several(actions, "recorded action")}>
        <Meter
          label={`${countText(changed)} would be decided otherwise`}
          text={`${countText(same)} the same${unknown === 0 ? "" : `, ${countText(unknown)} were not judged`}`}
          parts={[
            { name: "otherwise", share: changed / whole, tone: "hold" },
            { name: "not judged", share: unknown / whole, tone: "doubt" },
          ]}
          className="mb-2"
        />
        <Dangers count={dangers} />
        <Changes report={report} />
      </Panel>
      <ChangedList report={report} />
    </div>
  );
}

/** A back-test under way, and what it found. */
import { useQuery } from "@tanstack/react-query";
import { countText } from "../../format/amounts.ts";
import { Asked } from "../../ui/asked.tsx";
import { Meter } from "../../ui/meter.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Strange } from "../../ui/strange.tsx";
import { type Trial, trialQuery } from "./policy-queries.ts";
import { TrialReport } from "./trial-report.tsx";

function Running({ trial: { read, of } }: { readonly trial: Trial }) {
  return (
    <Panel title="The journal is read">
      <div role="status">
        <Meter
          label="Entries of the journal"
          text={`${countText(read)} of ${countText(of)}`}
          parts={[{ name: "read", share: of === 0 ? 0 : read / of, tone: "note" }]}
        />
      </div>
      <p className="mt-3 text-small text-soft">
        Nothing is changed by this. You may leave: what it finds is kept at the server for an hour, under this
        address.
      </p>
    </Panel>
  );
}

function Shown({ trial }: { readonly trial: Trial }) {
  if (trial.state === "running") return <Running trial={trial} />;
  if (trial.report !== null) return <TrialReport report={trial.report} />;
  return (
    <Panel title="It came to no end">
      <p role="alert" className="text-small text-stop">
        <Strange text={trial.fault ?? "The server does not say why."} />
      </p>
    </Panel>
  );
}

export function TrialRun({ id }: { readonly id: string }) {
  return <Asked query={useQuery(trialQuery(id))}>{(trial) => <Shown trial={trial} />}</Asked>;
}

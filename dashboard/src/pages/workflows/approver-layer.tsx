import { JsonView } from "../../ui/json-view.tsx";
import { ShareBar } from "../../ui/share-bar.tsx";
import { Strange } from "../../ui/strange.tsx";
import type { Approver } from "./snapshot-layers.ts";

/** What people were shown first; all of it in the agent's own words. */
export function ApproverLayer({ layer }: { readonly layer: Approver }) {
  const { summary, decisionNeeded, recommendation, confidence, rest } = layer;
  return (
    <div className="flex flex-col gap-3">
      <p className="text-tiny font-semibold text-faint">in the agent's own words</p>
      {summary === null ? null : <Strange as="lines" text={summary} className="block text-large" />}
      {decisionNeeded === null ? null : (
        <Strange as="lines" text={decisionNeeded} className="block text-soft" />
      )}
      {recommendation === null && confidence === null ? null : (
        <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-small">
          {recommendation === null ? null : (
            <span>
              it recommends <Strange isProse text={recommendation} className="font-semibold" />
            </span>
          )}
          {confidence === null ? null : (
            <span className="flex items-center gap-2">
              confidence <span className="figures font-semibold">{Math.round(confidence * 100)} %</span>
              <ShareBar share={confidence} className="w-24" />
            </span>
          )}
        </p>
      )}
      {rest === null ? null : <JsonView value={rest} label="What else was shown" />}
    </div>
  );
}

/** What the tool itself shows of the call, and how the agent would take it back. Both are part of what is approved. */

import type { Approval } from "../../api/approvals.ts";
import { jsonOf } from "../../format/json.ts";
import { Panel } from "../../ui/panel.tsx";
import { Strange } from "../../ui/strange.tsx";
import { ValuePanel } from "../../ui/values/value-panel.tsx";
import { AnyValue } from "../../ui/values/value-view.tsx";

export function Preview({ approval }: { readonly approval: Approval }) {
  const preview = jsonOf(approval.preview);
  if (preview === null) return null;
  const lead = (
    <p className="mb-3 text-small text-soft">
      Computed by the tool, and again before it starts: if it has changed by then, people are asked again.
    </p>
  );
  return <ValuePanel title="What the tool shows of it" value={preview} lead={lead} />;
}

export function Undo({ approval: { undo } }: { readonly approval: Approval }) {
  if (undo === null) return null;
  return (
    <Panel title="How it would be taken back" aside="as the agent says">
      <p className="mb-2 text-small">
        By <Strange text={undo.tool} className="font-mono" />, with:
      </p>
      <AnyValue value={jsonOf(undo.args)} />
    </Panel>
  );
}

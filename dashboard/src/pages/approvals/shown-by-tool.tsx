/** What the tool itself shows of the call, and how the agent would take it back. Both are part of what is approved. */
import type { Approval } from "../../api/approvals.ts";
import { type Json, jsonOf } from "../../format/json.ts";
import { Badge } from "../../ui/badge.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Strange } from "../../ui/strange.tsx";
import { ValuePanel } from "../../ui/values/value-panel.tsx";
import { AnyValue } from "../../ui/values/value-view.tsx";

/** Whoever reads it does not take the text of a failure for what the call would do. */
function FailedPreview({ why }: { readonly why: Json }) {
  return (
    <Panel
      title="The tool's preview failed"
      aside={<Badge status="failed" tone="stop" />}
      className="border-stop"
    >
      <div className="flex gap-2 rounded-base bg-stop-wash px-3 py-2 text-small text-stop">
        <Icon name="warn" className="mt-0.5 size-4" />
        <div className="flex min-w-0 grow flex-col gap-1">
          <p className="font-semibold">Nothing is known about what it would do.</p>
          {typeof why === "string" ? <Strange text={why} as="lines" /> : <AnyValue value={why} />}
        </div>
      </div>
      <p className="mt-3 text-small text-soft">
        It is computed again before it starts: if it works by then, people are asked again.
      </p>
    </Panel>
  );
}

export function Preview({ approval }: { readonly approval: Approval }) {
  if (approval.preview === undefined) return null;
  const preview = jsonOf(approval.preview.value);
  if (approval.preview.failed) return <FailedPreview why={preview} />;
  const lead = (
    <p className="mb-3 text-small text-soft">
      Computed by the tool, and again before it starts: if it has changed by then, people are asked again.
    </p>
  );
  return <ValuePanel title="What the tool shows of it" value={preview} lead={lead} />;
}

export function Undo({ approval: { undo } }: { readonly approval: Approval }) {
  if (undo === undefined) return null;
  return (
    <Panel title="How it would be undone" aside="as the agent says, not checked">
      <p className="mb-2 text-small">
        By <Strange text={undo.tool} className="font-mono" />, with:
      </p>
      <AnyValue value={jsonOf(undo.args)} />
    </Panel>
  );
}

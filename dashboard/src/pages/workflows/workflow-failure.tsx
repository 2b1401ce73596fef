import type { Workflow } from "../../api/workflows.ts";
import { Unfolding } from "../../ui/brief.tsx";
import { Icon } from "../../ui/icon.tsx";
import { JsonView } from "../../ui/json-view.tsx";
import { Principals } from "../../ui/principals.tsx";
import { statusText } from "../../ui/tone.ts";

/** Why it failed, and what was left behind. */
export function WorkflowFailure({ workflow }: { readonly workflow: Workflow }) {
  const { failure, error_message: reason } = workflow;
  if (failure === null) return null;
  return (
    <div className="flex flex-col gap-2 rounded-base bg-stop-wash px-4 py-3 text-small text-stop">
      <div className="flex gap-3">
        <Icon name="warn" />
        <div className="min-w-0">
          <span className="font-semibold">{statusText(failure.code)}</span>, by{" "}
          <Principals of={[failure.by]} />
          {reason === null ? null : (
            <>
              : <Unfolding text={reason} />
            </>
          )}
        </div>
      </div>
      {failure.report === null ? null : (
        <JsonView
          value={failure.report}
          label="What was undone, what was not, and what cannot be"
          className="text-ink"
        />
      )}
    </div>
  );
}

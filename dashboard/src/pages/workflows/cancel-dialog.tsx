import { client } from "../../api/client.ts";
import { byOf, useSession } from "../../api/session.ts";
import type { Workflow } from "../../api/workflows.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { ReasonForm } from "../../ui/reason-form.tsx";
import { Strange } from "../../ui/strange.tsx";
import { useOperation } from "./use-operation.ts";

type Props = { readonly workflow: Workflow; readonly isOpen: boolean; readonly onClose: () => void };

export function CancelDialog({ workflow, isOpen, onClose }: Props) {
  const session = useSession();
  const cancel = useOperation({
    act: (reason: string) => client.workflows.cancel(workflow.workflow_id, { reason, ...byOf(session) }),
    done: "The workflow is cancelled",
    onDone: onClose,
  });
  return (
    <Dialog title="Cancel this workflow" isOpen={isOpen} onClose={onClose}>
      <ReasonForm deed={cancel} submit="Cancel it" kind="stop" onClose={onClose}>
        <div className="flex flex-col gap-2 text-soft">
          <p>
            <Strange text={workflow.name} className="font-semibold text-ink" /> ends as failed, for good.
          </p>
          <ul className="list-disc pl-5">
            <li>What was done stays done: nothing is taken back. To undo it, send it back instead.</li>
            <li>What waits for people is withdrawn.</li>
            <li>An effect that is under way ends, and its outcome is recorded.</li>
          </ul>
        </div>
      </ReasonForm>
    </Dialog>
  );
}

import { client } from "../../api/client.ts";
import { byOf, useSession } from "../../api/session.ts";
import type { Workflow } from "../../api/workflows.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { ReasonForm } from "../../ui/reason-form.tsx";
import { useOperation } from "./use-operation.ts";

type Props = {
  readonly workflow: Workflow;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly isStopped: boolean;
};

const STOPS = [
  "From now on no new effect of it starts, nor of the workflows that it began.",
  "What was sent already is not called back; its outcome is recorded.",
  "It does not fail: its calls are held, and it goes on when you let it.",
];
const RELEASES = [
  "What was held starts by itself within seconds.",
  "Everything is checked again before it starts.",
];

export function StopDialog({ workflow, isOpen, onClose, isStopped }: Props) {
  const session = useSession();
  const { workflow_id } = workflow;
  const turn = useOperation({
    act: (reason: string) => {
      const word = { reason, workflow_id, ...byOf(session) };
      return isStopped ? client.killSwitch.resume(word) : client.killSwitch.pause(word);
    },
    done: isStopped ? "It may go on" : "Its effects are stopped",
    onDone: onClose,
  });
  return (
    <Dialog title={isStopped ? "Let it go on" : "Stop its effects"} isOpen={isOpen} onClose={onClose}>
      <ReasonForm
        deed={turn}
        submit={isStopped ? "Let it go on" : "Stop its effects"}
        kind={isStopped ? "main" : "stop"}
        onClose={onClose}
      >
        <ul className="list-disc pl-5 text-soft">
          {(isStopped ? RELEASES : STOPS).map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      </ReasonForm>
    </Dialog>
  );
}

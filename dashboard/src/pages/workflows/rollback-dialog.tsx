/** Sending a workflow back: where to, what comes then, and what that does to each of its calls. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { visible } from "../../../../src/kernel/text.ts";
import { client } from "../../api/client.ts";
import { byOf, useSession } from "../../api/session.ts";
import { outlookQuery, type RollbackTarget, type Workflow } from "../../api/workflows.ts";
import { momentText } from "../../format/times.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Choice } from "../../ui/field.tsx";
import { ReasonForm } from "../../ui/reason-form.tsx";
import { Failure, Loading } from "../../ui/states.tsx";
import { statusText } from "../../ui/tone.ts";
import { RollbackReach } from "./rollback-reach.tsx";
import { useOperation } from "./use-operation.ts";

type Props = { readonly workflow: Workflow; readonly isOpen: boolean; readonly onClose: () => void };
type Form = {
  readonly workflow: Workflow;
  readonly targets: readonly RollbackTarget[];
  readonly onClose: () => void;
};
type After = "again" | "fail";

const titleOf = ({ checkpoint, at }: RollbackTarget): string =>
  checkpoint === null ? "the start" : `${checkpoint}, ${momentText(at)}`;

function RollbackForm({ workflow, targets, onClose }: Form) {
  const session = useSession();
  const [to, setTo] = useState(targets[0]?.to ?? "start");
  const [after, setAfter] = useState<After>("again");
  const target = targets.find((one) => one.to === to);
  const back = useOperation({
    act: (reason: string) =>
      client.workflows.rollback(workflow.workflow_id, { reason, to, after, ...byOf(session) }),
    done: "The workflow goes back",
    onDone: onClose,
  });
  return (
    <ReasonForm
      deed={back}
      submit={after === "again" ? "Send it back" : "Send it back and end it"}
      kind="stop"
      onClose={onClose}
      hint="The next attempt is told, and it stands in the journal, with your name."
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <Choice label="Back to" value={to} onChange={(event) => setTo(event.target.value)}>
          {targets.map((one) => (
            <option key={one.to} value={one.to}>
              {visible(titleOf(one))}
            </option>
          ))}
        </Choice>
        <Choice
          label="And then"
          value={after}
          onChange={(event) => setAfter(event.target.value === "fail" ? "fail" : "again")}
        >
          <option value="again">try again from there</option>
          <option value="fail">end it as failed</option>
        </Choice>
      </div>
      {target === undefined ? null : <RollbackReach calls={target.calls} />}
    </ReasonForm>
  );
}

function Body({ workflow, onClose }: Omit<Props, "isOpen">) {
  const { data, error, refetch } = useQuery({ ...outlookQuery(workflow.workflow_id), staleTime: 0 });
  if (error !== null) return <Failure error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading lines={4} />;
  if (data.why_not !== null)
    return <p className="text-soft">It cannot be sent back now: {statusText(data.why_not)}.</p>;
  return <RollbackForm workflow={workflow} targets={data.targets} onClose={onClose} />;
}

export function RollbackDialog({ workflow, isOpen, onClose }: Props) {
  return (
    <Dialog title="Send this workflow back" isOpen={isOpen} onClose={onClose}>
      <Body workflow={workflow} onClose={onClose} />
    </Dialog>
  );
}

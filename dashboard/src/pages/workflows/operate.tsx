/** What a person may do to a workflow; the server has the last word on whether they may. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { may, useSession } from "../../api/session.ts";
import { type Workflow, workflowSwitchQuery } from "../../api/workflows.ts";
import { Button } from "../../ui/button.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Principals } from "../../ui/principals.tsx";
import { Strange } from "../../ui/strange.tsx";
import { CancelDialog } from "./cancel-dialog.tsx";
import { RollbackDialog } from "./rollback-dialog.tsx";
import { isOver } from "./status-words.ts";
import { StopDialog } from "./stop-dialog.tsx";

/** What the dialog is about stays what it was when it was opened, whatever others do meanwhile. */
type Open = "cancel" | "rollback" | "stop" | "release" | null;

export function Operate({ workflow }: { readonly workflow: Workflow }) {
  const session = useSession();
  const [open, setOpen] = useState<Open>(null);
  const { data: own } = useQuery({
    ...workflowSwitchQuery(workflow.workflow_id),
    enabled: may(session, "switch:read"),
  });
  const isStopped = own?.paused === true;
  const close = () => setOpen(null);
  const given = { workflow, onClose: close };
  if (isOver(workflow.status) && !isStopped) return null;
  return (
    <div className="flex flex-wrap gap-2">
      {may(session, "workflows:write") && !isOver(workflow.status) ? (
        <>
          <Button size="small" icon="undo" onClick={() => setOpen("rollback")}>
            Send back
          </Button>
          <Button size="small" icon="cross" onClick={() => setOpen("cancel")}>
            Cancel it
          </Button>
        </>
      ) : null}
      {may(session, "switch:write") ? (
        <Button
          size="small"
          icon={isStopped ? "play" : "stop"}
          onClick={() => setOpen(isStopped ? "release" : "stop")}
        >
          {isStopped ? "Let it go on" : "Stop its effects"}
        </Button>
      ) : null}
      <CancelDialog {...given} isOpen={open === "cancel"} />
      <RollbackDialog {...given} isOpen={open === "rollback"} />
      <StopDialog {...given} isOpen={open === "stop" || open === "release"} isStopped={open === "release"} />
    </div>
  );
}

/** While its own kill switch is on. */
export function StoppedNote({ id }: { readonly id: string }) {
  const session = useSession();
  const { data } = useQuery({ ...workflowSwitchQuery(id), enabled: may(session, "switch:read") });
  if (data?.paused !== true) return null;
  return (
    <p className="flex flex-wrap items-center gap-x-2 rounded-base bg-stop-wash px-3 py-2 text-small text-stop">
      <Icon name="stop" className="size-4" />
      <span>
        Stopped by <Principals of={data.by === null ? [] : [data.by]} />: no new effect of it starts.{" "}
        <Strange isProse text={data.reason ?? ""} />
      </span>
    </p>
  );
}

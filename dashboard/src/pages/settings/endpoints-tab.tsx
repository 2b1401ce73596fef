/** Where the outside is told what happens, and what was sent there. */
import { useQuery } from "@tanstack/react-query";
import { may, useSession } from "../../api/session.ts";
import { Asked } from "../../ui/asked.tsx";
import { DialogButton } from "../../ui/dialog-button.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Empty } from "../../ui/states.tsx";
import { AddEndpoint } from "./add-endpoint.tsx";
import { EndpointRow } from "./endpoint-row.tsx";
import { endpointsQuery } from "./message-queries.ts";
import { Messages } from "./messages.tsx";

function AddButton() {
  return (
    <DialogButton label="Add an endpoint" icon="bell" title="Add an endpoint">
      {(dialogue) => <AddEndpoint {...dialogue} />}
    </DialogButton>
  );
}

export function EndpointsTab() {
  const endpoints = useQuery(endpointsQuery);
  const canWrite = may(useSession(), "endpoints:write");
  return (
    <div className="flex flex-col gap-4">
      <Panel
        isFlush
        title="Endpoints"
        aside={canWrite ? <AddButton /> : "to change them takes endpoints:write"}
      >
        <Asked query={endpoints}>
          {(all) => {
            const kept = all.filter(({ status }) => status !== "removed");
            if (kept.length === 0)
              return (
                <Empty icon="bell" title="Nobody outside is told yet">
                  A webhook, people by mail, or a chat hear of approvals, doubts and alerts as they happen.
                </Empty>
              );
            return (
              <ul className="divide-y divide-line">
                {kept.map((endpoint) => (
                  <EndpointRow key={endpoint.endpoint_id} of={endpoint} />
                ))}
              </ul>
            );
          }}
        </Asked>
      </Panel>
      <Messages />
    </div>
  );
}

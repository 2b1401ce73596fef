/** The server that this desk is of. */
import { useQuery } from "@tanstack/react-query";
import { client } from "../../api/client.ts";
import { useConnection } from "../../live/use-connection.ts";
import { Asked } from "../../ui/asked.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Facts } from "../../ui/facts.tsx";
import { Panel } from "../../ui/panel.tsx";

const healthQuery = { queryKey: ["server", "health"], queryFn: () => client.server.health() };
const readyQuery = { queryKey: ["server", "ready"], queryFn: () => client.server.ready(), retry: false };

function StoreState() {
  const ready = useQuery(readyQuery);
  if (ready.isPending) return <>asking …</>;
  return ready.isError ? (
    <Badge status="does not answer" tone="stop" />
  ) : (
    <Badge status="answers" tone="go" />
  );
}

export function ServerTab() {
  const health = useQuery(healthQuery);
  const connection = useConnection();
  return (
    <Panel title="Server">
      <Asked query={health} lines={3}>
        {({ service, version, status }) => (
          <Facts
            facts={[
              { name: "Version", value: `${service} ${version}` },
              { name: "Address", value: <code className="font-mono">{client.address}</code> },
              { name: "Server", value: <Badge status={status} tone="go" /> },
              { name: "Its store", value: <StoreState /> },
              {
                name: "Live events",
                value: <Badge status={connection} tone={connection === "live" ? "go" : "hold"} />,
              },
              {
                name: "Reference",
                value: (
                  <a href="/docs" className="underline">
                    every route of the API
                  </a>
                ),
              },
            ]}
          />
        )}
      </Asked>
    </Panel>
  );
}

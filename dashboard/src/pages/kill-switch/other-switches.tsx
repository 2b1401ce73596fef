/** The switches of single agents and services, and of one workflow by its id. */
import { useInfiniteQuery, useQueries, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { keysQuery, latelyQuery } from "../../api/agents.ts";
import { may, nameOf, useSession } from "../../api/session.ts";
import { type SwitchState, switchOfQuery, type Whose } from "../../api/switch.ts";
import { Asked } from "../../ui/asked.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { TextField } from "../../ui/field.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Segments } from "../../ui/segments.tsx";
import { Strange } from "../../ui/strange.tsx";
import { TurnSwitch } from "../../ui/turn-switch.tsx";
import { When } from "../../ui/when.tsx";
import { principalsOf } from "../agents/principals.ts";

/** Each is a question of its own to the server. */
const MOST = 60;

function useAgents(): readonly string[] {
  const session = useSession();
  const keys = useInfiniteQuery({ ...keysQuery, enabled: may(session, "keys:read") }).data;
  const lately = useQuery({ ...latelyQuery, enabled: may(session, "approvals:read") }).data;
  const all = principalsOf(keys?.pages.flatMap((page) => page.keys) ?? [], lately ?? []);
  return all.filter(({ kind }) => kind !== "person").map(({ principal }) => principal);
}

type RowProps = { readonly whose: Whose; readonly name: string; readonly state: SwitchState };

function SwitchRow({ whose, name, state }: RowProps) {
  const canTurn = may(useSession(), "switch:write");
  return (
    <li className="flex items-center gap-x-4 px-4 py-2.5 sm:px-5">
      <div className="min-w-0 grow">
        <p className="flex flex-wrap items-center gap-2">
          <Strange text={name} className="font-mono text-small font-semibold" />
          {state.stopped ? <Badge status="stopped" tone="stop" /> : <Badge status="may act" tone="go" />}
        </p>
        {state.stopped && state.at !== null ? (
          <p className="text-small text-soft">
            by <Strange text={nameOf(state.by)} /> <When at={state.at} />:{" "}
            <Strange isProse text={state.reason ?? ""} />
          </p>
        ) : null}
      </div>
      {canTurn ? <TurnSwitch whose={whose} name={name} isStopped={state.stopped} /> : null}
    </li>
  );
}

export function AgentSwitches() {
  const agents = useAgents().slice(0, MOST);
  const states = useQueries({ queries: agents.map((agent) => switchOfQuery({ agent })) });
  const rows = agents.flatMap((name, at) => {
    const state = states[at]?.data;
    return state === undefined ? [] : [{ name, state }];
  });
  if (rows.length === 0) return null;
  const stoppedFirst = rows.toSorted((one, other) => Number(other.state.stopped) - Number(one.state.stopped));
  const stopped = rows.filter(({ state }) => state.stopped).length;
  return (
    <Panel
      isFlush
      title="Agents and services"
      aside={stopped === 0 ? "none is stopped" : `${stopped} stopped`}
    >
      <ul className="divide-y divide-line">
        {stoppedFirst.map(({ name, state }) => (
          <SwitchRow key={name} whose={{ agent: name }} name={name} state={state} />
        ))}
      </ul>
    </Panel>
  );
}

function FoundSwitch({ whose, name }: Omit<RowProps, "state">) {
  const query = useQuery(switchOfQuery(whose));
  return (
    <Asked query={query} lines={1}>
      {(state) => (
        <ul className="border-t border-line">
          <SwitchRow {...{ whose, name, state }} />
        </ul>
      )}
    </Asked>
  );
}

export function OneSwitch() {
  const [of, setOf] = useState<"workflow" | "agent">("workflow");
  const [typed, setTyped] = useState("");
  const [name, setName] = useState("");
  const whose: Whose = of === "workflow" ? { workflow_id: name } : { agent: name };
  const choose = (next: "workflow" | "agent") => {
    setOf(next);
    setName("");
  };
  return (
    <Panel isFlush title="One workflow, or an agent by name">
      <form
        className="flex flex-col gap-3 p-4 sm:px-5"
        onSubmit={(event) => {
          event.preventDefault();
          setName(typed.trim());
        }}
      >
        <Segments
          label="Whose switch"
          value={of}
          options={[
            { id: "workflow", title: "Workflow" },
            { id: "agent", title: "Agent" },
          ]}
          onChange={choose}
        />
        <div className="flex items-end gap-3">
          <TextField
            label={of === "workflow" ? "Id of the workflow" : "Name of the agent"}
            placeholder={of === "workflow" ? "wf_…" : "mailer"}
            value={typed}
            spellCheck={false}
            className="grow"
            onChange={(event) => setTyped(event.target.value)}
          />
          <Button type="submit" disabled={typed.trim() === ""}>
            Look
          </Button>
        </div>
      </form>
      {name === "" ? null : <FoundSwitch key={`${of}${name}`} whose={whose} name={name} />}
    </Panel>
  );
}

/** The switches of single agents, services and workflows: those that are on, whoever may act, and one by its name. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { keysQuery, latelyQuery } from "../../api/agents.ts";
import { may, nameOf, useSession } from "../../api/session.ts";
import { type StopFacts, stopsQuery, switchOfQuery, type Whose } from "../../api/switch.ts";
import { countText } from "../../format/amounts.ts";
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
import { type Row, switchRows } from "./switch-rows.ts";

const FIRST = 60;

function useAgents(): readonly string[] {
  const session = useSession();
  const keys = useInfiniteQuery({ ...keysQuery, enabled: may(session, "keys:read") }).data;
  const lately = useQuery({ ...latelyQuery, enabled: may(session, "approvals:read") }).data;
  const all = principalsOf(keys?.pages.flatMap((page) => page.keys) ?? [], lately ?? []);
  return all.filter(({ kind }) => kind !== "person").map(({ principal }) => principal);
}

type RowProps = { readonly whose: Whose; readonly name: string; readonly stop: StopFacts | null };

function Name({ name, whose: { workflow_id: id } }: Pick<RowProps, "name" | "whose">) {
  const text = <Strange text={name} className="font-mono text-small font-semibold" />;
  if (id === undefined) return text;
  return (
    <Link to="/workflows/$id" params={{ id }} className="min-w-0 break-all underline underline-offset-3">
      {text}
    </Link>
  );
}

function SwitchRow({ whose, name, stop }: RowProps) {
  const canTurn = may(useSession(), "switch:write");
  return (
    <li className="flex items-center gap-x-4 px-4 py-2.5 sm:px-5">
      <div className="min-w-0 grow">
        <p className="flex flex-wrap items-center gap-2">
          <Name name={name} whose={whose} />
          {stop === null ? <Badge status="may act" tone="go" /> : <Badge status="stopped" tone="stop" />}
        </p>
        {stop === null ? null : (
          <p className="text-small text-soft">
            by <Strange text={nameOf(stop.by)} /> <When at={stop.at} />:{" "}
            <Strange isProse text={stop.reason} />
          </p>
        )}
      </div>
      {canTurn ? <TurnSwitch whose={whose} name={name} isStopped={stop !== null} /> : null}
    </li>
  );
}

function Rows({ rows }: { readonly rows: readonly Row[] }) {
  const [isAll, setAll] = useState(false);
  const shown = isAll ? rows : rows.slice(0, FIRST);
  if (rows.length === 0)
    return <p className="p-4 text-small text-soft sm:px-5">No agent has a key, or has asked lately.</p>;
  return (
    <>
      <ul className="divide-y divide-line">
        {shown.map((row) => (
          <SwitchRow key={row.name} {...row} />
        ))}
      </ul>
      {shown.length === rows.length ? null : (
        <div className="flex justify-center border-t border-line p-3">
          <Button size="small" onClick={() => setAll(true)}>
            Show all {countText(rows.length)}
          </Button>
        </div>
      )}
    </>
  );
}

export function OtherSwitches() {
  const stops = useQuery(stopsQuery);
  const rows = switchRows(stops.data ?? [], useAgents());
  const stopped = rows.filter(({ stop }) => stop !== null).length;
  const told = stopped === 0 ? "none is stopped" : `${countText(stopped)} stopped`;
  return (
    <Panel isFlush title="Agents, services and workflows" aside={stops.data === undefined ? undefined : told}>
      <Asked query={stops} lines={2}>
        {() => <Rows rows={rows} />}
      </Asked>
    </Panel>
  );
}

function FoundSwitch({ whose, name }: Omit<RowProps, "stop">) {
  const query = useQuery(switchOfQuery(whose));
  return (
    <Asked query={query} lines={1}>
      {(state) => (
        <ul className="border-t border-line">
          <SwitchRow {...{ whose, name, stop: state.paused ? state : null }} />
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

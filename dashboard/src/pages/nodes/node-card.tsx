import { countText } from "../../format/amounts.ts";
import { Badge } from "../../ui/badge.tsx";
import { Facts } from "../../ui/facts.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Known } from "../../ui/known.tsx";
import { Principals } from "../../ui/principals.tsx";
import { Strange } from "../../ui/strange.tsx";
import { When } from "../../ui/when.tsx";
import { type Node, STATUS_WORDS } from "./node-words.ts";

function Load({ name, count }: { readonly name: string; readonly count: number }) {
  return (
    <div className="flex flex-col">
      <dt className="text-tiny text-faint">{name}</dt>
      <dd className={`figures text-title font-semibold ${count === 0 ? "text-faint" : ""}`}>
        {countText(count)}
      </dd>
    </div>
  );
}

function Definitions({ names }: { readonly names: readonly string[] }) {
  return (
    <ul aria-label="Workflows that it runs" className="flex flex-wrap gap-1.5">
      {names.map((name) => (
        <li key={name} className="rounded-small bg-sunken px-1.5 py-0.5 text-tiny text-soft">
          <Strange text={name} />
        </li>
      ))}
    </ul>
  );
}

export function NodeCard({ node }: { readonly node: Node }) {
  const { status, kind, version, definitions } = node;
  return (
    <li className="flex min-w-0 flex-col gap-4 rounded-large border border-line bg-surface p-4 sm:p-5">
      <div className="flex items-start justify-between gap-3">
        <div className="flex min-w-0 items-center gap-3">
          <span className="rounded-base bg-sunken p-2 text-soft">
            <Icon name={kind === "server" ? "nodes" : "play"} />
          </span>
          <div className="min-w-0">
            <h2 className="font-semibold">
              {kind}
              {version === null ? null : <span className="font-normal text-soft"> {version}</span>}
            </h2>
            <Strange text={node.process} className="block truncate font-mono text-tiny text-faint" />
          </div>
        </div>
        <Badge status={status} tone={status === "live" ? "go" : "stop"} />
      </div>
      <dl className="flex gap-8">
        <Load name="workflows it runs" count={node.workflows} />
        <Load name="effects under way" count={node.effects} />
      </dl>
      <Facts
        facts={[
          { name: "Agent", value: <Principals of={[node.agent]} /> },
          { name: "Since", value: <When at={node.since} /> },
          { name: "Lease", value: STATUS_WORDS[status] },
          { name: "Epoch", value: <Known id={node.epoch} isShort /> },
        ]}
      />
      {definitions === null || definitions.length === 0 ? null : <Definitions names={definitions} />}
    </li>
  );
}

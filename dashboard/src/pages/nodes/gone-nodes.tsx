import { Badge } from "../../ui/badge.tsx";
import { Known } from "../../ui/known.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Principals } from "../../ui/principals.tsx";
import { Empty } from "../../ui/states.tsx";
import { Strange } from "../../ui/strange.tsx";
import { When } from "../../ui/when.tsx";
import { type Node, STATUS_WORDS } from "./node-words.ts";

function GoneNode({ node }: { readonly node: Node }) {
  return (
    <li className="flex flex-wrap items-baseline gap-x-3 gap-y-1 border-b border-line px-4 py-3 text-small last:border-0 sm:px-5">
      <Badge status={node.status} tone={node.status === "died" ? "stop" : "plain"} />
      <span className="font-semibold">
        {node.kind} {node.version}
      </span>
      <Principals of={[node.agent]} />
      <Strange text={node.process} className="font-mono text-tiny text-faint" />
      <Known id={node.epoch} isShort />
      <span className="text-soft sm:ml-auto" title={STATUS_WORDS[node.status]}>
        {node.ended_at === null ? null : <When at={node.ended_at} />}
      </span>
    </li>
  );
}

export function GoneNodes({ nodes, isCut }: { readonly nodes: readonly Node[]; readonly isCut: boolean }) {
  return (
    <Panel title="Gone" aside={isCut ? "the latest" : undefined} isFlush>
      {nodes.length === 0 ? (
        <Empty icon="nodes" title="None has gone yet" />
      ) : (
        <ul>
          {nodes.map((node) => (
            <GoneNode key={node.epoch} node={node} />
          ))}
        </ul>
      )}
    </Panel>
  );
}

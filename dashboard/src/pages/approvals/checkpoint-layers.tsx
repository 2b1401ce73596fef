/** What a checkpoint captured, in its three layers. All of it is what the program says. */
import { useState } from "react";
import type { Card } from "../../api/approvals.ts";
import { fieldOf, isObject, type Json, jsonOf, textIn } from "../../format/json.ts";
import { exactNumber } from "../../format/numbers.ts";
import { Facts } from "../../ui/facts.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Strange } from "../../ui/strange.tsx";
import { type Tab, Tabs } from "../../ui/tabs.tsx";
import { AnyValue } from "../../ui/values/value-view.tsx";

const LAYERS = [
  ["approval_interface", "For the approver"],
  ["task_state", "The task"],
  ["execution_state", "How it came there"],
] as const;
/** Shown above the layers, in words of their own. */
const TOLD = ["summary", "decision_needed", "recommendation", "confidence"];

const isThere = (value: Json | undefined): value is Json =>
  value !== undefined && value !== null && !(typeof value === "object" && Object.keys(value).length === 0);

function without(layer: Json, names: readonly string[]): Json {
  if (!isObject(layer)) return layer;
  return Object.fromEntries(Object.entries(layer).filter(([name]) => !names.includes(name)));
}

function confidenceText(value: Json | undefined): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === "number" && value >= 0 && value <= 1
    ? `${exactNumber(Math.round(value * 1_000) / 10)} %`
    : JSON.stringify(value);
}

function Told({ layer, says }: { readonly layer: Json; readonly says: string | null }) {
  const asks = textIn(layer, "decision_needed");
  const summary = textIn(layer, "summary");
  const recommends = textIn(layer, "recommendation");
  const confidence = confidenceText(fieldOf(layer, "confidence"));
  const isNew = (text: string | undefined): text is string => text !== undefined && text !== says;
  return (
    <Facts
      facts={[
        isNew(summary) ? { name: "Summary", value: <Strange text={summary} as="lines" /> } : null,
        isNew(asks)
          ? { name: "Asks", value: <Strange text={asks} as="lines" className="font-semibold" /> }
          : null,
        recommends === undefined ? null : { name: "Recommends", value: <Strange text={recommends} /> },
        confidence === null ? null : { name: "Is sure by", value: <Strange text={confidence} /> },
      ]}
    />
  );
}

type Props = { readonly card: Card; readonly says: string | null };

export function CheckpointLayers({ card, says }: Props) {
  const [open, setOpen] = useState<string>(LAYERS[0][0]);
  const snapshot = jsonOf(card.snapshot);
  if (!isObject(snapshot)) return null;
  const tabs: Tab[] = LAYERS.map(([name, title]) => {
    const layer = fieldOf(snapshot, name) ?? null;
    const rest = name === "approval_interface" ? without(layer, TOLD) : layer;
    return {
      id: name,
      title,
      content: (
        <div className="flex flex-col gap-4">
          {name === "approval_interface" ? <Told layer={layer} says={says} /> : null}
          {isThere(rest) ? <AnyValue value={rest} /> : null}
          {isThere(layer) ? null : <p className="text-small text-faint">Nothing was captured here.</p>}
        </div>
      ),
    };
  });
  return (
    <Panel title="What the checkpoint captured" aside="as the program says, checked by nobody">
      <Tabs label="Layers" tabs={tabs} value={open} onChange={setOpen} />
    </Panel>
  );
}

/**
 * What a checkpoint captured, in its three layers. All of it is what the program says. They stand one under another: what is
 * behind a tab is approved unread.
 */
import { type ReactNode, useId } from "react";
import type { Approval, Card } from "../../api/approvals.ts";
import { fieldOf, isObject, isSame, type Json, jsonOf, textIn } from "../../format/json.ts";
import { exactNumber } from "../../format/numbers.ts";
import { Facts } from "../../ui/facts.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Strange } from "../../ui/strange.tsx";
import { AnyValue } from "../../ui/values/value-view.tsx";

const LAYERS = [
  ["approval_interface", "For the approver"],
  ["task_state", "The task"],
  ["execution_state", "How it came there"],
] as const;
/** Shown in words of their own. */
const TOLD = ["summary", "decision_needed", "recommendation", "confidence"];
/** Where the outputs stand again; they are what is decided on, and have a panel of their own. */
const OUTPUTS = ["outputs", "intermediate_outputs"];

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
  const isTwice = [summary, asks].some((text) => text !== undefined && text === says);
  const facts = (
    <Facts
      facts={[
        isNew(summary) ? { name: "Summary", value: <Strange text={summary} as="lines" /> } : null,
        isNew(asks)
          ? { name: "Asks", value: <Strange text={asks} as="lines" className="font-semibold" /> }
          : null,
        recommends === undefined
          ? null
          : { name: "Recommends", value: <Strange isProse text={recommends} /> },
        confidence === null ? null : { name: "Is sure by", value: <Strange text={confidence} /> },
      ]}
    />
  );
  return (
    <>
      {facts}
      {isTwice ? <p className="text-small text-faint">Its words stand above.</p> : null}
    </>
  );
}

const isTold = (layer: Json, name: string): boolean =>
  name === "confidence" || textIn(layer, name) !== undefined;

type PartProps = { readonly name: string; readonly layer: Json; readonly args: Json };

/** What was not told in words of its own, and does not stand elsewhere on the card. */
function Rest({ name, layer, args }: PartProps) {
  if (!isThere(layer)) return <p className="text-small text-faint">Nothing was captured here.</p>;
  const told = name === "approval_interface" ? TOLD.filter((field) => isTold(layer, field)) : [];
  const again = isThere(args) ? OUTPUTS.filter((field) => isSame(fieldOf(layer, field), args)) : [];
  const rest = without(layer, [...told, ...again]);
  return (
    <>
      {isThere(rest) ? <AnyValue value={rest} /> : null}
      {again.length === 0 ? null : <p className="text-small text-faint">Its outputs stand above.</p>}
    </>
  );
}

type LayerProps = { readonly title: string; readonly children: ReactNode };

function Layer({ title, children }: LayerProps) {
  const id = useId();
  return (
    <section aria-labelledby={id} className="border-t border-line pt-4 first:border-0 first:pt-0">
      <h3 id={id} className="mb-2 text-small font-semibold text-soft">
        {title}
      </h3>
      <div className="flex flex-col gap-4">{children}</div>
    </section>
  );
}

type Props = { readonly approval: Approval; readonly card: Card };

export function CheckpointLayers({ approval: { args, rationale }, card }: Props) {
  const snapshot = jsonOf(card.snapshot);
  if (!isObject(snapshot)) return null;
  return (
    <Panel title="What the checkpoint captured" aside="as the program says, not checked">
      <div className="flex flex-col gap-5">
        {LAYERS.map(([name, title]) => {
          const layer = fieldOf(snapshot, name) ?? null;
          return (
            <Layer key={name} title={title}>
              {name === "approval_interface" ? <Told layer={layer} says={rationale} /> : null}
              <Rest name={name} layer={layer} args={jsonOf(args)} />
            </Layer>
          );
        })}
      </div>
    </Panel>
  );
}

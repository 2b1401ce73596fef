/** What is decided on, from the canonical bytes; and what of it is not as the agent proposed it. */
import { changesBetween } from "../../format/edits.ts";
import { isObject, type Json, jsonOf } from "../../format/json.ts";
import { Guarded } from "../../ui/guarded.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Unshown } from "../../ui/values/unshown.tsx";
import { ValuePanel } from "../../ui/values/value-panel.tsx";
import { ChangesList } from "./changes-list.tsx";
import type { Desk } from "./use-desk.ts";
import { sentence } from "./words.ts";

type Props = { readonly desk: Pick<Desk, "approval" | "card" | "isEditing"> };

function titleOf({ approval: { about, status }, isEditing }: Props["desk"]): string {
  if (isEditing) return "Before your changes";
  if (about === "checkpoint") return "What you decide on: its outputs";
  if (about === "question") return status === "pending" ? "What the program suggests" : "The answer";
  if (about === "intent") return "What is asked for";
  if (status === "pending" || status === "approved" || status === "modified") return "What will run";
  return status === "consumed" ? "What ran" : "What was to run";
}

function Effect({ desk: { approval, card } }: Props) {
  if (approval.about !== "action") return null;
  const tone = card.is_irreversible ? "bg-stop-wash text-stop" : "bg-sunken text-soft";
  return (
    <p className={`mb-3 flex items-start gap-2 rounded-base px-3 py-2 text-small ${tone}`}>
      <Icon name={card.is_irreversible ? "warn" : "undo"} className="mt-0.5 size-4" />
      <span>{sentence(card.effect_words)}</span>
    </p>
  );
}

/** It stays while somebody changes a part of it: boxes show only a piece of a long text, and nothing unread is approved. */
export function WhatRuns({ desk }: Props) {
  const { approval } = desk;
  const args = jsonOf(approval.args);
  const isBare = isObject(args) && Object.keys(args).length === 0;
  if (isBare && (approval.about === "question" || approval.about === "checkpoint")) return null;
  return <ValuePanel title={titleOf(desk)} value={args} lead={<Effect desk={desk} />} />;
}

function Changes({ desk: { approval }, proposed }: Props & { readonly proposed: Json }) {
  const changes = changesBetween(proposed, jsonOf(approval.args));
  if (changes.length === 0) return null;
  return (
    <Panel title="Changed since the agent proposed it" aside={approval.edited ? "by people" : "by policy"}>
      <ChangesList changes={changes} />
    </Panel>
  );
}

/** Policy or people have changed it since. */
export function ChangedSinceProposed({ desk }: Props) {
  const proposed = jsonOf(desk.card.proposed_args);
  if (proposed === null) return null;
  return (
    <Guarded of={desk.card.proposed_args} instead={<Unshown value={proposed} />}>
      <Changes desk={desk} proposed={proposed} />
    </Guarded>
  );
}

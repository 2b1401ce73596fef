/** A stored snapshot taken apart into what its three readers look at. */
import { type Fields, fieldsOf } from "../../format/fields-of.ts";

export type Approver = {
  readonly summary: string | null;
  readonly decisionNeeded: string | null;
  readonly recommendation: string | null;
  /** From 0 to 1. */
  readonly confidence: number | null;
  readonly rest: Fields | null;
};

export type Layers = {
  readonly approver: Approver;
  readonly task: unknown;
  readonly execution: unknown;
  readonly whole: unknown;
};

const textOf = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);
const NAMED = ["summary", "decision_needed", "recommendation", "confidence"];

function approverOf(value: unknown): Approver {
  const fields = fieldsOf(value);
  const rest = Object.entries(fields).filter(([name]) => !NAMED.includes(name));
  const confidence = fields["confidence"];
  return {
    summary: textOf(fields["summary"]),
    decisionNeeded: textOf(fields["decision_needed"]),
    recommendation: textOf(fields["recommendation"]),
    confidence: typeof confidence === "number" ? confidence : null,
    rest: rest.length === 0 ? null : Object.fromEntries(rest),
  };
}

export function layersOf(snapshot: unknown): Layers {
  const fields = fieldsOf(snapshot);
  return {
    approver: approverOf(fields["approval_interface"]),
    task: fields["task_state"] ?? null,
    execution: fields["execution_state"] ?? null,
    whole: snapshot,
  };
}

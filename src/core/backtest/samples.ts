/** What people decided, collected by tool and agent: what suggestions are made of. */
import { isJsonObject, type Json } from "../json.ts";
import { isArtifactRef } from "../stored-value.ts";
import { visible } from "../visible.ts";
import type { Heard, PersonDecision, RecordedAction } from "./heard.ts";

export type Scalar = number | string | boolean;
export type Fields = Readonly<Record<string, Scalar>>;

export type Sample = {
  readonly at: number;
  readonly fields: Fields;
  /** Kept apart: what its arguments were is not looked at. */
  readonly isUnread: boolean;
  /** The rule that asked. */
  readonly rule: string;
  /** What became of the question; null while it waits. */
  decision: PersonDecision | null;
  by: readonly string[];
};

export type Group = { readonly tool: string; readonly agent: string; readonly samples: Sample[] };

export type Samples = {
  readonly since: number | null;
  readonly groups: Map<string, Group>;
  readonly open: WeakMap<RecordedAction, Sample>;
  /** Bodies that were erased. */
  erased: number;
};

const MOST_CHARACTERS = 64;

export function openSamples(since: number | null): Samples {
  return { since, groups: new Map(), open: new WeakMap(), erased: 0 };
}

/** A condition is only written about text that a person can see as it is. */
function isPlain(value: string): boolean {
  return value.length > 0 && value.length <= MOST_CHARACTERS && visible(value) === value;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

function fieldsOf(args: Json): Fields {
  const fields: Record<string, Scalar> = Object.create(null);
  if (!isJsonObject(args)) return fields;
  for (const [name, value] of Object.entries(args)) {
    if (!NAME.test(name)) continue;
    if (typeof value === "number" || typeof value === "boolean") fields[name] = value;
    if (typeof value === "string" && isPlain(value)) fields[name] = value;
  }
  return fields;
}

function add(samples: Samples, { action, args, rule }: Extract<Heard, { kind: "asked" }>): void {
  const { tool, agent, at } = action;
  const isUnread = isArtifactRef(args);
  const fields = fieldsOf(isUnread ? null : args);
  const sample = { at, fields, isUnread, rule, decision: null, by: [] };
  const key = JSON.stringify([tool, agent]);
  const group = samples.groups.get(key) ?? { tool, agent, samples: [] };
  samples.groups.set(key, group);
  group.samples.push(sample);
  samples.open.set(action, sample);
}

/** A question that a rule took back is asked again as another one. */
const isTakenBack = ({ decision, by }: Extract<Heard, { kind: "decided" }>): boolean =>
  decision === "cancelled" && by.includes("policy");

export function collect(samples: Samples, heard: Heard): void {
  const isCounted = (at: number) => samples.since === null || at >= samples.since;
  if (heard.kind === "lost" && isCounted(heard.at)) samples.erased += 1;
  const isAnother = heard.kind === "asked" && !samples.open.has(heard.action);
  if (isAnother && isCounted(heard.action.at)) add(samples, heard);
  if (heard.kind !== "decided" || isTakenBack(heard)) return;
  const sample = samples.open.get(heard.action);
  if (sample === undefined) return;
  sample.decision = heard.decision;
  sample.by = heard.by;
}

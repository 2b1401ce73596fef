/**
 * Human decisions by tool and agent: the input for suggestions.
 * - Each approval request counts for the arguments that it was about. A request that a rule withdrew does not count,
 *   nor does one that was repeated for the same arguments. A request that a person changed first counts as changed,
 *   even if another request replaced it.
 * - A revoked approval counts as a no.
 */
import { isJsonObject, type JsonObject } from "../../../kernel/json.ts";
import { isArtifactRef } from "../../../kernel/stored-value.ts";
import type { PersonDecision } from "./answers.ts";
import type { RecordedAction, ReplayEvent } from "./replay.ts";

export type Sample = {
  /** When the action was proposed. */
  readonly at: number;
  /** null: stored as an artifact, or not an object. The content is not read. */
  readonly args: JsonObject | null;
  readonly argsDigest: string;
  /** The rule that escalated. */
  readonly rule: string;
  /** The request needed several people, so one person cannot grant it. */
  readonly ofSeveral: boolean;
  /** When people decided; null while pending. */
  decidedAt: number | null;
  /** Outcome of the request; null while pending. */
  decision: PersonDecision | null;
  by: readonly string[];
  /** A person requested other arguments; it is not yet known whether the request ended that way. */
  isChanged: boolean;
};

export type SampleGroup = { readonly tool: string; readonly agent: string; readonly samples: Sample[] };

export type Samples = {
  readonly since: number | null;
  readonly groups: Map<string, SampleGroup>;
  readonly open: WeakMap<RecordedAction, Sample>;
  /** Approved requests by approval id. */
  readonly given: Map<string, Sample>;
  /** Number of erased bodies. */
  erased: number;
};

type ReplayEventOf<Kind extends ReplayEvent["kind"]> = Extract<ReplayEvent, { kind: Kind }>;

export function openSamples(since: number | null): Samples {
  return { since, groups: new Map(), open: new WeakMap(), given: new Map(), erased: 0 };
}

function groupOf({ groups }: Samples, { tool, agent }: RecordedAction): SampleGroup {
  const key = JSON.stringify([tool, agent]);
  const group = groups.get(key) ?? { tool, agent, samples: [] };
  groups.set(key, group);
  return group;
}

/** Another request follows: drops this one if it is undecided or about the same arguments. An edit stays. */
function replace({ samples }: SampleGroup, before: Sample | undefined, argsDigest: string): void {
  if (before === undefined) return;
  const isSame = before.argsDigest === argsDigest && before.decision !== "edited";
  if (before.decision !== null && !isSame) return;
  if (before.isChanged && before.decision === null) before.decision = "edited";
  else samples.splice(samples.lastIndexOf(before), 1);
}

function add(samples: Samples, { action, args, argsDigest, rule, ofSeveral }: ReplayEventOf<"asked">): void {
  const group = groupOf(samples, action);
  replace(group, samples.open.get(action), argsDigest);
  const looked = isJsonObject(args) && !isArtifactRef(args) ? args : null;
  const open = { decidedAt: null, decision: null, by: [], isChanged: false };
  const sample = { at: action.proposedAt, args: looked, argsDigest, rule, ofSeveral, ...open };
  group.samples.push(sample);
  samples.open.set(action, sample);
}

/** A request that a rule withdrew is followed by another one. */
const isTakenBack = ({ decision, by }: ReplayEventOf<"decided">): boolean =>
  decision === "cancelled" && by.includes("policy");

function decide(samples: Samples, heard: ReplayEventOf<"decided">): void {
  const sample = samples.open.get(heard.action);
  if (sample === undefined || isTakenBack(heard)) return;
  const { decision, by, approval, editedDigest, now } = heard;
  const isOther = editedDigest !== null && editedDigest !== sample.argsDigest;
  sample.decision = decision === "approved" && isOther ? "edited" : decision;
  sample.by = by;
  sample.decidedAt = now;
  if (decision === "approved") samples.given.set(approval, sample);
}

function takeBack({ given }: Samples, { approval }: ReplayEventOf<"revoked">): void {
  const sample = given.get(approval);
  if (sample !== undefined) sample.decision = "rejected";
}

export function collectSample(samples: Samples, heard: ReplayEvent): void {
  const isCounted = (at: number) => samples.since === null || at >= samples.since;
  switch (heard.kind) {
    case "lost":
      if (isCounted(heard.at)) samples.erased += 1;
      return;
    case "asked":
      if (isCounted(heard.action.proposedAt)) add(samples, heard);
      return;
    case "edited": {
      const sample = samples.open.get(heard.action);
      if (sample !== undefined) sample.isChanged = true;
      return;
    }
    case "decided":
      decide(samples, heard);
      return;
    case "revoked":
      takeBack(samples, heard);
  }
}

/**
 * Rules of a monitor, what they are shown and what they say. A rule looks at entries one after the other and at the time;
 * it keeps little, and answers only when something begins or stops being so. Here is also what entries mean to rules
 * (calls, errors, operations, whether a workflow executes), and what a rule keeps by subject: the subject not heard of for
 * the longest time is forgotten first, one with a standing alert last.
 */

import type { Json, JsonObject } from "../../kernel/json.ts";
import type { Money } from "../../kernel/money.ts";

export const SEVERITIES = ["info", "warning", "critical"] as const;
export type Severity = (typeof SEVERITIES)[number];

/** What a rule counts by. `all`: one count for everything that the monitor looks at. */
export const PER = ["tool", "agent", "workflow", "all"] as const;
type Per = (typeof PER)[number];

export const BAD_OUTCOMES = ["failed", "refused", "in_doubt"] as const;
type BadOutcome = (typeof BAD_OUTCOMES)[number];

type Base = {
  /** Unique in its monitor. Alerts are known by it. */
  readonly name: string;
  /** `warning` unless set. */
  readonly severity?: Severity;
  /** `alert` unless set. `checkpoint` also stops the workflow that it is about, until a person has decided. */
  readonly raise?: "alert" | "checkpoint";
};

/** Of a count per window: its moving average and deviation. */
type Baseline = {
  /** How many deviations above the average are too many; 4 unless set. */
  readonly deviations?: number;
  /** Windows that have to pass before anything is said; 10 unless set. */
  readonly warmUp?: number;
  /** Never said of counts up to this; 5 unless set. */
  readonly least?: number;
};

export type RateRule = Base & {
  readonly kind: "rate";
  readonly of: "calls" | "errors" | "escalations";
  /** `all` unless set. */
  readonly per?: Per;
  readonly windowMs: number;
  /** More than so many within the window; or `baseline`. */
  readonly above?: number;
  readonly baseline?: Baseline;
};

export type ErrorsRule = Base & {
  readonly kind: "errors";
  /** A share from 0 to 1: said when it is higher. */
  readonly above: number;
  /** Of the last so many outcomes; or of those within `windowMs`. */
  readonly last?: number;
  readonly windowMs?: number;
  /** Never said of fewer outcomes; 5 unless set. */
  readonly least?: number;
  /** What counts as bad; all three unless set. */
  readonly of?: readonly BadOutcome[];
  /** `all` unless set. */
  readonly per?: Per;
};

export type SilenceRule = Base & { readonly kind: "silence"; readonly forMs: number };

export type ProgressRule = Base & {
  readonly kind: "progress";
  readonly withinMs: number;
  /** Stuck: fewer operations than this in a stretch of that length. */
  readonly fewerThan?: number;
  /** Too fast: more operations than this within that time. */
  readonly moreThan?: number;
};

export type ResourcesRule = Base & {
  readonly kind: "resources";
  readonly tokens?: number;
  readonly cost?: Money;
  readonly operations?: number;
  readonly elapsedMs?: number;
  readonly apiCalls?: number;
};

export type Figures = { readonly [name: string]: number | string };

/** true or false: it holds, or no longer does; nothing: this entry says nothing of it. */
export type ConditionAnswer =
  | boolean
  | undefined
  | { readonly holds?: boolean; readonly figures?: Figures; readonly state?: Json };

export type WhenRule = Base & {
  readonly kind: "when";
  /** Pure and synchronous: of an entry, and of what this rule kept of the same subject. */
  readonly condition: (entry: Sighting, state: Json) => ConditionAnswer;
  /** `workflow` unless set; an entry outside of workflows then counts for `all`. */
  readonly per?: Per;
};

export type MonitorRule = RateRule | ErrorsRule | SilenceRule | ProgressRule | ResourcesRule | WhenRule;

/** An entry of the journal with what it is about. */
export type Sighting = {
  readonly position: number;
  readonly at: number;
  /** `kind/id`. */
  readonly stream: string;
  readonly type: string;
  readonly body: JsonObject;
  readonly tool: string | null;
  readonly agent: string | null;
  /** Of a workflow, or of an action in one. */
  readonly workflow: { readonly id: string; readonly name: string; readonly createdAt: number } | null;
  /** What a step or a call returned, in full; null where the entry has none. */
  readonly result: Json;
  /** What a checkpoint captured, as it is stored. */
  readonly snapshot: JsonObject | null;
};

/** What has to be true of the workflow in the commit that raises the alert. */
export type Proof =
  | { readonly kind: "executing" }
  | { readonly kind: "silent"; readonly forMs: number }
  | null;

/** Something began to hold, or stopped. */
export type Signal = {
  readonly subject: string;
  readonly holds: boolean;
  /** The workflow that it is about, or that brought it about. */
  readonly workflow: string | null;
  readonly figures: Figures;
  readonly says: string;
  readonly proof: Proof;
};

export type Watcher = {
  see(sighting: Sighting): readonly Signal[];
  /** Called when `due` has come, with the store's time. */
  tick(now: number): readonly Signal[];
  /** When the time alone could change what it says; null: only an entry can. */
  due(): number | null;
  /** What another process needs to go on from here. */
  save(): Json;
};

export const clearedSignal = (subject: string, workflow: string | null): Signal => ({
  subject,
  holds: false,
  workflow,
  figures: {},
  says: "",
  proof: null,
});

export function subjectOfSighting(per: Per, { tool, agent, workflow }: Sighting): string | null {
  switch (per) {
    case "all":
      return "all";
    case "agent":
      return agent;
    case "tool":
      return tool === null ? null : `tool:${tool}`;
    case "workflow":
      return workflow === null ? null : `workflow:${workflow.id}`;
  }
}

/** As people read it: without digits that say nothing. */
export const rounded = (value: number): number => Math.round(value * 100) / 100;

const OPERATION_TYPES: ReadonlySet<string> = new Set([
  "call.made",
  "step.completed",
  "step.failed",
  "operation.refused",
  "sleep.began",
  "child.spawned",
  "question.asked",
  "checkpoint.reached",
  "checkpoint.passed",
]);

export const isOperation = ({ type }: Sighting): boolean => OPERATION_TYPES.has(type);

/** How something that was asked for ended; undefined: the entry ends nothing. A doubt that is resolved later was counted. */
export function outcomeOfSighting({ type }: Sighting): BadOutcome | "good" | undefined {
  switch (type) {
    case "effect.applied":
    case "step.completed":
      return "good";
    case "effect.not_applied":
    case "step.failed":
      return "failed";
    case "action.refused":
      return "refused";
    case "effect.in_doubt":
      return "in_doubt";
    default:
      return undefined;
  }
}

export function isCounted(of: "calls" | "errors" | "escalations", sighting: Sighting): boolean {
  if (of === "calls") return sighting.type === "action.proposed";
  if (of === "escalations")
    return sighting.type === "action.reviewed" && sighting.body["verdict"] === "escalate";
  const outcome = outcomeOfSighting(sighting);
  return outcome !== undefined && outcome !== "good";
}

const RESTING_TYPES: ReadonlySet<string> = new Set([
  "workflow.suspended",
  "workflow.completed",
  "workflow.failed",
  "workflow.closed",
  "checkpoint.reached",
  "checkpoint.raised",
  "rollback.began",
]);
/** Said of a workflow that need not execute, by whoever looks at it. */
const NEUTRAL_TYPES: ReadonlySet<string> = new Set([
  "workflow.created",
  "workflow.requested",
  "workflow.defined",
  "workflow.refused",
  "workflow.forked",
  "compensation.made",
  "compensation.settled",
]);

/**
 * Whether a workflow executes after an entry of its own; undefined: the entry says nothing of it. What is said of one that
 * waits or rolls back may be taken for a sign of life: whoever raises an alert looks at its state.
 */
export function executesAfter({ type, stream, body }: Sighting): boolean | undefined {
  if (!stream.startsWith("workflow/") || NEUTRAL_TYPES.has(type)) return undefined;
  if (type === "checkpoint.decided")
    return body["decision"] === "approved" || body["decision"] === "modified";
  if (type === "rollback.ended") return body["after"] === "again";
  return !RESTING_TYPES.has(type);
}

export const isWorkflowEnd = ({ type }: Sighting): boolean =>
  type === "workflow.completed" || type === "workflow.failed";

const UNITS = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1_000, "s"],
] as const;

/** `90 s`, `2 min`: the largest unit that leaves at most two digits after the point. */
export function durationText(ms: number): string {
  const [size, unit] = UNITS.find(([one]) => ms >= one && Number.isInteger((ms * 100) / one)) ?? [1, "ms"];
  return `${rounded(ms / size)} ${unit}`;
}

export const MOST_SUBJECTS = 10_000;

export type SubjectState = { readonly holds: boolean };

type Subjects<State extends SubjectState> = {
  get(subject: string): State | undefined;
  /** The newest from now on. */
  put(subject: string, state: State): void;
  drop(subject: string): void;
  /** Those that hold. */
  holding(): readonly (readonly [string, State])[];
  save(): Json;
};

export function createSubjects<State extends SubjectState>(
  saved: Json,
  most = MOST_SUBJECTS,
): Subjects<State> {
  const all = new Map<string, State>(savedPairs<State>(saved));
  const holding = new Set([...all].flatMap(([subject, { holds }]) => (holds ? subject : [])));
  const drop = (subject: string) => {
    all.delete(subject);
    holding.delete(subject);
  };
  return {
    get: (subject) => all.get(subject),
    put(subject, state) {
      drop(subject);
      all.set(subject, state);
      if (state.holds) holding.add(subject);
      if (all.size > most) drop(oldestSubject(all, holding));
    },
    drop,
    holding: () =>
      [...holding].flatMap((subject) => {
        const state = all.get(subject);
        return state === undefined ? [] : [[subject, state] as const];
      }),
    save: () => [...all] as unknown as Json,
  };
}

function oldestSubject(all: ReadonlyMap<string, unknown>, holding: ReadonlySet<string>): string {
  let first = "";
  for (const subject of all.keys()) {
    if (!holding.has(subject)) return subject;
    if (first === "") first = subject;
  }
  return first;
}

export function savedPairs<State>(saved: Json): readonly (readonly [string, State])[] {
  return Array.isArray(saved) ? (saved as unknown as readonly (readonly [string, State])[]) : [];
}

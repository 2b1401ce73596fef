/**
 * Rules of a monitor, their input and their signals. A rule sees entries one by one, and the time. It keeps little
 * state, and signals only when a condition starts or stops holding. Also here: the meaning of entries (calls, errors,
 * operations, whether a workflow executes), and a rule's state per subject. The least recently seen subject is evicted
 * first, one with a standing alert last.
 */

import { z } from "zod";
import type { Json, JsonObject } from "../../kernel/json.ts";
import { amountCheck, type Money } from "../../kernel/money.ts";

export const SEVERITIES = ["info", "warning", "critical"] as const;
/** What a rule counts by. `all`: one count for everything that the monitor watches. */
const PER = ["tool", "agent", "workflow", "all"] as const;
export const BAD_OUTCOMES = ["failed", "refused", "in_doubt"] as const;
type BadOutcome = (typeof BAD_OUTCOMES)[number];

const MOST = 1_000;
export const LONGEST_SPAN_MS = 366 * 24 * 60 * 60 * 1000;

/** The description of a field ends the sentence that refuses it: `"above" is a whole number …`. */
const optional = <Schema extends z.ZodType>(schema: Schema) =>
  schema.optional().describe(schema.description ?? "");
const whole = (least: number, most: number) =>
  z.int().min(least).max(most).describe(`is a whole number from ${least} to ${most}`);
const word = <const Words extends readonly [string, ...string[]]>(words: Words) =>
  z.enum(words).describe(`is one of ${words.join(", ")}`);
const ms = whole(1, LONGEST_SPAN_MS);
const count = optional(whole(1, MOST));
const amount = optional(whole(0, Number.MAX_SAFE_INTEGER));

/** Of a monitor, and of a rule. */
export const monitorName = z
  .string()
  .regex(/^[^\s/#][^/#\n\r]{0,59}$/u)
  .refine((text) => text.isWellFormed())
  .describe("is a text of 1 to 60 characters without / and #, and does not begin with a space");

const base = {
  /** Unique in its monitor. Identifies the rule's alerts. */
  name: monitorName,
  /** Default: `warning`. */
  severity: optional(word(SEVERITIES)),
  /** Default: `alert`. `checkpoint` also stops the affected workflow until a person has decided. */
  raise: optional(word(["alert", "checkpoint"])),
};
/** Default: `all`; of a condition, `workflow`. */
const per = optional(word(PER));

/** Moving average and deviation of the count per window. */
export const baseline = z
  .strictObject({
    /** How many deviations above the average are too many. Default: 4. */
    deviations: z.number().positive().optional(),
    /** Windows that must pass before the first signal. Default: 10. */
    warmUp: count,
    /** Counts up to this never signal. Default: 5. */
    least: amount,
  })
  .describe("is an object of deviations, warmUp and least");

const rate = z.strictObject({
  kind: z.literal("rate"),
  ...base,
  of: word(["calls", "errors", "escalations"]),
  per,
  windowMs: ms,
  /** Signals above this count within the window. Alternative: `baseline`. */
  above: optional(whole(0, MOST)),
  baseline: optional(baseline),
});
const errors = z.strictObject({
  kind: z.literal("errors"),
  ...base,
  /** A share from 0 to 1: signals when it is exceeded. */
  above: z.number().min(0).lt(1).describe("is a share from 0 to less than 1"),
  /** Number of latest outcomes to consider. Alternative: `windowMs`. */
  last: count,
  windowMs: optional(ms),
  /** Fewer outcomes than this never signal. Default: 5. */
  least: count,
  /** Outcomes that count as bad. Default: all three. */
  of: z
    .array(z.enum(BAD_OUTCOMES))
    .min(1)
    .readonly()
    .optional()
    .describe(`is a list of ${BAD_OUTCOMES.join(", ")}`),
  per,
});
const silence = z.strictObject({ kind: z.literal("silence"), ...base, forMs: ms });
const progress = z.strictObject({
  kind: z.literal("progress"),
  ...base,
  withinMs: ms,
  /** Stuck: fewer operations than this within a period of that length. */
  fewerThan: count,
  /** Too fast: more operations than this within that time. */
  moreThan: count,
});
const resources = z.strictObject({
  kind: z.literal("resources"),
  ...base,
  tokens: amount,
  cost: z.custom<Money>(amountCheck.isRight).optional().describe(amountCheck.what),
  operations: amount,
  elapsedMs: optional(ms),
  apiCalls: amount,
});
const when = z.strictObject({
  kind: z.literal("when"),
  ...base,
  /** Pure and synchronous. Gets an entry, and the rule's state for the same subject. */
  condition: z
    .custom<(entry: MonitoredEntry, state: Json) => ConditionAnswer>((value) => typeof value === "function")
    .describe("is a function"),
  /** An entry outside of workflows then counts for `all`. */
  per,
});
export const RULES = { rate, errors, silence, progress, resources, when };

export type Severity = (typeof SEVERITIES)[number];
type Per = (typeof PER)[number];
export type RateRule = z.output<typeof rate>;
export type ErrorsRule = z.output<typeof errors>;
export type SilenceRule = z.output<typeof silence>;
export type ProgressRule = z.output<typeof progress>;
export type ResourcesRule = z.output<typeof resources>;
export type WhenRule = z.output<typeof when>;
export type MonitorRule = RateRule | ErrorsRule | SilenceRule | ProgressRule | ResourcesRule | WhenRule;

export type Figures = { readonly [name: string]: number | string };

/** true or false: the condition holds, or no longer does. undefined: this entry does not affect it. */
export type ConditionAnswer =
  | boolean
  | undefined
  | { readonly holds?: boolean; readonly figures?: Figures; readonly state?: Json };

/** A journal entry with its tool, agent and workflow. */
export type MonitoredEntry = {
  readonly position: number;
  readonly at: number;
  /** `kind/id`. */
  readonly stream: string;
  readonly type: string;
  readonly body: JsonObject;
  readonly tool: string | null;
  readonly agent: string | null;
  /** The workflow itself, or that of the action. */
  readonly workflow: { readonly id: string; readonly name: string; readonly createdAt: number } | null;
  /** Full result of a step or a call; null if the entry has none. */
  readonly result: Json;
  /** The snapshot of a checkpoint, as stored. */
  readonly snapshot: JsonObject | null;
};

/** What must be true of the workflow in the commit that raises the alert. */
export type Proof =
  | { readonly kind: "executing" }
  | { readonly kind: "silent"; readonly forMs: number }
  | null;

/** A condition started or stopped holding. */
export type Signal = {
  readonly subject: string;
  readonly holds: boolean;
  /** The workflow that it is about, or that caused it. */
  readonly workflow: string | null;
  readonly figures: Figures;
  readonly says: string;
  readonly proof: Proof;
};

export type Watcher = {
  see(sighting: MonitoredEntry): readonly Signal[];
  /** Called at `due`, with the store's time. */
  tick(now: number): readonly Signal[];
  /** When time alone could change its signals; null: only an entry can. */
  due(): number | null;
  /** State that another process needs to resume from here. */
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

export function subjectOfSighting(per: Per, { tool, agent, workflow }: MonitoredEntry): string | null {
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

/** Rounded for people to two decimals. */
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

export const isOperation = ({ type }: MonitoredEntry): boolean => OPERATION_TYPES.has(type);

/** Outcome of an operation; undefined: the entry ends none. A doubt that is resolved later was already counted. */
export function outcomeOfSighting({ type }: MonitoredEntry): BadOutcome | "good" | undefined {
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

export function isCounted(of: "calls" | "errors" | "escalations", sighting: MonitoredEntry): boolean {
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
/** Entries that another actor may write about a workflow that is not executing. */
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
 * Whether a workflow executes after an entry of its own; undefined: the entry does not tell. An entry about a waiting
 * workflow, or one that rolls back, may look like activity: raising an alert checks the state.
 */
export function executesAfter({ type, stream, body }: MonitoredEntry): boolean | undefined {
  if (!stream.startsWith("workflow/") || NEUTRAL_TYPES.has(type)) return undefined;
  if (type === "checkpoint.decided")
    return body["decision"] === "approved" || body["decision"] === "modified";
  if (type === "rollback.ended") return body["after"] === "again";
  return !RESTING_TYPES.has(type);
}

export const isWorkflowEnd = ({ type }: MonitoredEntry): boolean =>
  type === "workflow.completed" || type === "workflow.failed";

const UNITS = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1_000, "s"],
] as const;

/** `90 s`, `2 min`: the largest unit that leaves at most two decimals. */
export function durationText(ms: number): string {
  const [size, unit] = UNITS.find(([one]) => ms >= one && Number.isInteger((ms * 100) / one)) ?? [1, "ms"];
  return `${rounded(ms / size)} ${unit}`;
}

export const MOST_SUBJECTS = 10_000;

export type SubjectState = { readonly holds: boolean };

type Subjects<State extends SubjectState> = {
  get(subject: string): State | undefined;
  /** Makes it the most recent. */
  put(subject: string, state: State): void;
  drop(subject: string): void;
  /** Subjects whose condition holds. */
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

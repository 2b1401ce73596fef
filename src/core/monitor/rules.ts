/**
 * What a monitor is told, and what its rules say. A rule looks at entries one after the other and at the time; it keeps
 * little, and answers only when something begins or stops being so.
 */
import type { Json, JsonObject } from "../../kernel/json.ts";
import type { Money } from "../../kernel/money.ts";

export const SEVERITIES = ["info", "warning", "critical"] as const;
export type Severity = (typeof SEVERITIES)[number];

/** What a rule counts by. `all`: one count for everything that the monitor looks at. */
export const PER = ["tool", "agent", "workflow", "all"] as const;
export type Per = (typeof PER)[number];

export const OUTCOMES = ["failed", "refused", "in_doubt"] as const;
export type BadOutcome = (typeof OUTCOMES)[number];

type Base = {
  /** Unique in its monitor. Alerts are known by it. */
  readonly name: string;
  /** `warning` unless set. */
  readonly severity?: Severity;
  /** `alert` unless set. `checkpoint` also stops the workflow that it is about, until a person has decided. */
  readonly raise?: "alert" | "checkpoint";
};

/** Of a count per window: its moving average and deviation. */
export type Baseline = {
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

export const over = (subject: string, workflow: string | null): Signal => ({
  subject,
  holds: false,
  workflow,
  figures: {},
  says: "",
  proof: null,
});

export function subjectOf(per: Per, { tool, agent, workflow }: Sighting): string | null {
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

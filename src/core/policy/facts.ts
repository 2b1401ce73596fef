/** What a condition can know. Expressions name these; a condition in TypeScript is handed them. */
import type { Json } from "../../kernel/json.ts";
import type { PastCall, RiskLevel } from "../verdict.ts";

export type Facts = {
  readonly args: Json;
  readonly tool: { readonly name: string; readonly effect: string };
  readonly agent: string;
  /** Outside of a workflow its id, name and poster are empty and its generation is 0. */
  readonly workflow: {
    readonly id: string;
    readonly name: string;
    readonly generation: number;
    readonly poster: string;
  };
  /** Oldest first. */
  readonly history: readonly PastCall[];
  readonly totals: Readonly<Record<string, number>>;
  readonly risk: { readonly score: number; readonly level: RiskLevel };
  /** Milliseconds since 1970; in expressions a timestamp. */
  readonly now: number;
};

export const NO_WORKFLOW: Facts["workflow"] = { id: "", name: "", generation: 0, poster: "" };

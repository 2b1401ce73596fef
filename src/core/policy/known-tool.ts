import type { JsonObject } from "../../kernel/json.ts";

/** What is known of a tool when a policy is read. */
export type KnownTool = {
  readonly name: string;
  readonly effectClass: string;
  /** JSON Schema of its arguments; null where it is not known. */
  readonly schema: JsonObject | null;
  /** Nothing that the policy is read for calls it: its name is known, and no expression is checked against it. */
  readonly isElsewhere?: true;
};

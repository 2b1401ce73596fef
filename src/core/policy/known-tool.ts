import type { JsonObject } from "../json.ts";

/** What is known of a tool when a policy is read. */
export type KnownTool = {
  readonly name: string;
  readonly effectClass: string;
  /** JSON Schema of its arguments; null where it is not known. */
  readonly schema: JsonObject | null;
};

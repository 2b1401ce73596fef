/** Checks arguments against a JSON Schema that the journal kept, where the tool's own code is not at hand. */
import { z } from "zod";
import type { Json } from "../core/json.ts";

/** What does not fit, or undefined when it fits or when the schema cannot be read here: the tool decides in the end. */
export function issuesAgainst(schema: Json, args: Json): string | undefined {
  try {
    const parsed = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]).safeParse(args);
    return parsed.success
      ? undefined
      : parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`).join("; ");
  } catch {
    return undefined;
  }
}

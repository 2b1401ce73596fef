/** Checks arguments against a JSON Schema that the journal kept, where the tool's own code is not at hand. */
import type { Json } from "../core/json.ts";

/** What does not fit, or undefined when it fits or when the schema cannot be read here: the tool decides in the end. */
export async function issuesAgainst(schema: Json, args: Json): Promise<string | undefined> {
  try {
    // Loaded here because it is rarely needed and takes longer to load than everything else together.
    const { z } = await import("zod");
    const parsed = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]).safeParse(args);
    return parsed.success
      ? undefined
      : parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`).join("; ");
  } catch {
    return undefined;
  }
}

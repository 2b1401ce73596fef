/** Checks arguments against a JSON Schema that the journal kept, where the tool's own code is not at hand. */
import type { Json } from "../core/json.ts";

type Issue = { readonly path: readonly PropertyKey[]; readonly message: string };

/** What is wrong with the whole has no path to stand behind. */
export const issueText = ({ path, message }: Issue): string =>
  path.length === 0 ? message : `${path.map(String).join(".")}: ${message}`;

/** What does not fit, or undefined when it fits or when the schema cannot be read here: the tool decides in the end. */
export async function issuesAgainst(schema: Json, args: Json): Promise<string | undefined> {
  try {
    // Loaded here because it is rarely needed and takes longer to load than everything else together.
    const { z } = await import("zod");
    const parsed = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]).safeParse(args);
    return parsed.success ? undefined : parsed.error.issues.map(issueText).join("; ");
  } catch {
    return undefined;
  }
}

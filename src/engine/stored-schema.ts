/** Checks arguments against a JSON Schema that the journal kept, where the tool's own code is not at hand. */
import type { Json } from "../core/json.ts";
import type { Issue } from "../core/tool-rules.ts";

type Found = { readonly path: readonly PropertyKey[]; readonly message: string };

/** What is wrong with the whole has no path to stand behind. */
export const issueText = ({ path, message }: Found): string =>
  path.length === 0 ? message : `${path.map(String).join(".")}: ${message}`;

export const issuesText = (issues: readonly Issue[]): string => issues.map(issueText).join("; ");

const plain = (part: PropertyKey): string | number => (typeof part === "number" ? part : String(part));

/** What does not fit; nothing when it fits or when the schema cannot be read here: the tool decides in the end. */
export async function issuesAgainst(schema: Json, args: Json): Promise<readonly Issue[]> {
  try {
    // Loaded here because it is rarely needed and takes longer to load than everything else together.
    const { z } = await import("zod");
    const parsed = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]).safeParse(args);
    const found = parsed.success ? [] : parsed.error.issues;
    return found.map(({ path, message }) => ({ path: path.map(plain), message }));
  } catch {
    return [];
  }
}

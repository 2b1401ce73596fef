/** Input schemas that the journal keeps: which one a tool had, and what of some arguments does not fit it. */

import { HoldpointError } from "../kernel/errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../kernel/json.ts";
import { didYouMean } from "../kernel/spelling.ts";
import { actionStream } from "../kernel/stream.ts";
import { displayValue } from "../kernel/text.ts";
import type { Issue } from "../policy/rules/tool-rules.ts";
import { eachRow } from "../runtime/lists.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { loadArtifact, readState } from "../runtime/store-access.ts";

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

const MOST_LOOKED_AT = 20_000;

/** The JSON Schema of a tool's arguments, where its schema library could express it. */
export async function argumentsSchema(runtime: Runtime, digest: string): Promise<JsonObject | null> {
  const own = [...runtime.tools.values()].find(({ rules }) => rules.schemaDigest === digest);
  const text = own?.rules.schemaText;
  if (typeof text === "string") return JSON.parse(text) as JsonObject;
  const bytes = await runtime.store.artifact(runtime.tenant, digest);
  const kept = bytes === undefined ? null : await loadArtifact(runtime, digest);
  return isJsonObject(kept) ? kept : null;
}

/** The schema of a tool that this process declares, or of the last action that was proposed with it. */
export async function schemaDigest(runtime: Runtime, tool: string): Promise<string> {
  const own = runtime.tools.get(tool);
  if (own !== undefined) return own.rules.schemaDigest;
  const others = new Set<string>();
  let seen = 0;
  for await (const { data, stream } of eachRow(runtime, { view: "actions", order: "newest" })) {
    const state = data["tool"] === tool ? await readState(runtime, actionStream(stream.id)) : undefined;
    if (state !== undefined && state.phase !== "none") return state.schema;
    others.add(String(data["tool"]));
    if (++seen === MOST_LOOKED_AT) break;
  }
  throw new HoldpointError(
    "unknown_tool",
    `No action of the tool "${displayValue(tool)}" was found here${didYouMean(tool, others)}.`,
    {
      next: "Check the name, give the grant in a program that declares the tool, or wait until it is first called.",
    },
  );
}

/** A policy on trial: asked about recorded actions, with the schemas that the journal kept. */

import type { Asked } from "../../core/policy/tool-pattern.ts";
import type { Validation } from "../../core/tool-rules.ts";
import type { PolicyInput, Verdict } from "../../core/verdict.ts";
import { type Json, type JsonObject, parseJson } from "../../kernel/json.ts";
import type { Store } from "../../stores/store.ts";
import { issueText } from "../stored-schema.ts";

type Place = { readonly store: Store; readonly tenant: string };

/** What a back-test needs of a compiled policy. */
export type Candidate = {
  readonly name: string;
  readonly digest: string;
  judge(input: PolicyInput, asked?: Asked): Verdict;
  /** Does it limit how often this tool is called? */
  countsCalls(tool: string): boolean;
  readonly limits?: { readonly toolCalls?: number };
};

export type Validate = (args: Json) => Validation;
const anything: Validate = (value) => ({ ok: true, value });

/** The JSON Schema under a digest; undefined where the journal has kept none: it does so when it asks people. */
export async function keptSchema({ store, tenant }: Place, digest: string): Promise<JsonObject | undefined> {
  const bytes = await store.artifact(tenant, digest);
  if (bytes === undefined) return undefined;
  return parseJson(Buffer.from(bytes).toString("utf8")) as JsonObject;
}

/** Checks arguments as the tool would; one whose schema is not known takes anything. */
export async function validatorFor(schema: JsonObject | null): Promise<Validate> {
  if (schema === null) return anything;
  // Takes longer to load than everything else together, and is rarely needed.
  const { z } = await import("zod");
  try {
    const parsed = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
    return (args) => {
      const answer = parsed.safeParse(args);
      if (answer.success) return { ok: true, value: answer.data as Json };
      return { ok: false, issues: answer.error.issues.map(issueText).join("; ") };
    };
  } catch {
    // A schema that cannot be read here is the tool's to judge.
    return anything;
  }
}

/** Knows each schema once it has met it. */
export type Validators = (schema: string) => Validate | Promise<Validate>;

export function validatorsOf(place: Place): Validators {
  const known = new Map<string, Validate>();
  return (schema) => {
    const found = known.get(schema);
    if (found !== undefined) return found;
    return keptSchema(place, schema).then(async (kept) => {
      const made = await validatorFor(kept ?? null);
      known.set(schema, made);
      return made;
    });
  };
}

/** Arguments as a caller gives them, made into what is proposed: strict JSON, validated, secrets as handles. */
import { canonicalJson } from "../core/canonical-json.ts";
import { HoldpointError } from "../core/errors.ts";
import { isJsonObject, type Json } from "../core/json.ts";
import { isSecretHandle, knownSecrets, mapJson, type Secrets, validateHidden } from "./secrets.ts";
import type { Tool } from "./tool.ts";

export const LARGEST_BYTES = 8 * 1024 * 1024;

function checkKeys(part: Json): undefined {
  if (!isJsonObject(part) || isSecretHandle(part)) return undefined;
  const taken = Object.keys(part).find((key) => key.startsWith("$artifact") || key.startsWith("$secret"));
  if (taken !== undefined)
    throw new HoldpointError("reserved_key", `The key "${taken}" cannot be used in arguments.`);
  return undefined;
}

/** A value that nobody else holds, with nothing in it that the journal could not keep. */
export function plainJson(given: unknown): Json {
  const text = canonicalJson(given ?? {});
  const bytes = Buffer.byteLength(text);
  if (bytes > LARGEST_BYTES) {
    throw new HoldpointError(
      "payload_too_large",
      `The arguments have ${bytes} bytes; at most ${LARGEST_BYTES} are taken.`,
    );
  }
  const value = JSON.parse(text) as Json;
  mapJson(value, (part) => checkKeys(part) ?? (isSecretHandle(part) ? part : undefined));
  return value;
}

/** Validates arguments that were copied already. */
export async function prepareArgs(
  tool: Tool,
  args: Json,
  secrets: Secrets,
): Promise<{ readonly args: Json; readonly known: ReadonlyMap<string, string> }> {
  const known = knownSecrets(secrets);
  await known.load(args);
  const valid = validateHidden(tool.rules.validate, args, known);
  if (valid.ok) return { args: valid.value, known: known.values };
  throw new HoldpointError(
    "invalid_args",
    `The arguments do not fit the tool "${tool.rules.name}": ${valid.issues}.`,
  );
}

import { canonicalJson, copyJson, frozenJson } from "../kernel/canonical-json.ts";
import { HoldpointError } from "../kernel/errors.ts";
import { isJsonObject, type Json } from "../kernel/json.ts";
import { isSecretHandle, type SecretHandle } from "../kernel/stored-value.ts";
import { freshId, type RuntimeOpener } from "../runtime/runtime.ts";
import {
  isOwnHandle,
  knownSecrets,
  reservedKey,
  type Secrets,
  validateWithSecrets,
} from "../runtime/secrets.ts";
import type { Tool } from "./tool.ts";

/** Keeps a value as an encrypted row and answers its handle. */
export async function putSecret(open: RuntimeOpener, value: string): Promise<SecretHandle> {
  if (typeof value !== "string" || value === "")
    throw new HoldpointError("invalid_input", "A secret is a text that is not empty.");
  const runtime = await open();
  return runtime.secrets.put(freshId(runtime, "sec"), value);
}

// Arguments as a caller gives them, made into what is proposed: strict JSON, validated, secrets as handles.

const LARGEST_BYTES = 8 * 1024 * 1024;

function reserved(key: string): HoldpointError {
  const what = `The key "${key}" cannot be used in arguments.`;
  const next = "A secret's handle is made by secret() or putSecret(); JSON that looks like one is not taken.";
  return new HoldpointError("reserved_key", what, key.startsWith("$secret") ? { next } : {});
}

/**
 * A value that nobody else holds, with nothing in it that the journal could not keep. `allowed` are handles that may
 * stand in it although this program did not make them: those that are in the action already.
 */
export function plainJson(given: unknown, allowed: ReadonlySet<string> = new Set()): Json {
  const value = frozenJson(given ?? {});
  const bytes = Buffer.byteLength(canonicalJson(value));
  if (bytes > LARGEST_BYTES) {
    throw new HoldpointError(
      "payload_too_large",
      `The arguments have ${bytes} bytes; at most ${LARGEST_BYTES} are taken.`,
    );
  }
  // Canonical JSON has passed, so there are no cycles and no getters in it.
  const key = reservedKey(given, allowed);
  if (key !== undefined) throw reserved(key);
  return value;
}

function withMade(copy: Json, given: unknown): Json {
  if (isSecretHandle(given) && isOwnHandle(given)) return given;
  if (Array.isArray(copy) && Array.isArray(given))
    return copy.map((part: Json, index) => withMade(part, given[index]));
  if (!isJsonObject(copy) || !isJsonObject(given)) return copy;
  return Object.fromEntries(Object.entries(copy).map(([key, part]) => [key, withMade(part, given[key])]));
}

/** An edit, copied; the handles in it that this program made stay what they are, and nothing else passes for one. */
export const copyEdit = (given: unknown): Json => withMade(copyJson(given ?? {}), given);

export type PreparedArgs = { readonly args: Json; readonly known: ReadonlyMap<string, string> };

/** Validates arguments that were copied already. */
export async function prepareArgs(tool: Tool, args: Json, secrets: Secrets): Promise<PreparedArgs> {
  const known = knownSecrets(secrets);
  await known.load(args);
  const valid = validateWithSecrets(tool.rules.validate, args, known);
  if (valid.ok) return { args: frozenJson(valid.value), known: known.values };
  throw new HoldpointError(
    "invalid_args",
    `The arguments do not fit the tool "${tool.rules.name}": ${valid.issues}.`,
  );
}

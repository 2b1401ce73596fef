/** Turns a caller's arguments into what is proposed: strict JSON, validated, secrets as handles. */
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

/** Stores a value as an encrypted row and returns its handle. */
export async function putSecret(open: RuntimeOpener, value: string): Promise<SecretHandle> {
  if (typeof value !== "string" || value === "")
    throw new HoldpointError("invalid_input", "A secret is a text that is not empty.");
  const runtime = await open();
  return runtime.secrets.put(freshId(runtime, "sec"), value);
}

const LARGEST_BYTES = 8 * 1024 * 1024;

function reserved(key: string): HoldpointError {
  const what = `The key "${key}" cannot be used in arguments.`;
  const next = "A secret's handle is made by secret() or putSecret(); JSON that looks like one is not taken.";
  return new HoldpointError("reserved_key", what, key.startsWith("$secret") ? { next } : {});
}

/**
 * A frozen copy of the value, with nothing in it that the journal cannot keep. `allowed`: handles that it may contain
 * although this program did not make them, because the action already holds them.
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
  // Canonical JSON succeeded, so there are no cycles and no getters.
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

/** Copies an edit. Handles made by this program stay handles; no other value passes for one. */
export const copyEdit = (given: unknown): Json => withMade(copyJson(given ?? {}), given);

export type PreparedArgs = { readonly args: Json; readonly known: ReadonlyMap<string, string> };

/** Validates arguments that have already been copied. */
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

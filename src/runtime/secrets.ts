/**
 * Secrets are handles in arguments, journal, views, hashes and logs; only the tool's function gets the value.
 *
 * - A value is inserted just before the tool runs, and removed from everything that the tool returns: in keys and
 *   numbers too, and in the usual spellings (escaped, percent-encoded, base64).
 * - Rows are AES-256-GCM under a key that is not in the store; the tenant and the id are authenticated with them.
 */

import { createCipheriv, createDecipheriv } from "node:crypto";
import { canonicalJson } from "../kernel/canonical-json.ts";
import { HoldpointError } from "../kernel/errors.ts";
import { isJsonObject, type Json } from "../kernel/json.ts";
import { isSecretHandle, isSecretReference, type SecretHandle } from "../kernel/stored-value.ts";
import { displayValue } from "../kernel/text.ts";
import type { Validation } from "../policy/rules/tool-rules.ts";
import type { Store } from "../stores/store.ts";

export type Secrets = {
  resolve(handle: string): Promise<string>;
  put(id: string, value: string): Promise<SecretHandle>;
};

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Shorter values occur by chance, and redacting them would damage ordinary text. */
const SHORTEST_REDACTED = 4;

/**
 * Returns a handle for a secret: `secret("env:STRIPE_KEY")`. Pass it in arguments where the tool expects text. Its type
 * is a string, but only the tool's function sees one: policies, journal and approvers see the handle.
 */
export function secret(reference: string): string & SecretHandle {
  if (!isSecretReference(reference)) {
    throw new HoldpointError(
      "invalid_input",
      `"${displayValue(reference)}" is not a secret's reference: write env:NAME.`,
    );
  }
  return handle(reference) as unknown as string & SecretHandle;
}

/** Handles that this program made. JSON that only looks like one, for example from a model, is not resolved. */
const made = new WeakSet<object>();

function handle(reference: string): SecretHandle {
  const fresh = Object.freeze({ $secret: reference });
  made.add(fresh);
  return fresh;
}

export const isOwnHandle = (value: object): boolean => made.has(value);

type SecretsOptions = {
  readonly store: Store;
  readonly tenant: string;
  readonly environment: (name: string) => string | undefined;
  readonly key: () => Promise<Uint8Array>;
  readonly random: (bytes: number) => Uint8Array;
};

/** Undefined if the key, the context or the bytes do not match. */
function decrypt(sealed: Uint8Array, key: Uint8Array, context: Uint8Array): string | undefined {
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const tag = sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
  const decipher = createDecipheriv("aes-256-gcm", key, nonce).setAAD(context).setAuthTag(tag);
  try {
    const text = decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES));
    return Buffer.concat([text, decipher.final()]).toString("utf8");
  } catch {
    return undefined;
  }
}

export function createSecrets(options: SecretsOptions): Secrets {
  const context = (id: string) => Buffer.from(`${options.tenant}/${id}`);

  async function open(id: string): Promise<string> {
    const sealed = await options.store.getSecret(options.tenant, id);
    if (sealed === undefined)
      throw new HoldpointError("secret_missing", `There is no secret ${id} in the store.`);
    const opened = decrypt(sealed, await options.key(), context(id));
    if (opened === undefined)
      throw new HoldpointError("secret_missing", `The secret ${id} does not open with this key.`);
    return opened;
  }

  return {
    async resolve(handle) {
      if (isStored(handle)) return open(handle.slice(4));
      const value = options.environment(handle.slice(4));
      if (value === undefined || value === "")
        throw new HoldpointError("secret_missing", `The environment variable ${handle.slice(4)} is not set.`);
      return value;
    },
    async put(id, value) {
      const nonce = options.random(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", await options.key(), nonce).setAAD(context(id));
      const text = Buffer.concat([cipher.update(value, "utf8"), cipher.final()]);
      await options.store.putSecret(options.tenant, id, Buffer.concat([nonce, cipher.getAuthTag(), text]));
      return handle(`row:${id}`);
    },
  };
}

/** Replaces every part of a value for which `change` returns one. */
function mapJson(value: Json, change: (part: Json) => Json | undefined): Json {
  const changed = change(value);
  if (changed !== undefined) return changed;
  if (Array.isArray(value)) return value.map((part: Json) => mapJson(part, change));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, mapJson(part, change)]));
}

export function handlesIn(value: Json): ReadonlySet<string> {
  const handles = new Set<string>();
  if (!canonicalJson(value).includes('"$secret"')) return handles;
  mapJson(value, (part) => {
    if (isSecretHandle(part)) handles.add(part.$secret);
    return undefined;
  });
  return handles;
}

const isStored = (handle: string): boolean => handle.startsWith("row:");

/** Whether some of its secrets are in the store. */
export const hasStoredSecrets = (value: Json): boolean => [...handlesIn(value)].some(isStored);

const NONE: ReadonlyMap<string, string> = new Map();

/** Every handle with its value, if no store access is needed. */
export async function resolveLocalSecrets(
  secrets: Secrets,
  value: Json,
): Promise<ReadonlyMap<string, string> | undefined> {
  const handles = [...handlesIn(value)];
  if (handles.length === 0) return NONE;
  return handles.some(isStored) ? undefined : resolveSecrets(secrets, value).catch(() => undefined);
}

/** Every handle in a value, with the secret's value. */
export async function resolveSecrets(secrets: Secrets, value: Json): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const handle of handlesIn(value)) found.set(handle, await secrets.resolve(handle));
  return found;
}

/** The same, to remove secrets from texts. Empty if one of them cannot be loaded. */
export const tryResolveSecrets = (secrets: Secrets, value: Json): Promise<ReadonlyMap<string, string>> =>
  resolveSecrets(secrets, value).catch(() => NONE);

/** Thrown if rules meet handles that are not resolved yet: resolve them, then run the rules again. */
export class SecretsNeeded extends Error {
  override readonly name = "SecretsNeeded";
  readonly resolve: () => Promise<void>;

  constructor(resolve: () => Promise<void>) {
    super("secrets have to be looked up first");
    this.resolve = resolve;
  }
}

/** Secrets for synchronous rules and tools: values are resolved between two runs. */
export type KnownSecrets = {
  readonly values: ReadonlyMap<string, string>;
  load(value: Json): Promise<void>;
  reveal(value: Json): Json;
};

export function knownSecrets(secrets: Secrets): KnownSecrets {
  const values = new Map<string, string>();
  const missing = (value: Json) => [...handlesIn(value)].filter((handle) => !values.has(handle));
  const load = async (value: Json) => {
    for (const handle of missing(value)) values.set(handle, await secrets.resolve(handle));
  };
  return {
    values,
    load,
    reveal(value) {
      if (missing(value).length > 0) throw new SecretsNeeded(() => load(value));
      return revealSecrets(value, values);
    },
  };
}

type Misfit = Extract<Validation, { ok: false }>;

function withoutValues({ issues, each = [] }: Misfit, values: ReadonlyMap<string, string>): Misfit {
  const clean = (text: string) => redactText(text, values);
  return {
    ok: false,
    issues: clean(issues),
    each: each.map(({ path, message }) => ({ path, message: clean(message) })),
  };
}

/** Validates with the values inserted, then removes them again. */
export function validateWithSecrets(
  validate: (args: Json) => Validation,
  args: Json,
  known: KnownSecrets,
): Validation {
  const valid = validate(known.reveal(args));
  if (!valid.ok) return withoutValues(valid, known.values);
  const key = reservedKey(valid.value, new Set());
  if (key !== undefined)
    return { ok: false, issues: `the schema made the key "${key}", which is Holdpoint's own` };
  return { ok: true, value: hideSecrets(valid.value, args, known.values) };
}

/** A reserved key in a value, other than in an allowed handle. */
export function reservedKey(value: unknown, allowed: ReadonlySet<string>): string | undefined {
  if (Array.isArray(value))
    return value.map((part) => reservedKey(part, allowed)).find((key) => key !== undefined);
  if (!isJsonObject(value)) return undefined;
  if (isSecretHandle(value) && (isOwnHandle(value) || allowed.has(value.$secret))) return undefined;
  for (const [key, part] of Object.entries(value)) {
    if (key.startsWith("$artifact") || key.startsWith("$secret")) return key;
    const below = reservedKey(part, allowed);
    if (below !== undefined) return below;
  }
  return undefined;
}

export function revealSecrets(value: Json, known: ReadonlyMap<string, string>): Json {
  if (known.size === 0) return value;
  return mapJson(value, (part) => (isSecretHandle(part) ? known.get(part.$secret) : undefined));
}

/**
 * The inverse of `revealSecrets`: a value becomes its handle again, preferably at the handle's original path. Text that
 * the caller wrote stays as it is, or policy and people would be shown a handle in its place.
 */
function hideSecrets(value: Json, original: Json, known: ReadonlyMap<string, string>): Json {
  if (known.size === 0) return value;
  const handleOf = new Map([...known].map(([handle, text]) => [text, handle]));
  const hide = (part: Json, before: Json | undefined): Json => {
    if (Array.isArray(part))
      return part.map((item: Json, index) => hide(item, Array.isArray(before) ? before[index] : undefined));
    if (isJsonObject(part)) {
      const held = isJsonObject(before) ? before : {};
      return Object.fromEntries(Object.entries(part).map(([key, item]) => [key, hide(item, held[key])]));
    }
    if (typeof part !== "string" || part === before) return part;
    if (isSecretHandle(before) && known.get(before.$secret) === part) return before;
    const handle = handleOf.get(part);
    return handle === undefined ? part : { $secret: handle };
  };
  const hidden = hide(value, original);
  if (!hasNoSecrets(hidden, known)) {
    throw new HoldpointError("secret_transformed", "The arguments contain a secret's value.");
  }
  return hidden;
}

/** Whether none of the secret values can be read in it. */
export function hasNoSecrets(value: Json, known: ReadonlyMap<string, string>): boolean {
  return JSON.stringify(redactJson(value, known)) === JSON.stringify(value);
}

/** Spellings of a value that are likely in a tool's output. */
function spellings(value: string): readonly string[] {
  const bytes = Buffer.from(value);
  const encoded = [bytes.toString("base64"), bytes.toString("base64url")];
  return [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value), ...encoded];
}

/** Longer values first: one secret may be the beginning of another. */
export function redactText(text: string, known: ReadonlyMap<string, string>): string {
  let clean = text;
  for (const [handle, value] of [...known].sort(([, a], [, b]) => b.length - a.length)) {
    if (value.length < SHORTEST_REDACTED) continue;
    for (const spelling of spellings(value.toWellFormed()))
      clean = clean.replaceAll(spelling, `[secret ${handle}]`);
  }
  return clean;
}

export function redactJson(value: Json, known: ReadonlyMap<string, string>): Json {
  if (known.size === 0) return value;
  const clean = (part: Json): Json => {
    if (typeof part === "string") return redactText(part, known);
    if (typeof part === "number") return redactText(String(part), known) === String(part) ? part : "[secret]";
    if (Array.isArray(part)) return part.map(clean);
    if (!isJsonObject(part) || isSecretHandle(part)) return part;
    return Object.fromEntries(
      Object.entries(part).map(([key, item]) => [redactText(key, known), clean(item)]),
    );
  };
  return clean(value);
}

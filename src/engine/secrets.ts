/**
 * Secrets are handles in arguments, journal, views, hashes and logs; only the tool's function gets the value.
 *
 * M1. A value is put in place just before the tool runs, and taken out of whatever comes back.
 * M2. Rows are AES-256-GCM under a key that is not in the store; the tenant and the id are authenticated with them.
 */
import { createCipheriv, createDecipheriv } from "node:crypto";
import { HoldpointError } from "../core/errors.ts";
import { isJsonObject, type Json } from "../core/json.ts";
import type { Store } from "../stores/store.ts";

export type SecretHandle = { readonly $secret: string };

export type Secrets = {
  resolve(handle: string): Promise<string>;
  put(id: string, value: string): Promise<SecretHandle>;
};

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const REFERENCE = /^(env:[A-Za-z_][A-Za-z0-9_]{0,199}|row:sec_[0-9A-Z]{26})$/;
/** Shorter values occur by chance; taking them out would maim honest text. */
const SHORTEST_REDACTED = 4;

/** A handle on a secret: `secret("env:STRIPE_KEY")`. Put it into arguments where the tool wants the value. */
export function secret(reference: string): SecretHandle {
  if (typeof reference !== "string" || !REFERENCE.test(reference)) {
    throw new HoldpointError(
      "invalid_input",
      `"${String(reference)}" is not a secret's reference: write env:NAME.`,
    );
  }
  return { $secret: reference };
}

export function isSecretHandle(value: unknown): value is SecretHandle {
  return isJsonObject(value) && typeof value["$secret"] === "string" && Object.keys(value).length === 1;
}

type SecretsOptions = {
  readonly store: Store;
  readonly tenant: string;
  readonly environment: (name: string) => string | undefined;
  readonly key: () => Promise<Uint8Array>;
  readonly random: (bytes: number) => Uint8Array;
};

/** Undefined when the key, the place or the bytes are not those it was made with. */
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
      if (handle.startsWith("row:")) return open(handle.slice(4));
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
      return { $secret: `row:${id}` };
    },
  };
}

/** Replaces every part of a value for which `change` has an answer. */
export function mapJson(value: Json, change: (part: Json) => Json | undefined): Json {
  const changed = change(value);
  if (changed !== undefined) return changed;
  if (Array.isArray(value)) return value.map((part: Json) => mapJson(part, change));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, mapJson(part, change)]));
}

/** Every handle in a value, with what it stands for. */
export async function resolveAll(secrets: Secrets, value: Json): Promise<ReadonlyMap<string, string>> {
  const handles = new Set<string>();
  mapJson(value, (part) => {
    if (isSecretHandle(part)) handles.add(part.$secret);
    return undefined;
  });
  const found = new Map<string, string>();
  for (const handle of handles) found.set(handle, await secrets.resolve(handle));
  return found;
}

export function revealSecrets(value: Json, known: ReadonlyMap<string, string>): Json {
  if (known.size === 0) return value;
  return mapJson(value, (part) => (isSecretHandle(part) ? known.get(part.$secret) : undefined));
}

/** The way back: a whole value becomes its handle again. */
export function hideSecrets(value: Json, known: ReadonlyMap<string, string>): Json {
  if (known.size === 0) return value;
  const handleOf = new Map([...known].map(([handle, text]) => [text, handle]));
  const hidden = mapJson(value, (part) => {
    const handle = typeof part === "string" ? handleOf.get(part) : undefined;
    return handle === undefined ? undefined : { $secret: handle };
  });
  if (JSON.stringify(hidden) !== redactText(JSON.stringify(hidden), known)) {
    throw new HoldpointError("secret_transformed", "The tool's schema built a secret into another value.");
  }
  return hidden;
}

export function redactText(text: string, known: ReadonlyMap<string, string>): string {
  let clean = text;
  for (const [handle, value] of known) {
    if (value.length >= SHORTEST_REDACTED) clean = clean.replaceAll(value, `[secret ${handle}]`);
  }
  return clean;
}

export function redactJson(value: Json, known: ReadonlyMap<string, string>): Json {
  if (known.size === 0) return value;
  return mapJson(value, (part) => (typeof part === "string" ? redactText(part, known) : undefined));
}

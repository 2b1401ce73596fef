/**
 * Values as the journal stores them: small ones inline, large ones as a reference to an artifact, secrets as a handle
 * that says where the value is and holds no part of it. Keys that start with `$artifact` or `$secret` are Holdpoint's
 * own and are refused in user input.
 */

import { canonicalJson, sha256 } from "./canonical-json.ts";
import { isJsonObject, type Json, MAX_DEPTH } from "./json.ts";

/** Bytes stored under their own hash (SHA-256, hex). */
export type Artifact = { readonly hash: string; readonly bytes: Uint8Array };

export const INLINE_BYTES = 64 * 1024;

type ArtifactRef = { readonly $artifact: string; readonly bytes: number };

export function isArtifactRef(value: Json): value is ArtifactRef {
  return isJsonObject(value) && typeof value["$artifact"] === "string";
}

export function artifactHash(ref: ArtifactRef): string {
  return ref.$artifact.replace(/^sha256:/, "");
}

/** An entry's body nests a value a few levels deeper, and has the same limit of levels. */
const INLINE_LEVELS = MAX_DEPTH - 4;

function isDeep(value: Json, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((part: Json) => isDeep(part, levels - 1));
}

/** A small value that looks like a reference is stored as an artifact too, so that the two cannot be confused. */
export function storeValue(value: Json): { readonly json: Json; readonly artifact?: Artifact } {
  const text = canonicalJson(value);
  // Shorter text cannot have that many levels, so most values skip the walk.
  const isPlain =
    !isArtifactRef(value) && (text.length <= INLINE_LEVELS * 2 || !isDeep(value, INLINE_LEVELS));
  if (isPlain && text.length <= INLINE_BYTES / 4) return { json: value };
  const bytes = Buffer.from(text);
  if (isPlain && bytes.length <= INLINE_BYTES) return { json: value };
  const hash = sha256(bytes);
  return { json: { $artifact: `sha256:${hash}`, bytes: bytes.length }, artifact: { hash, bytes } };
}

export type SecretHandle = { readonly $secret: string };

const REFERENCE = /^(env:[A-Za-z_][A-Za-z0-9_]{0,199}|row:sec_[0-9A-Z]{26})$/;

export const isSecretReference = (text: unknown): text is string =>
  typeof text === "string" && REFERENCE.test(text);

/** A handle without any other field. */
export function isSecretHandle(value: unknown): value is SecretHandle {
  return isJsonObject(value) && Object.keys(value).length === 1 && isSecretReference(value["$secret"]);
}

const memberAt = (before: Json | undefined, key: string | number): Json | undefined => {
  if (typeof key === "number") return Array.isArray(before) ? before[key] : undefined;
  return isJsonObject(before) && Object.hasOwn(before, key) ? before[key] : undefined;
};

/**
 * Whether a handle is at a path where it was not before. A tool receives the value of each handle, so a handle moved
 * into a text would disclose its value to the recipients of that text. `isFree`: handles allowed at any path.
 */
export function hasMovedHandle(
  value: unknown,
  before: Json | undefined,
  isFree: (handle: SecretHandle) => boolean = () => false,
): boolean {
  if (Array.isArray(value))
    return value.some((item, index) => hasMovedHandle(item, memberAt(before, index), isFree));
  if (isSecretHandle(value))
    return !isFree(value) && !(isSecretHandle(before) && before.$secret === value.$secret);
  if (!isJsonObject(value)) return false;
  return Object.entries(value).some(([key, part]) => hasMovedHandle(part, memberAt(before, key), isFree));
}

/**
 * Values as the journal keeps them: small ones stand there as they are, large ones as a reference to an artifact. Keys
 * that start with `$artifact` or `$secret` are ours and refused in what a user sends.
 */
import { canonicalJson, MAX_DEPTH } from "./canonical-json.ts";
import { sha256 } from "./digest.ts";
import { isJsonObject, type Json } from "./json.ts";
import type { Artifact } from "./transaction.ts";

export const INLINE_BYTES = 64 * 1024;

export type ArtifactRef = { readonly $artifact: string; readonly bytes: number };

export function isArtifactRef(value: Json): value is ArtifactRef {
  return isJsonObject(value) && typeof value["$artifact"] === "string";
}

export function artifactHash(ref: ArtifactRef): string {
  return ref.$artifact.replace(/^sha256:/, "");
}

/** An entry's body nests a value a few levels deeper than it came, and has the same limit of levels. */
const INLINE_LEVELS = MAX_DEPTH - 4;

function isDeep(value: Json, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((part: Json) => isDeep(part, levels - 1));
}

/** A small value that itself looks like a reference is kept as an artifact too, so that the two cannot be confused. */
export function storeValue(value: Json): { readonly json: Json; readonly artifact?: Artifact } {
  const text = canonicalJson(value);
  // So many levels take more characters than most values have.
  const isPlain =
    !isArtifactRef(value) && (text.length <= INLINE_LEVELS * 2 || !isDeep(value, INLINE_LEVELS));
  if (isPlain && text.length <= INLINE_BYTES / 4) return { json: value };
  const bytes = Buffer.from(text);
  if (isPlain && bytes.length <= INLINE_BYTES) return { json: value };
  const hash = sha256(bytes);
  return { json: { $artifact: `sha256:${hash}`, bytes: bytes.length }, artifact: { hash, bytes } };
}

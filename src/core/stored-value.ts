/**
 * Values as the journal keeps them: small ones stand there as they are, large ones as a reference to an artifact. Keys
 * that start with `$artifact` or `$secret` are ours and refused in what a user sends.
 */
import { canonicalJson } from "./canonical-json.ts";
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

/** A small value that itself looks like a reference is kept as an artifact too, so that the two cannot be confused. */
export function storeValue(value: Json): { readonly json: Json; readonly artifact?: Artifact } {
  const text = canonicalJson(value);
  if (text.length <= INLINE_BYTES / 4 && !isArtifactRef(value)) return { json: value };
  const bytes = Buffer.from(text);
  if (bytes.length <= INLINE_BYTES && !isArtifactRef(value)) return { json: value };
  const hash = sha256(bytes);
  return { json: { $artifact: `sha256:${hash}`, bytes: bytes.length }, artifact: { hash, bytes } };
}

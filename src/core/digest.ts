import { hash } from "node:crypto";
import { canonicalJson, isKept } from "./canonical-json.ts";

/** SHA-256 in lower-case hex. */
export function sha256(bytes: string | Uint8Array): string {
  return hash("sha256", bytes, "hex");
}

/** SHA-256 over RFC 8785 JSON of a value. */
export function digestOf(value: unknown): string {
  if (!isKept(value)) return sha256(canonicalJson(value));
  const known = digests.get(value) ?? sha256(canonicalJson(value));
  digests.set(value, known);
  return known;
}

/** Of values that cannot change. */
const digests = new WeakMap<object, string>();

/** The short name of a set of arguments that people and traces see: 12 hex digits. */
export function argsHash(args: unknown): string {
  return digestOf(args).slice(0, 12);
}

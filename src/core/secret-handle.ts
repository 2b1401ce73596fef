/** What stands in arguments in place of a secret: where its value is, and nothing of it. */
import { isJsonObject, type Json } from "./json.ts";

export type SecretHandle = { readonly $secret: string };

const REFERENCE = /^(env:[A-Za-z_][A-Za-z0-9_]{0,199}|row:sec_[0-9A-Z]{26})$/;

export const isSecretReference = (text: unknown): text is string =>
  typeof text === "string" && REFERENCE.test(text);

/** It, and nothing beside it. */
export function isSecretHandle(value: unknown): value is SecretHandle {
  return isJsonObject(value) && Object.keys(value).length === 1 && isSecretReference(value["$secret"]);
}

const at = (before: Json | undefined, key: string | number): Json | undefined => {
  if (typeof key === "number") return Array.isArray(before) ? before[key] : undefined;
  return isJsonObject(before) && Object.hasOwn(before, key) ? before[key] : undefined;
};

/**
 * Whether a handle stands where it did not stand before: a tool gets the value of each, and one that was moved into a text would be
 * told to whomever that text goes to. `isFree`: one that may stand anywhere.
 */
export function hasMovedHandle(
  value: unknown,
  before: Json | undefined,
  isFree: (handle: SecretHandle) => boolean = () => false,
): boolean {
  if (Array.isArray(value))
    return value.some((item, index) => hasMovedHandle(item, at(before, index), isFree));
  if (isSecretHandle(value))
    return !isFree(value) && !(isSecretHandle(before) && before.$secret === value.$secret);
  if (!isJsonObject(value)) return false;
  return Object.entries(value).some(([key, part]) => hasMovedHandle(part, at(before, key), isFree));
}

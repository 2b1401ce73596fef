/** What stands in arguments in place of a secret: where its value is, and nothing of it. */
import { isJsonObject } from "./json.ts";

export type SecretHandle = { readonly $secret: string };

const REFERENCE = /^(env:[A-Za-z_][A-Za-z0-9_]{0,199}|row:sec_[0-9A-Z]{26})$/;

export const isSecretReference = (text: unknown): text is string =>
  typeof text === "string" && REFERENCE.test(text);

/** It, and nothing beside it. */
export function isSecretHandle(value: unknown): value is SecretHandle {
  return isJsonObject(value) && Object.keys(value).length === 1 && isSecretReference(value["$secret"]);
}

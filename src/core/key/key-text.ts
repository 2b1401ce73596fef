/**
 * Keys and login links as text: `hpk_<tenant>_<id>_<secret><checksum>`, with `hpl` for a link. The id is 26 characters, the
 * secret 32 bytes in base64url (43 characters), the checksum the first 6 characters of the base64url SHA-256 of what stands before
 * it: what was mistyped or cut is told apart without a look at the store, and scanners find leaked keys by their form.
 *
 * Y1. A credential has one text: whatever differs from it in one character is none, or another.
 * Y2. Only the hash of the secret is kept. 256 random bits need no slow hash.
 */
import { hash } from "node:crypto";
import { sha256 } from "../../kernel/canonical-json.ts";
import { tenantOf, tenantText } from "./tenant-text.ts";

export const SECRET_BYTES = 32;

const PREFIXES = { hpk: "key", hpl: "lgn" } as const;
export type TextPrefix = keyof typeof PREFIXES;

export type ReadText = {
  readonly tenant: string;
  /** `key_…` or `lgn_…`. */
  readonly id: string;
  /** Of the secret, as it is kept. */
  readonly hash: string;
};
export type Misread = "malformed" | "wrong_checksum";

const FORM = /^(hp[kl])_([A-Za-z0-9-]{1,411})_([0-9A-HJKMNP-TV-Z]{26})_([\w-]{43})([\w-]{6})$/;
const LONGEST = 600;
const CHECKSUM = 6;

export const secretText = (secret: Uint8Array): string => Buffer.from(secret).toString("base64url");
export const hashOfSecret = (secret: string): string => sha256(Buffer.from(secret, "base64url"));
/** 43 characters hold 258 bits: the two that are left over have to be zero. */
export const isSecretText = (text: string): boolean =>
  text.length === 43 && Buffer.from(text, "base64url").toString("base64url") === text;

const checksumOf = (text: string): string => hash("sha256", text, "base64url").slice(0, CHECKSUM);

export function printText(
  prefix: TextPrefix,
  { tenant, id, secret }: { readonly tenant: string; readonly id: string; readonly secret: Uint8Array },
): string | undefined {
  const place = tenantText(tenant);
  if (place === undefined) return undefined;
  const text = `${prefix}_${place}_${id.slice(id.indexOf("_") + 1)}_${secretText(secret)}`;
  return text + checksumOf(text);
}

export function readText(prefix: TextPrefix, text: string): ReadText | Misread {
  if (text.length > LONGEST) return "malformed";
  const [, found, place = "", id = "", secret = "", checksum] = FORM.exec(text) ?? [];
  const tenant = tenantOf(place);
  if (found !== prefix || tenant === undefined || !isSecretText(secret)) return "malformed";
  if (checksumOf(text.slice(0, -CHECKSUM)) !== checksum) return "wrong_checksum";
  return { tenant, id: `${PREFIXES[prefix]}_${id}`, hash: hashOfSecret(secret) };
}

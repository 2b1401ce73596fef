/** A session as the value of a cookie, `<tenant>.<id>.<secret>`, and the token that a page sends along with what it changes. */
import { createHmac } from "node:crypto";
import { hashOfSecret, isSecretText, type ReadText, secretText } from "../key/key-text.ts";
import { tenantOf, tenantText } from "../key/tenant-text.ts";

const FORM = /^([A-Za-z0-9-]{1,411})\.(ses_[0-9A-HJKMNP-TV-Z]{26})\.([\w-]{43})$/;
const LONGEST = 600;

export function printSession(given: {
  readonly tenant: string;
  readonly id: string;
  readonly secret: Uint8Array;
}): string | undefined {
  const place = tenantText(given.tenant);
  return place === undefined ? undefined : `${place}.${given.id}.${secretText(given.secret)}`;
}

export type ReadSession = ReadText & {
  /** Made from the secret, so that a page can be given it again; it is no way back to the secret. */
  readonly csrf: string;
};

export function readSession(text: string): ReadSession | undefined {
  const [, place = "", id = "", secret = ""] = text.length > LONGEST ? [] : (FORM.exec(text) ?? []);
  const tenant = tenantOf(place);
  if (tenant === undefined || !isSecretText(secret)) return undefined;
  return { tenant, id, hash: hashOfSecret(secret), csrf: csrfOf(secret) };
}

export function csrfOf(secret: string): string {
  return createHmac("sha256", Buffer.from(secret, "base64url")).update("csrf").digest("base64url");
}

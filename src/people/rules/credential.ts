/**
 * Credentials: when they are valid, and their text (API keys, login links, session cookies).
 * - A person's key or session is valid only while the person is in the roster and in good standing, and only if it is
 *   newer than their membership.
 * - A person's rights come from the current roster, never from the time when the credential was issued.
 * - Sessions and login links from before a restore are void. In a closed tenant every credential is void.
 * - Text of a key: `hpk_<tenant>_<id>_<secret><checksum>` (`hpl_` for a link); of a session: `<tenant>.<id>.<secret>`.
 *   One text per credential; the checksum detects typos. Only a (fast) hash of the 256-bit secret is stored.
 */

import { createHmac, hash } from "node:crypto";
import type { StoreState } from "../../journal/stream.ts";
import { sha256 } from "../../kernel/canonical-json.ts";
import { isPerson } from "../../kernel/principal.ts";
import type { Scope } from "../../kernel/registry.ts";
import { checkKey, type KeyFault, type KeyState, type LiveKey } from "../keys/stream.ts";
import { checkSession, type SessionFault, type SessionState } from "../sessions/stream.ts";
import type { Role, RosterState } from "../stream.ts";
import type { TenantState } from "../tenants/stream.ts";
import { scopesOf } from "./scopes.ts";

export type StandingFault = "removed" | "suspended";

/** Why a person's credential is void; undefined if it is valid. */
export function standingFault(
  { members, suspended }: RosterState,
  person: string,
  heldSince: number,
): StandingFault | undefined {
  const member = members.get(person);
  if (member === undefined || heldSince < member.since) return "removed";
  return suspended.includes(person) ? "suspended" : undefined;
}

/** The same in words, for a person who would get a credential now. */
export function membershipFault(roster: RosterState, person: string, now: number): string | undefined {
  const fault = standingFault(roster, person, now);
  if (fault === undefined) return undefined;
  return fault === "removed" ? `${person} is not in the list of people` : `${person} is not in good standing`;
}

/** A restored history lacks revocations made after its backup, so sessions and links from before it are void. */
export const isFromBeforeRestore = ({ last }: StoreState, at: number): boolean =>
  last !== null && at <= last.at;

export type Holder = {
  readonly principal: string;
  readonly roles: readonly Role[];
  readonly scopes: readonly Scope[];
};
export type CredentialFault = KeyFault | SessionFault | StandingFault | "restored" | "closed";
type RefusedCredential = { readonly refused: CredentialFault };

function holderIn(
  { roster, tenant }: KeyContext,
  { principal, roles, scopes }: Omit<LiveKey, "status">,
): Holder {
  const now = isPerson(principal) ? (roster.members.get(principal)?.roles ?? []) : roles;
  return { principal, roles: now, scopes: scopesOf({ tenant, principal, roles: now }, scopes) };
}

/** The tenant that the credential names, and its status. */
type TenantContext = { readonly tenant: string; readonly standing: TenantState };
type KeyContext = TenantContext & { readonly key: KeyState; readonly roster: RosterState };

/** For a key that is used repeatedly: validity is checked on each call, roles and scopes are resolved once. */
export function holdersOfKey(seen: KeyContext): (hash: string, now: number) => Holder | RefusedCredential {
  const { key, roster } = seen;
  let holder: Holder | undefined;
  return (hash, now) => {
    const fault = checkKey(key, hash, now);
    if (fault !== undefined || key.status === "none") return { refused: fault ?? "unknown" };
    if (seen.standing.status === "closed") return { refused: "closed" };
    const standing = isPerson(key.principal) ? standingFault(roster, key.principal, key.issuedAt) : undefined;
    if (standing !== undefined) return { refused: standing };
    holder ??= holderIn(seen, key);
    return holder;
  };
}

type SessionContext = TenantContext & {
  readonly session: SessionState;
  readonly roster: RosterState;
  readonly history: StoreState;
};

export function holderOfSession(seen: SessionContext, hash: string, now: number): Holder | RefusedCredential {
  const { session, roster, history, tenant } = seen;
  const fault = checkSession(session, hash, now);
  if (fault !== undefined || session.status === "none") return { refused: fault ?? "unknown" };
  if (seen.standing.status === "closed") return { refused: "closed" };
  if (isFromBeforeRestore(history, session.begunAt)) return { refused: "restored" };
  const { person, begunAt } = session;
  const standing = standingFault(roster, person, begunAt);
  if (standing !== undefined) return { refused: standing };
  const roles = roster.members.get(person)?.roles ?? [];
  return { principal: person, roles, scopes: scopesOf({ tenant, principal: person, roles }, null) };
}

/**
 * A tenant's name inside a credential: unchanged if it has only lower-case letters, digits and hyphens, else `B` and
 * its bytes in base 32. Neither form contains a credential's separators, and each name has exactly one form.
 */
const PLAIN = /^[a-z0-9-]{1,64}$/;
const ENCODED = /^B[A-Z2-7]{2,410}$/;
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const MOST_BYTES = 256;

function base32(bytes: Uint8Array): string {
  let text = "";
  let held = 0;
  let bits = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    for (bits += 8; bits >= 5; held &= (1 << bits) - 1) {
      bits -= 5;
      text += ALPHABET[held >> bits];
    }
  }
  return bits === 0 ? text : text + ALPHABET[(held << (5 - bits)) & 31];
}

function bytesOf(text: string): Uint8Array {
  const bytes: number[] = [];
  let held = 0;
  let bits = 0;
  for (const character of text) {
    held = (held << 5) | ALPHABET.indexOf(character);
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push(held >> bits);
    held &= (1 << bits) - 1;
  }
  return Uint8Array.from(bytes);
}

/** undefined for a name that no credential can carry: empty or too long. */
export function tenantText(tenant: string): string | undefined {
  if (PLAIN.test(tenant)) return tenant;
  const bytes = Buffer.from(tenant, "utf8");
  const fits = bytes.length > 0 && bytes.length <= MOST_BYTES && tenant.isWellFormed();
  return fits ? `B${base32(bytes)}` : undefined;
}

/** Accepts only the one form that `tenantText` writes. */
export function tenantFromText(text: string): string | undefined {
  if (PLAIN.test(text)) return text;
  if (!ENCODED.test(text)) return undefined;
  const tenant = Buffer.from(bytesOf(text.slice(1))).toString("utf8");
  return tenantText(tenant) === text ? tenant : undefined;
}

export const CREDENTIAL_SECRET_BYTES = 32;

const PREFIXES = { hpk: "key", hpl: "lgn" } as const;
export type TextPrefix = keyof typeof PREFIXES;

type ParsedCredential = {
  readonly tenant: string;
  /** `key_…` or `lgn_…`. */
  readonly id: string;
  /** Hash of the secret, as stored. */
  readonly hash: string;
};
type CredentialTextFault = "malformed" | "wrong_checksum";

const CREDENTIAL_FORM = /^(hp[kl])_([A-Za-z0-9-]{1,411})_([0-9A-HJKMNP-TV-Z]{26})_([\w-]{43})([\w-]{6})$/;
const LONGEST_CREDENTIAL = 600;
const CHECKSUM = 6;

export const credentialSecretText = (secret: Uint8Array): string => Buffer.from(secret).toString("base64url");
export const hashOfSecret = (secret: string): string => sha256(Buffer.from(secret, "base64url"));
/** 43 characters hold 258 bits: the two spare bits must be zero. */
const isSecretText = (text: string): boolean =>
  text.length === 43 && Buffer.from(text, "base64url").toString("base64url") === text;

const checksumOf = (text: string): string => hash("sha256", text, "base64url").slice(0, CHECKSUM);

export function formatCredential(
  prefix: TextPrefix,
  { tenant, id, secret }: { readonly tenant: string; readonly id: string; readonly secret: Uint8Array },
): string | undefined {
  const place = tenantText(tenant);
  if (place === undefined) return undefined;
  const text = `${prefix}_${place}_${id.slice(id.indexOf("_") + 1)}_${credentialSecretText(secret)}`;
  return text + checksumOf(text);
}

export function parseCredential(prefix: TextPrefix, text: string): ParsedCredential | CredentialTextFault {
  if (text.length > LONGEST_CREDENTIAL) return "malformed";
  const [, found, place = "", id = "", secret = "", checksum] = CREDENTIAL_FORM.exec(text) ?? [];
  const tenant = tenantFromText(place);
  if (found !== prefix || tenant === undefined || !isSecretText(secret)) return "malformed";
  if (checksumOf(text.slice(0, -CHECKSUM)) !== checksum) return "wrong_checksum";
  return { tenant, id: `${PREFIXES[prefix]}_${id}`, hash: hashOfSecret(secret) };
}

const SESSION_FORM = /^([A-Za-z0-9-]{1,411})\.(ses_[0-9A-HJKMNP-TV-Z]{26})\.([\w-]{43})$/;
const LONGEST_SESSION = 600;

export function formatSession(given: {
  readonly tenant: string;
  readonly id: string;
  readonly secret: Uint8Array;
}): string | undefined {
  const place = tenantText(given.tenant);
  return place === undefined ? undefined : `${place}.${given.id}.${credentialSecretText(given.secret)}`;
}

type ParsedSession = ParsedCredential & {
  /** Derived from the secret, so that a page can be given it again. The secret cannot be recovered from it. */
  readonly csrf: string;
};

export function parseSession(text: string): ParsedSession | undefined {
  const [, place = "", id = "", secret = ""] =
    text.length > LONGEST_SESSION ? [] : (SESSION_FORM.exec(text) ?? []);
  const tenant = tenantFromText(place);
  if (tenant === undefined || !isSecretText(secret)) return undefined;
  return { tenant, id, hash: hashOfSecret(secret), csrf: csrfToken(secret) };
}

export function csrfToken(secret: string): string {
  return createHmac("sha256", Buffer.from(secret, "base64url")).update("csrf").digest("base64url");
}

/**
 * Address at which a browser uses a login link. The part after # stays in the browser: no server log or proxy sees it.
 * `to`: dashboard page to open afterwards. Default: the first one.
 */
export function loginAddress(base: string, text: string, to?: string): string {
  const next = to === undefined ? "" : `?to=${encodeURIComponent(to)}`;
  return `${base.replace(/\/+$/, "")}/login${next}#${text}`;
}

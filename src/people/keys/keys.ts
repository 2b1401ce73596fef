/** API keys: issue, rotate, revoke and list. The text of a key is returned once, when it is issued. */

import { HoldpointError } from "../../kernel/errors.ts";
import { channelField, type Via } from "../../kernel/principal.ts";
import { keyStream } from "../../kernel/stream.ts";
import { displayValue } from "../../kernel/text.ts";
import { rowPage } from "../../runtime/lists.ts";
import { freshId, type Runtime } from "../../runtime/runtime.ts";
import { readStateAt, runCommand } from "../../runtime/store-access.ts";
import type { TenantStore } from "../../stores/store.ts";
import { forgetCredentials } from "../authenticate.ts";
import { checkSaid, type KeyOffer, type KeyPage, type KeyRotation, type Said } from "../input.ts";
import {
  CREDENTIAL_SECRET_BYTES,
  credentialSecretText,
  formatCredential,
  hashOfSecret,
  type TextPrefix,
} from "../rules/credential.ts";
import { SCOPES, type Scope } from "../rules/scopes.ts";
import { ROLES } from "../stream.ts";
import { issueKey, revokeKey, rotateKey } from "./rules.ts";
import type { KeyTerms, LiveKey } from "./stream.ts";

type KeyDependencies = Pick<Runtime, "store" | "tenant" | "clock" | "random">;

/** A key as it is listed: everything but the secret, of which only a hash is stored. */
export type ApiKey = Omit<KeyTerms, "hash"> & {
  readonly id: string;
  readonly status: "active" | "expired" | "revoked";
  readonly issuedAt: number;
  /** The key that replaced it. */
  readonly replacedBy: string | null;
  readonly revoked: LiveKey["revoked"];
};

/** `text` goes into `Authorization: Bearer`. It is returned only here and never stored. */
export type IssuedKey = { readonly key: ApiKey; readonly text: string };
export type KeyList = { readonly items: readonly ApiKey[]; readonly next: string | null };

const OVERLAP_MS = 3_600_000;

function statusAt({ status, expiresAt }: LiveKey, now: number): ApiKey["status"] {
  if (status === "revoked") return "revoked";
  return expiresAt !== null && now >= expiresAt ? "expired" : "active";
}

function detailsOf(id: string, key: LiveKey, now: number): ApiKey {
  const { hash: _hash, ...rest } = key;
  return structuredClone({ ...rest, id, status: statusAt(key, now) });
}

function unknownKey(id: string): HoldpointError {
  return new HoldpointError("unknown_id", `There is no key ${displayValue(id)}.`, {
    next: "`holdpoint keys` lists them.",
  });
}

function keyNotAllowed(reason: string): HoldpointError {
  return new HoldpointError("not_eligible", `Nothing was changed: ${reason}.`, {
    data: "Nothing was written.",
    next: "Correct that, or ask somebody who may.",
  });
}

/** A new secret as credential text, and the hash to store. */
export function makeSecret(
  { tenant, random }: Pick<KeyDependencies, "tenant" | "random">,
  prefix: TextPrefix,
  id: string,
): { readonly text: string; readonly hash: string } {
  const secret = random(CREDENTIAL_SECRET_BYTES);
  const text = formatCredential(prefix, { tenant, id, secret });
  if (text === undefined)
    throw new HoldpointError(
      "invalid_input",
      "No credential can carry the name of this tenant: it is too long.",
    );
  return { text, hash: hashOfSecret(credentialSecretText(secret)) };
}

export async function getKey(place: TenantStore, id: string): Promise<ApiKey> {
  const { state, now } = await readStateAt(place, keyStream(id));
  if (state.status === "none") throw unknownKey(id);
  return detailsOf(id, state, now);
}

/** `mayGive`: the caller's own scopes, if known. A key never has more. */
export async function issueApiKey(
  hands: KeyDependencies,
  offer: KeyOffer & Via,
  mayGive: readonly Scope[] | null = null,
): Promise<IssuedKey> {
  const { principal, name, roles = [], scopes, forMs = null, by } = offer;
  const id = freshId(hands, "key");
  const { text, hash } = makeSecret(hands, "hpk", id);
  const tidy = {
    roles: ROLES.filter((role) => roles.includes(role)),
    scopes: scopes === undefined ? null : SCOPES.filter((scope) => scopes.includes(scope)),
  };
  const command = {
    key: id,
    principal,
    name,
    ...tidy,
    hash,
    by,
    lastsMs: forMs,
    mayGive,
    ...channelField(offer),
  };
  const answer = await runCommand(hands, { write: [keyStream(id)] }, (draft) => issueKey(draft, command));
  // A lookup before the key existed found none, and that result is cached.
  forgetCredentials(hands.store);
  if (answer.kind === "not_allowed") throw keyNotAllowed(answer.reason);
  return { key: await getKey(hands, id), text };
}

export async function rotateApiKey(
  hands: KeyDependencies,
  id: string,
  rotation: KeyRotation & Via,
  mayGive: readonly Scope[] | null = null,
): Promise<IssuedKey> {
  const { by, overlapMs = OVERLAP_MS, forMs } = rotation;
  const next = freshId(hands, "key");
  const { text, hash } = makeSecret(hands, "hpk", next);
  const command = { key: id, next, hash, overlapMs, lastsMs: forMs, by, mayGive, ...channelField(rotation) };
  const needs = { write: [keyStream(id), keyStream(next)] };
  const answer = await runCommand(hands, needs, (draft) => rotateKey(draft, command));
  forgetCredentials(hands.store);
  if (answer.kind === "unknown") throw unknownKey(id);
  if (answer.kind === "not_allowed") throw keyNotAllowed(answer.reason);
  if (answer.kind === "over")
    throw new HoldpointError("wrong_state", `The key ${id} cannot be rotated: ${answer.why}.`, {
      next: "Rotate the one that is in use, or issue a new one; `holdpoint keys` lists them.",
    });
  return { key: await getKey(hands, next), text };
}

export async function revokeApiKey(
  place: Pick<Runtime, "store" | "tenant" | "clock">,
  id: string,
  said: Said & Via,
): Promise<ApiKey> {
  checkSaid(said);
  const { by, reason } = said;
  try {
    const answer = await runCommand(place, { write: [keyStream(id)] }, (draft) =>
      revokeKey(draft, { key: id, by, reason, ...channelField(said) }),
    );
    if (answer.kind === "unknown") throw unknownKey(id);
    if (answer.kind === "not_allowed") throw keyNotAllowed(answer.reason);
  } finally {
    forgetCredentials(place.store);
  }
  return getKey(place, id);
}

/** Newest first. */
export async function listKeys(place: TenantStore, page: KeyPage = {}): Promise<KeyList> {
  const { principal = "any", limit = 100, after } = page;
  const list = { view: "keys", kind: "key", prefix: "key", bucket: principal, order: "newest" } as const;
  const { rows, next } = await rowPage(place, { ...list, limit, after });
  return { items: await Promise.all(rows.map(({ stream }) => getKey(place, stream.id))), next };
}

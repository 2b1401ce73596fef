/** Implementation of the verbs of API keys. The text of a key is returned once, when it is issued. */
import { unknownId } from "../../kernel/contract.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import { channelField } from "../../kernel/principal.ts";
import { SCOPES } from "../../kernel/registry.ts";
import { keyStream } from "../../kernel/stream.ts";
import { findIds, rowPage } from "../../runtime/lists.ts";
import { freshId, type Runtime } from "../../runtime/runtime.ts";
import { readStateAt } from "../../runtime/store-access.ts";
import { capability, decideVerb, preparedVerb, readVerb } from "../../runtime/verb.ts";
import type { TenantStore } from "../../stores/store.ts";
import { clearingCredentials } from "../authenticate.ts";
import {
  CREDENTIAL_SECRET_BYTES,
  credentialSecretText,
  formatCredential,
  hashOfSecret,
  type TextPrefix,
} from "../rules/credential.ts";
import { grantableScopes } from "../rules/scopes.ts";
import { ROLES } from "../stream.ts";
import { type ApiKey, keys } from "./contract.ts";
import { issueKey, revokeKey, rotateKey } from "./rules.ts";
import type { LiveKey } from "./stream.ts";

const OVERLAP_MS = 3_600_000;

function statusAt({ status, expiresAt }: LiveKey, now: number): ApiKey["status"] {
  if (status === "revoked") return "revoked";
  return expiresAt !== null && now >= expiresAt ? "expired" : "active";
}

function describeKey(id: string, key: LiveKey, now: number): ApiKey {
  const { hash: _hash, ...rest } = key;
  return structuredClone({ ...rest, id, status: statusAt(key, now) });
}

function keyNotAllowed(reason: string): HoldpointError {
  return new HoldpointError("not_eligible", `Nothing was changed: ${reason}.`, {
    data: "Nothing was written.",
    next: "Correct that, or ask a person who may.",
  });
}

/** A new secret as credential text, and the hash to store. */
export function makeSecret(
  { tenant, random }: Pick<Runtime, "tenant" | "random">,
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

async function getKey(place: TenantStore, id: string): Promise<ApiKey> {
  const { state, now } = await readStateAt(place, keyStream(id));
  if (state.status === "none") throw unknownId(keys, id);
  return describeKey(id, state, now);
}

export const keyVerbs = capability(keys, {
  list: readVerb(async (runtime, { principal = "any", limit = 100, after }) => {
    const list = { view: "keys", kind: "key", prefix: "key", bucket: principal, order: "newest" } as const;
    const { rows, next } = await rowPage(runtime, { ...list, limit, after });
    return { items: await Promise.all(rows.map(({ stream }) => getKey(runtime, stream.id))), next };
  }),

  // A lookup before the key existed found none, and that result is cached.
  issue: clearingCredentials(
    preparedVerb(
      async (runtime, { principal, name, roles = [], scopes, forMs = null, by }, how, caller) => {
        const key = freshId(runtime, "key");
        const { text, hash } = makeSecret(runtime, "hpk", key);
        const command = {
          key,
          principal,
          name,
          roles: ROLES.filter((role) => roles.includes(role)),
          scopes: scopes === undefined ? null : SCOPES.filter((scope) => scopes.includes(scope)),
          hash,
          by,
          lastsMs: forMs,
          mayGive: grantableScopes(caller),
          ...channelField(how),
        };
        return { input: { text, command }, needs: { write: [keyStream(key)] } };
      },
      (draft, { command }) => issueKey(draft, command),
      async (runtime, answer, { text, command }) => {
        if (answer.kind === "not_allowed") throw keyNotAllowed(answer.reason);
        return { key: await getKey(runtime, command.key), text };
      },
    ),
  ),

  find: readVerb((runtime, { beginning }) => findIds(runtime, "keys", beginning)),
  get: readVerb((runtime, { id }) => getKey(runtime, id)),

  rotate: clearingCredentials(
    preparedVerb(
      async (runtime, { id: key, by, overlapMs = OVERLAP_MS, forMs }, how, caller) => {
        const next = freshId(runtime, "key");
        const { text, hash } = makeSecret(runtime, "hpk", next);
        const terms = { hash, overlapMs, lastsMs: forMs, by, mayGive: grantableScopes(caller) };
        const command = { key, next, ...terms, ...channelField(how) };
        return { input: { text, command }, needs: { write: [keyStream(key), keyStream(next)] } };
      },
      (draft, { command }) => rotateKey(draft, command),
      async (runtime, answer, { text, command: { key, next } }) => {
        if (answer.kind === "unknown") throw unknownId(keys, key);
        if (answer.kind === "not_allowed") throw keyNotAllowed(answer.reason);
        if (answer.kind === "over")
          throw new HoldpointError("wrong_state", `The key ${key} cannot be rotated: ${answer.why}.`, {
            next: "Rotate the one that is in use, or issue a new one; `holdpoint keys` lists them.",
          });
        return { key: await getKey(runtime, next), text };
      },
    ),
  ),

  revoke: clearingCredentials(
    decideVerb(
      (draft, { id, by, reason }, how) => revokeKey(draft, { key: id, by, reason, ...channelField(how) }),
      (runtime, answer, { id }) => {
        if (answer.kind === "unknown") throw unknownId(keys, id);
        if (answer.kind === "not_allowed") throw keyNotAllowed(answer.reason);
        return getKey(runtime, id);
      },
    ),
  ),
});

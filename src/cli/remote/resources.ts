/** People, keys and tenants of a server, with the methods of the library. */

import type { AnswerOf } from "../../client/calls.ts";
import type { Keys, People } from "../../people/methods.ts";
import type { Tenant, Tenants } from "../../people/tenants/methods.ts";
import { type AskLibrary, actorField, definedFields, inSeconds, type RemoteActor, relay } from "./relay.ts";

function tenantAt({
  tenant,
  home,
  status,
  by: who,
  at,
  reason,
}: AnswerOf<"GET /api/tenants/{tenant}">): Tenant {
  return { name: tenant, home, status, by: who, at: at === null ? null : Date.parse(at), reason };
}

export function remoteTenants(speaker: RemoteActor): Tenants {
  const { tenants } = speaker.client;
  return {
    list: ({ limit, after } = {}) =>
      relay(async () => {
        const page = await tenants.list(definedFields({ limit, cursor: after }));
        return { items: page.tenants.map(tenantAt), next: page.next_cursor };
      }),
    get: (name) => relay(async () => tenantAt(await tenants.get(name))),
    add: ({ name, admin, by: who, forMs }) =>
      relay(async () => {
        const life = forMs === undefined ? {} : { for_seconds: inSeconds(forMs) };
        const made = await tenants.add({ tenant: name, admin, ...life, ...actorField(speaker, who) });
        const login = { id: made.login_id, text: made.link, expiresAt: Date.parse(made.expires_at) };
        return { tenant: tenantAt(made), admin: made.admin, login };
      }),
    close: (name, { by: who, reason }) =>
      relay(async () => tenantAt(await tenants.close(name, { reason, ...actorField(speaker, who) }))),
  };
}

export function remotePeople(speaker: RemoteActor, look: AskLibrary): People {
  const { people } = speaker.client;
  const member = ({ name, mail, roles, groups }: Partial<Parameters<People["add"]>[0]>) => ({
    ...definedFields({ name, roles: roles && [...roles], groups: groups && [...groups] }),
    ...(mail === undefined ? {} : { mail }),
  });
  return {
    list: () => look("people.list"),
    get: (person) => look("people.get", person),
    async add({ person, by: who, ...rest }) {
      await relay(() => people.add({ person, ...member(rest), ...actorField(speaker, who) }));
      return look("people.get", person);
    },
    async change(person, { by: who, ...rest }) {
      await relay(() => people.change(person, { ...member(rest), ...actorField(speaker, who) }));
      return look("people.get", person);
    },
    remove: (person, { by: who, reason }) =>
      relay(async () => void (await people.remove(person, { reason, ...actorField(speaker, who) }))),
    suspend: (person, { by: who, reason }) =>
      relay(async () => void (await people.suspend(person, { reason, ...actorField(speaker, who) }))),
    reinstate: (person, { by: who, reason }) =>
      relay(async () => void (await people.reinstate(person, { reason, ...actorField(speaker, who) }))),
    loginLink: (person, { by: who, forMs }) =>
      relay(async () => {
        const time = forMs === undefined ? {} : { for_seconds: inSeconds(forMs) };
        const made = await people.loginLink(person, { ...time, ...actorField(speaker, who) });
        return { id: made.login_id, text: made.link, expiresAt: Date.parse(made.expires_at) };
      }),
  };
}

export function remoteKeys(speaker: RemoteActor, look: AskLibrary): Keys {
  const { keys } = speaker.client;
  return {
    list: (page = {}) => look("keys.list", page),
    get: (id) => look("keys.get", id),
    find: (beginning) => look("keys.find", beginning),
    async issue({ by: who, principal, name, roles, scopes, forMs }) {
      const terms = definedFields({ roles: roles && [...roles], scopes: scopes && [...scopes] });
      const life = forMs === undefined ? {} : { for_seconds: inSeconds(forMs) };
      const issued = await relay(() =>
        keys.issue({ principal, name, ...terms, ...life, ...actorField(speaker, who) }),
      );
      return { key: await look("keys.get", issued.key_id), text: issued.key };
    },
    async rotate(id, { by: who, overlapMs, forMs }) {
      const terms = {
        ...(overlapMs === undefined ? {} : { overlap_seconds: Math.round(overlapMs / 1_000) }),
        ...(forMs === undefined ? {} : { for_seconds: forMs && inSeconds(forMs) }),
      };
      const issued = await relay(() => keys.rotate(id, { ...terms, ...actorField(speaker, who) }));
      return { key: await look("keys.get", issued.key_id), text: issued.key };
    },
    async revoke(id, { by: who, reason }) {
      await relay(() => keys.revoke(id, { reason, ...actorField(speaker, who) }));
      return look("keys.get", id);
    },
  };
}

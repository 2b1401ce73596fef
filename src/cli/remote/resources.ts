/** Alerts, intents, people, keys, endpoints, messages and tenants of a server, with the methods of the library. */

import type { Intents } from "../../agents/intents/methods.ts";
import type { Alerts } from "../../alerts/methods.ts";
import type { AnswerOf } from "../../client/calls.ts";
import type { Endpoints } from "../../notify/endpoints.ts";
import type { Messages } from "../../notify/methods.ts";
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

export function remoteAlerts(speaker: RemoteActor, look: AskLibrary): Alerts {
  return {
    list: (page = {}) => look("alerts.list", page),
    get: (id) => look("alerts.get", id),
    find: (beginning) => look("alerts.find", beginning),
    async acknowledge(id, { by: who, note }) {
      await relay(() =>
        speaker.client.alerts.acknowledge(id, { ...definedFields({ note }), ...actorField(speaker, who) }),
      );
      return look("alerts.get", id);
    },
  };
}

type ReachableIntents = Pick<Intents, "list" | "get" | "find" | "send" | "answer" | "cancel">;

export function remoteIntents(speaker: RemoteActor, look: AskLibrary): ReachableIntents {
  const { intents } = speaker.client;
  const speaks = (who: string | undefined) => (who === undefined ? {} : actorField(speaker, who));
  return {
    list: (page = {}) => look("intents.list", page),
    get: (id) => look("intents.get", id),
    find: (beginning) => look("intents.find", beginning),
    async send({ intentType, toAgent, payload, requestId, withinMs, parent, correlation, from }) {
      const said = {
        ...{ intent_type: intentType, to_agent: toAgent },
        ...definedFields({ payload, correlation, request_id: requestId, parent_intent_id: parent }),
        ...(withinMs === undefined ? {} : { timeout_seconds: inSeconds(withinMs) }),
        ...(speaker.principal === null && from !== undefined ? { from } : {}),
      };
      const sent = await relay(() => intents.send(said));
      return { id: sent.intent_id, approval: sent.approval_id, isKnown: false };
    },
    async answer(id, { by: who, ...said }) {
      const word = "failed" in said ? { failed: said.failed } : { data: said.data };
      await relay(() => intents.answer(id, { ...word, ...speaks(who) }));
      return look("intents.get", id);
    },
    async cancel(id, { by: who, reason }) {
      await relay(() => intents.cancel(id, { reason, ...speaks(who) }));
      return look("intents.get", id);
    },
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

export function remoteEndpoints(speaker: RemoteActor, look: AskLibrary): Endpoints {
  const { endpoints } = speaker.client;
  const get: Endpoints["get"] = (id) => look("endpoints.get", id);
  const termsOf = ({ url, to, events, name, owner }: Partial<Parameters<Endpoints["add"]>[0]>) =>
    definedFields({ url, to: to && [...to], events: events && [...events], name, owner });
  return {
    get,
    list: (page = {}) => look("endpoints.list", page),
    find: (beginning) => look("endpoints.find", beginning),
    async add({ by: who, secret: own, ...terms }) {
      const offer = { ...termsOf(terms), ...definedFields({ secret: own }), ...actorField(speaker, who) };
      const { endpoint_id, secret } = await relay(() => endpoints.add(offer));
      return { ...(await get(endpoint_id)), secret };
    },
    async change(id, { by: who, ...terms }) {
      await relay(() => endpoints.change(id, { ...termsOf(terms), ...actorField(speaker, who) }));
      return get(id);
    },
    async rotate(id, { by: who, overlapMs }) {
      const overlap = overlapMs === undefined ? {} : { overlap_seconds: Math.round(overlapMs / 1_000) };
      const { secret } = await relay(() => endpoints.rotate(id, { ...overlap, ...actorField(speaker, who) }));
      return { ...(await get(id)), secret };
    },
    async switchOff(id, { by: who, reason }) {
      await relay(() =>
        endpoints.switchOff(id, { ...definedFields({ reason }), ...actorField(speaker, who) }),
      );
      return get(id);
    },
    async switchOn(id, { by: who, reason }) {
      await relay(() =>
        endpoints.switchOn(id, { ...definedFields({ reason }), ...actorField(speaker, who) }),
      );
      return get(id);
    },
    remove: (id, { by: who, reason }) =>
      relay(async () => {
        await endpoints.remove(id, { ...definedFields({ reason }), ...actorField(speaker, who) });
      }),
    test: (id, { by: who }) =>
      relay(async () => {
        const { message_id, arrived, status, problem } = await endpoints.test(id, actorField(speaker, who));
        return { message: message_id, arrived, status, problem };
      }),
  };
}

export function remoteMessages(speaker: RemoteActor, look: AskLibrary): Messages {
  return {
    list: (page = {}) => look("messages.list", page),
    get: (id) => look("messages.get", id),
    count: (status) => look("messages.count", status),
    find: (beginning) => look("messages.find", beginning),
    async retry(id, { by: who }) {
      await relay(() => speaker.client.messages.retry(id, actorField(speaker, who)));
      return look("messages.get", id);
    },
  };
}

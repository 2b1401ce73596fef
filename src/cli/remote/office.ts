/** Alerts, intents, people, keys, endpoints and messages at a server. */

import type { Intents } from "../../agents/intents/methods.ts";
import type { Alerts } from "../../alerts/methods.ts";
import type { Endpoints, Messages } from "../../index.ts";
import type { Keys, People } from "../../people/methods.ts";
import { type Look, relayed } from "./relay.ts";
import { by, given, inSeconds, type Speaker } from "./speaker.ts";

export function remoteAlerts(speaker: Speaker, look: Look): Alerts {
  return {
    list: (page = {}) => look("alerts.list", page),
    get: (id) => look("alerts.get", id),
    find: (beginning) => look("alerts.find", beginning),
    async acknowledge(id, { by: who, note }) {
      await relayed(() => speaker.client.alerts.acknowledge(id, { ...given({ note }), ...by(speaker, who) }));
      return look("alerts.get", id);
    },
  };
}

type ReachableIntents = Pick<Intents, "list" | "get" | "find" | "send" | "answer" | "cancel">;

export function remoteIntents(speaker: Speaker, look: Look): ReachableIntents {
  const { intents } = speaker.client;
  const speaks = (who: string | undefined) => (who === undefined ? {} : by(speaker, who));
  return {
    list: (page = {}) => look("intents.list", page),
    get: (id) => look("intents.get", id),
    find: (beginning) => look("intents.find", beginning),
    async send({ intentType, toAgent, payload, requestId, withinMs, parent, correlation, from }) {
      const said = {
        ...{ intent_type: intentType, to_agent: toAgent },
        ...given({ payload, correlation, request_id: requestId, parent_intent_id: parent }),
        ...(withinMs === undefined ? {} : { timeout_seconds: inSeconds(withinMs) }),
        ...(speaker.principal === null && from !== undefined ? { from } : {}),
      };
      const sent = await relayed(() => intents.send(said));
      return { id: sent.intent_id, approval: sent.approval_id, isKnown: false };
    },
    async answer(id, { by: who, ...said }) {
      const word = "failed" in said ? { failed: said.failed } : { data: said.data };
      await relayed(() => intents.answer(id, { ...word, ...speaks(who) }));
      return look("intents.get", id);
    },
    async cancel(id, { by: who, reason }) {
      await relayed(() => intents.cancel(id, { reason, ...speaks(who) }));
      return look("intents.get", id);
    },
  };
}

export function remotePeople(speaker: Speaker, look: Look): People {
  const { people } = speaker.client;
  const member = ({ name, mail, roles, groups }: Partial<Parameters<People["add"]>[0]>) => ({
    ...given({ name, roles: roles && [...roles], groups: groups && [...groups] }),
    ...(mail === undefined ? {} : { mail }),
  });
  return {
    list: () => look("people.list"),
    get: (person) => look("people.get", person),
    async add({ person, by: who, ...rest }) {
      await relayed(() => people.add({ person, ...member(rest), ...by(speaker, who) }));
      return look("people.get", person);
    },
    async change(person, { by: who, ...rest }) {
      await relayed(() => people.change(person, { ...member(rest), ...by(speaker, who) }));
      return look("people.get", person);
    },
    remove: (person, { by: who, reason }) =>
      relayed(async () => void (await people.remove(person, { reason, ...by(speaker, who) }))),
    suspend: (person, { by: who, reason }) =>
      relayed(async () => void (await people.suspend(person, { reason, ...by(speaker, who) }))),
    reinstate: (person, { by: who, reason }) =>
      relayed(async () => void (await people.reinstate(person, { reason, ...by(speaker, who) }))),
    loginLink: (person, { by: who, forMs }) =>
      relayed(async () => {
        const time = forMs === undefined ? {} : { for_seconds: inSeconds(forMs) };
        const made = await people.loginLink(person, { ...time, ...by(speaker, who) });
        return { id: made.login_id, text: made.link, expiresAt: Date.parse(made.expires_at) };
      }),
  };
}

export function remoteKeys(speaker: Speaker, look: Look): Keys {
  const { keys } = speaker.client;
  return {
    list: (page = {}) => look("keys.list", page),
    get: (id) => look("keys.get", id),
    find: (beginning) => look("keys.find", beginning),
    async issue({ by: who, principal, name, roles, scopes, forMs }) {
      const terms = given({ roles: roles && [...roles], scopes: scopes && [...scopes] });
      const life = forMs === undefined ? {} : { for_seconds: inSeconds(forMs) };
      const issued = await relayed(() =>
        keys.issue({ principal, name, ...terms, ...life, ...by(speaker, who) }),
      );
      return { key: await look("keys.get", issued.key_id), text: issued.key };
    },
    async rotate(id, { by: who, overlapMs, forMs }) {
      const terms = {
        ...(overlapMs === undefined ? {} : { overlap_seconds: Math.round(overlapMs / 1_000) }),
        ...(forMs === undefined ? {} : { for_seconds: forMs && inSeconds(forMs) }),
      };
      const issued = await relayed(() => keys.rotate(id, { ...terms, ...by(speaker, who) }));
      return { key: await look("keys.get", issued.key_id), text: issued.key };
    },
    async revoke(id, { by: who, reason }) {
      await relayed(() => keys.revoke(id, { reason, ...by(speaker, who) }));
      return look("keys.get", id);
    },
  };
}

export function remoteEndpoints(speaker: Speaker, look: Look): Endpoints {
  const { endpoints } = speaker.client;
  const get: Endpoints["get"] = (id) => look("endpoints.get", id);
  const termsOf = ({ url, to, events, name, owner }: Partial<Parameters<Endpoints["add"]>[0]>) =>
    given({ url, to: to && [...to], events: events && [...events], name, owner });
  return {
    get,
    list: (page = {}) => look("endpoints.list", page),
    find: (beginning) => look("endpoints.find", beginning),
    async add({ by: who, secret: own, ...terms }) {
      const offer = { ...termsOf(terms), ...given({ secret: own }), ...by(speaker, who) };
      const { endpoint_id, secret } = await relayed(() => endpoints.add(offer));
      return { ...(await get(endpoint_id)), secret };
    },
    async change(id, { by: who, ...terms }) {
      await relayed(() => endpoints.change(id, { ...termsOf(terms), ...by(speaker, who) }));
      return get(id);
    },
    async rotate(id, { by: who, overlapMs }) {
      const overlap = overlapMs === undefined ? {} : { overlap_seconds: Math.round(overlapMs / 1_000) };
      const { secret } = await relayed(() => endpoints.rotate(id, { ...overlap, ...by(speaker, who) }));
      return { ...(await get(id)), secret };
    },
    async switchOff(id, { by: who, reason }) {
      await relayed(() => endpoints.switchOff(id, { ...given({ reason }), ...by(speaker, who) }));
      return get(id);
    },
    async switchOn(id, { by: who, reason }) {
      await relayed(() => endpoints.switchOn(id, { ...given({ reason }), ...by(speaker, who) }));
      return get(id);
    },
    remove: (id, { by: who, reason }) =>
      relayed(async () => {
        await endpoints.remove(id, { ...given({ reason }), ...by(speaker, who) });
      }),
    test: (id, { by: who }) =>
      relayed(async () => {
        const { message_id, arrived, status, problem } = await endpoints.test(id, by(speaker, who));
        return { message: message_id, arrived, status, problem };
      }),
  };
}

export function remoteMessages(speaker: Speaker, look: Look): Messages {
  return {
    list: (page = {}) => look("messages.list", page),
    get: (id) => look("messages.get", id),
    count: (status) => look("messages.count", status),
    find: (beginning) => look("messages.find", beginning),
    async retry(id, { by: who }) {
      await relayed(() => speaker.client.messages.retry(id, by(speaker, who)));
      return look("messages.get", id);
    },
  };
}

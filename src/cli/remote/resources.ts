/** Alerts, intents, endpoints and messages of a server, with the methods of the library. */

import type { Intents } from "../../agents/intents/methods.ts";
import type { Alerts } from "../../alerts/methods.ts";
import type { Endpoints } from "../../notify/endpoints.ts";
import type { Messages } from "../../notify/methods.ts";
import { type AskLibrary, actorField, definedFields, inSeconds, type RemoteActor, relay } from "./relay.ts";

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

/** HTTP routes of people and API keys. The text of a key is returned once, when it is issued, and never stored. */
import { z } from "zod";
import { actingAdmin, actingPerson, checkGiven, type Who } from "../api/authenticate.ts";
import { created, ok, route } from "../api/route.ts";
import {
  bySchema,
  idParams,
  nextCursor,
  pageOf,
  pageQuery,
  reasonSchema,
  sealCursor,
  time,
  timeOrNull,
  timeSchema,
} from "../api/wire.ts";

import { checkKeyOffer, checkKeyPage, checkNewPerson, checkPersonChange, checkRotation } from "./input.ts";
import {
  type ApiKey,
  getKey,
  type IssuedKey,
  issueApiKey,
  listKeys,
  revokeApiKey,
  rotateApiKey,
} from "./keys/keys.ts";
import {
  addPerson,
  changePerson,
  getPerson,
  listPeople,
  type Person,
  removePerson,
  setStanding,
} from "./methods.ts";
import { SCOPES } from "./rules/scopes.ts";
import { offerLogin } from "./sessions/sessions.ts";
import { ROLES } from "./stream.ts";

const role = z.enum(ROLES);
const params = z.object({ person: z.string().min(1).max(300).meta({ description: "`person:<name>`" }) });

const personSchema = z.object({
  person: z.string(),
  name: z.string(),
  mail: z.string().nullable(),
  roles: z.array(role),
  groups: z.array(z.string()),
  suspended: z.boolean(),
  since: timeSchema,
});

const particulars = {
  name: z.string().min(1).max(100).optional(),
  mail: z.string().max(254).nullable().optional(),
  roles: z.array(role).max(ROLES.length).optional(),
  groups: z.array(z.string()).max(100).optional(),
  by: bySchema,
};
const word = z.strictObject({ reason: reasonSchema, by: bySchema });

function personOnWire({ person, name, mail, roles, groups, suspended, since }: Person) {
  return { person, name, mail, roles, groups, suspended, since: time(since) };
}

/** Drops the fields that were not sent. */
function sentParticulars<Given extends object>(
  given: Given,
): { [Field in keyof Given]: NonNullable<Given[Field]> } {
  const there = Object.entries(given).filter(([, value]) => value !== undefined);
  return Object.fromEntries(there) as { [Field in keyof Given]: NonNullable<Given[Field]> };
}

function standingRoute<const Path extends `/${string}`>(path: Path, suspend: boolean, summary: string) {
  return route({
    method: "POST",
    path,
    summary,
    tag: "identities",
    scope: "people:write",
    params,
    body: word,
    answers: { 200: z.object({ person: z.string(), suspended: z.boolean() }) },
    whenLost: "repeat",
    async handle({ runtime, who, params: { person }, body }) {
      const said = { by: actingPerson(who, body.by), reason: body.reason, via: who.via };
      await setStanding(runtime, suspend, { ...said, person });
      return ok({ person, suspended: suspend });
    },
  });
}

export const peopleRoutes = [
  route({
    method: "GET",
    path: "/api/people",
    summary: "Everybody in the list of people",
    tag: "identities",
    scope: "people:read",
    answers: { 200: z.object({ people: z.array(personSchema) }) },
    handle: async ({ runtime }) => ok({ people: (await listPeople(runtime)).map(personOnWire) }),
  }),
  route({
    method: "POST",
    path: "/api/people",
    summary: "Add somebody, with what they are there for",
    tag: "identities",
    scope: "people:write",
    body: z.strictObject({ person: z.string().min(1).max(300), ...particulars }),
    answers: { 201: personSchema },
    whenLost: "repeat",
    async handle({ runtime, who, body }) {
      const given = sentParticulars({ ...body, by: actingPerson(who, body.by) });
      checkGiven(who, body.person, body.roles ?? []);
      return created(personOnWire(await addPerson(runtime, { ...checkNewPerson(given), via: who.via })));
    },
  }),
  route({
    method: "GET",
    path: "/api/people/{person}",
    summary: "Somebody of the list",
    tag: "identities",
    scope: "people:read",
    params,
    answers: { 200: personSchema },
    handle: async ({ runtime, params: { person } }) => ok(personOnWire(await getPerson(runtime, person))),
  }),
  route({
    method: "PATCH",
    path: "/api/people/{person}",
    summary: "Say anew what somebody is there for; what is not named stays",
    tag: "identities",
    scope: "people:write",
    params,
    body: z.strictObject(particulars),
    answers: { 200: personSchema },
    async handle({ runtime, who, params: { person }, body }) {
      const given = sentParticulars({ ...body, by: actingPerson(who, body.by) });
      if (body.roles !== undefined) {
        const { roles } = await getPerson(runtime, person);
        checkGiven(
          who,
          person,
          body.roles.filter((one) => !roles.includes(one)),
        );
      }
      return ok(
        personOnWire(await changePerson(runtime, person, { ...checkPersonChange(given), via: who.via })),
      );
    },
  }),
  route({
    method: "POST",
    path: "/api/people/{person}/login-link",
    summary: "A link by which somebody of the list logs in, once; it is answered this once",
    description: "Only an admin makes one, with a session or key of their own that was not narrowed.",
    tag: "identities",
    scope: "people:write",
    params,
    body: z.strictObject({ for_seconds: z.number().int().min(1).max(86_400).optional(), by: bySchema }),
    answers: {
      201: z.object({
        login_id: z.string(),
        person: z.string(),
        link: z.string().meta({ description: "for `POST /api/session`, or behind `/login#` in a browser" }),
        expires_at: timeSchema,
      }),
    },
    whenLost: "none",
    async handle({ runtime, who, params: { person }, body: { by, for_seconds } }) {
      const offer = {
        by: actingAdmin(who, by),
        via: who.via,
        ...(for_seconds && { forMs: for_seconds * 1_000 }),
      };
      await getPerson(runtime, person);
      const { id, text, expiresAt } = await offerLogin(runtime, person, offer);
      return created({ login_id: id, person, link: text, expires_at: time(expiresAt) });
    },
  }),
  route({
    method: "POST",
    path: "/api/people/{person}/remove",
    summary: "Take somebody off the list: their keys and sessions are worth nothing",
    tag: "identities",
    scope: "people:write",
    params,
    body: word,
    answers: { 200: z.object({ removed: z.literal(true) }) },
    async handle({ runtime, who, params: { person }, body }) {
      const said = { by: actingPerson(who, body.by), reason: body.reason, via: who.via };
      await removePerson(runtime, person, said);
      return ok({ removed: true });
    },
  }),
  standingRoute(
    "/api/people/{person}/suspend",
    true,
    "From now on their votes, keys and sessions do not count",
  ),
  standingRoute("/api/people/{person}/reinstate", false, "Their word counts again"),
];

const seconds = z.number().int().min(1).max(315_000_000);
const keySchema = z.object({
  key_id: z.string(),
  principal: z.string(),
  name: z.string(),
  status: z.enum(["active", "expired", "revoked"]),
  roles: z.array(z.string()),
  scopes: z.array(z.string()).nullable().meta({ description: "null: all that its roles bring" }),
  issued_by: z.string(),
  issued_at: timeSchema,
  expires_at: timeSchema.nullable(),
  replaced_by: z.string().nullable(),
});
const issued = keySchema.extend({ key: z.string().meta({ description: "the key itself; shown this once" }) });
const LIST = "keys";

function keyOnWire(key: ApiKey) {
  const { id, principal, name, status, roles, scopes, by } = key;
  return {
    key_id: id,
    ...{ principal, name, status, roles, scopes },
    issued_by: by,
    issued_at: time(key.issuedAt),
    expires_at: timeOrNull(key.expiresAt),
    replaced_by: key.replacedBy,
  };
}

const issuedOnWire = ({ key, text }: IssuedKey) => ({ ...keyOnWire(key), key: text });
/** A key never has more scopes than the caller who issues it. */
const mayGive = ({ scopes, principal }: Who) => (principal === null ? null : scopes);

export const keyRoutes = [
  route({
    method: "GET",
    path: "/api/keys",
    summary: "Keys, newest first; what is listed is not the keys themselves",
    tag: "identities",
    scope: "keys:read",
    query: z.strictObject({ principal: z.string().max(300).optional(), ...pageQuery }),
    answers: { 200: z.object({ keys: z.array(keySchema), next_cursor: nextCursor }) },
    async handle({ runtime, query }) {
      const of = query.principal === undefined ? {} : { principal: query.principal };
      const { items, next } = await listKeys(runtime, checkKeyPage({ ...of, ...pageOf(LIST, query) }));
      return ok({ keys: items.map(keyOnWire), next_cursor: sealCursor(LIST, next) });
    },
  }),
  route({
    method: "POST",
    path: "/api/keys",
    summary: "Issue a key for an agent, a service or a person",
    tag: "identities",
    scope: "keys:write",
    body: z.strictObject({
      principal: z.string().min(1).max(300),
      name: z.string().min(1).max(100),
      roles: z.array(z.enum(ROLES)).max(ROLES.length).optional(),
      scopes: z.array(z.enum(SCOPES)).max(SCOPES.length).optional(),
      for_seconds: seconds.optional(),
      by: bySchema,
    }),
    answers: { 201: issued },
    whenLost: "none",
    async handle({ runtime, who, body }) {
      const { principal, name, roles, scopes, for_seconds } = body;
      const offer = checkKeyOffer({
        ...{ principal, name, by: actingPerson(who, body.by) },
        ...(roles === undefined ? {} : { roles }),
        ...(scopes === undefined ? {} : { scopes }),
        ...(for_seconds === undefined ? {} : { forMs: for_seconds * 1_000 }),
      });
      return created(issuedOnWire(await issueApiKey(runtime, { ...offer, via: who.via }, mayGive(who))));
    },
  }),
  route({
    method: "GET",
    path: "/api/keys/{id}",
    summary: "What is known of a key",
    tag: "identities",
    scope: "keys:read",
    params: idParams,
    answers: { 200: keySchema },
    handle: async ({ runtime, params }) => ok(keyOnWire(await getKey(runtime, params.id))),
  }),
  route({
    method: "POST",
    path: "/api/keys/{id}/rotate",
    summary: "A new key that may do the same; the old one works a while longer",
    tag: "identities",
    scope: "keys:write",
    params: idParams,
    body: z.strictObject({
      overlap_seconds: z.number().int().min(0).max(604_800).optional(),
      for_seconds: seconds.nullable().optional().meta({
        description: "of the new one; null: until it is revoked. As long as the old one, unless set",
      }),
      by: bySchema,
    }),
    answers: { 201: issued },
    whenLost: "none",
    async handle({ runtime, who, params, body }) {
      const { overlap_seconds, for_seconds } = body;
      const rotation = checkRotation({
        by: actingPerson(who, body.by),
        ...(overlap_seconds === undefined ? {} : { overlapMs: overlap_seconds * 1_000 }),
        ...(for_seconds === undefined ? {} : { forMs: for_seconds && for_seconds * 1_000 }),
      });
      return created(
        issuedOnWire(await rotateApiKey(runtime, params.id, { ...rotation, via: who.via }, mayGive(who))),
      );
    },
  }),
  route({
    method: "POST",
    path: "/api/keys/{id}/revoke",
    summary: "It is worth nothing from now on; in other processes within a second",
    tag: "identities",
    scope: "keys:write",
    params: idParams,
    body: z.strictObject({ reason: reasonSchema, by: bySchema }),
    answers: { 200: keySchema },
    whenLost: "repeat",
    async handle({ runtime, who, params, body }) {
      const said = { by: actingPerson(who, body.by), reason: body.reason, via: who.via };
      return ok(keyOnWire(await revokeApiKey(runtime, params.id, said)));
    },
  }),
];

/** The list of people of a tenant. */
import { z } from "zod";
import { ROLES } from "../../core/roster.ts";
import { checkChange, checkNewPerson } from "../../engine/identity/check-identity.ts";
import { offerLogin } from "../../engine/identity/logins.ts";
import {
  addPerson,
  changePerson,
  getPerson,
  listPeople,
  type Person,
  removePerson,
  setStanding,
} from "../../engine/identity/people.ts";
import { adminOf, checkGiven, personOf } from "../person.ts";
import { created, ok, route } from "../route.ts";
import { bySchema, reasonSchema, time, timeSchema } from "../wire.ts";

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

/** Fields that were not sent are not there. */
function sent<Given extends object>(given: Given): { [Field in keyof Given]: NonNullable<Given[Field]> } {
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
      const said = { by: personOf(who, body.by), reason: body.reason, via: who.via };
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
      const given = sent({ ...body, by: personOf(who, body.by) });
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
      const given = sent({ ...body, by: personOf(who, body.by) });
      if (body.roles !== undefined) {
        const { roles } = await getPerson(runtime, person);
        checkGiven(
          who,
          person,
          body.roles.filter((one) => !roles.includes(one)),
        );
      }
      return ok(personOnWire(await changePerson(runtime, person, { ...checkChange(given), via: who.via })));
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
        by: adminOf(who, by),
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
      const said = { by: personOf(who, body.by), reason: body.reason, via: who.via };
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

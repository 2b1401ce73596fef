/** Verbs of the people of a tenant, with their routes and schemas. */
import { z } from "zod";
import { contract, plainVerb, verb } from "../kernel/contract.ts";
import { isPerson, isPrincipal } from "../kernel/principal.ts";
import { displayValue, visible } from "../kernel/text.ts";
import { actor, duration, id, reason, timestamp } from "../kernel/values.ts";
import { ROLES } from "./stream.ts";

const LONGEST_NAME = 100;
const MOST_GROUPS = 100;
const DAY_MS = 86_400_000;
const GROUP = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;
const MAIL = /^[^\s@<>,;:"()[\]\\]{1,64}@[A-Za-z0-9.-]{1,189}$/;

type Wrong = { readonly input?: unknown };
export const notAPerson = ({ input }: Wrong): string =>
  `"${displayValue(input)}" is not a person: write person:<name>.`;
export const namesPerson = (name: string): boolean => isPrincipal(name) && isPerson(name);

/** A name has no invisible characters: it must not hide anything or imitate another name. */
export const isPlain = (text: string): boolean => visible(text) === text;

/** A person who is named and does not act. */
export const personName = z
  .string()
  .refine(namesPerson, { error: notAPerson, abort: true })
  .refine(isPlain, { error: "A person's name has nothing in it that cannot be seen." })
  .describe("`person:<name>`");

/** The name that people read. */
export function plainName(what: string) {
  const error = `${what} is a text of at most ${LONGEST_NAME} characters in one line, all of which can be seen.`;
  return z
    .string({ error })
    .min(1, { error })
    .max(LONGEST_NAME, { error })
    .refine((name) => name.trim() !== "" && name.isWellFormed() && isPlain(name), { error });
}

const role = z.enum(ROLES, {
  error: ({ input }) => `"${displayValue(input)}" is no role: there are ${ROLES.join(", ")}.`,
});
export const roles = z.array(role).max(ROLES.length).readonly();

const GROUPS = `Groups are a list of at most ${MOST_GROUPS} names of letters, digits, hyphens, dots and underscores.`;
const member = {
  name: plainName("A person's name").optional().describe("the name that people read"),
  mail: z
    .string()
    .max(254)
    .regex(MAIL, { error: ({ input }) => `"${displayValue(input)}" is not a mail address.` })
    .nullable()
    .optional()
    .describe("where messages to this person go; null: nowhere"),
  roles: roles.optional(),
  groups: z
    .array(z.string().regex(GROUP, { error: GROUPS }))
    .max(MOST_GROUPS, { error: GROUPS })
    .readonly()
    .optional(),
};
const newPerson = z.strictObject({ person: personName, ...member, by: actor });
const change = z.strictObject({ ...member, by: actor });
const statement = z.strictObject({ reason, by: actor });

const person = z.object({
  /** `person:<name>` */
  person: z.string(),
  name: z.string(),
  /** Email address for messages to this person. */
  mail: z.string().nullable(),
  roles: z.array(z.enum(ROLES)).readonly(),
  groups: z.array(z.string()).readonly(),
  suspended: z.boolean(),
  /** When the person was last added. */
  since: timestamp,
});
const standing = z.object({ person: z.string(), suspended: z.boolean() });

const LASTING = `A login link's time is a whole number of milliseconds from 1 to ${DAY_MS}.`;
/** How long a login link can be used. Default: ten minutes. */
export const linkLifetime = duration(DAY_MS, LASTING);
/** The link starts one session, once, before `expiresAt`. It is returned only here and never stored. */
export const oneTimeLink = z.object({
  id: id("login"),
  person: z.string(),
  link: z.string().describe("for `POST /api/session`, or behind `/login#` in a browser"),
  expiresAt: timestamp,
});

export const people = contract({
  name: "people",
  owner: "person",
  tag: "identities",
  door: "admin",
  verbs: {
    list: plainVerb({
      http: "GET /api/people",
      summary: "All people of the tenant, in the order in which they were added",
      output: z.array(person).readonly(),
      wrap: "people",
    }),
    add: verb({
      http: "POST /api/people",
      status: 201,
      summary: "Add a person, with their roles and groups",
      whenLost: "repeat",
      takes: "person",
      input: newPerson,
      output: person,
    }),
    get: plainVerb({ http: "GET /api/people/{person}", summary: "One person", output: person }),
    change: verb({
      http: "PATCH /api/people/{person}",
      summary: "Change a person's name, mail address, roles or groups; what is left out stays",
      takes: "change",
      input: change,
      output: person,
    }),
    loginLink: verb({
      http: "POST /api/people/{person}/login-link",
      status: 201,
      summary: "A link by which a person logs in, once; it is returned only here",
      description: "Only an admin makes one, with a session or key of their own that was not narrowed.",
      whenLost: "none",
      takes: "offer",
      input: z.strictObject({ forMs: linkLifetime.optional(), by: actor }),
      output: oneTimeLink,
    }),
    /** Removes this person from all roles and groups. */
    remove: verb({
      http: "POST /api/people/{person}/remove",
      summary: "Remove a person: their keys and sessions are void",
      takes: "said",
      input: statement,
      output: z.object({ removed: z.literal(true) }),
    }),
    /** Also for a person who is not a member: every decider can be suspended. */
    suspend: verb({
      http: "POST /api/people/{person}/suspend",
      summary: "Suspend a person: their votes, keys and sessions do not count, nor do votes already cast",
      whenLost: "repeat",
      takes: "said",
      input: statement,
      output: standing,
    }),
    reinstate: verb({
      http: "POST /api/people/{person}/reinstate",
      summary: "Reinstate a person: their votes, keys and sessions count again",
      whenLost: "repeat",
      takes: "said",
      input: statement,
      output: standing,
    }),
  },
});

export type Person = z.output<typeof person>;
/** A person to add. `name` defaults to the name in `person`. */
export type NewPerson = z.input<typeof newPerson>;
/** A change to a person. Omitted fields stay as they are. */
export type PersonChange = z.input<typeof change>;
export type LoginLink = z.output<typeof oneTimeLink>;

/** Verbs of API keys, with their routes and schemas. The text of a key is returned once and never stored. */
import { z } from "zod";
import { contract, findVerb, listVerb, plainVerb, verb } from "../../kernel/contract.ts";
import { isPrincipal } from "../../kernel/principal.ts";
import { SCOPES } from "../../kernel/registry.ts";
import { displayValue } from "../../kernel/text.ts";
import { actor, duration, durationOrNone, id, reason, timestamp } from "../../kernel/values.ts";
import { isPlain, plainName, roles } from "../contract.ts";
import { ROLES } from "../stream.ts";

const YEARS_10_MS = 3_653 * 86_400_000;
const WEEK_MS = 7 * 86_400_000;
const SCOPE_LIST = "Scopes are a list that is not empty.";

const bearer = z
  .string()
  .max(300)
  .refine((name) => isPrincipal(name) && isPlain(name), {
    error: ({ input }) =>
      `"${displayValue(input)}" is not a principal: write agent:<name>, service:<name> or person:<name>.`,
  });
const scopes = z
  .array(z.enum(SCOPES, { error: ({ input }) => `"${displayValue(input)}" is no scope.` }))
  .min(1, { error: SCOPE_LIST })
  .max(SCOPES.length)
  .readonly();
const lifetime = duration(
  YEARS_10_MS,
  `A key's time is a whole number of milliseconds from 1 to ${YEARS_10_MS}.`,
);

const offer = z.strictObject({
  principal: bearer.describe(
    "who acts when the key is used: `agent:mailer`, `service:billing` or `person:ann`",
  ),
  name: plainName("A key's name").describe("tells it from other keys of the same principal"),
  roles: roles.optional().describe("of an agent or a service; a person's roles are in the list of people"),
  scopes: scopes.optional().describe("only these of the scopes that the roles bring"),
  forMs: lifetime.optional().describe("how long it lasts; by default until it is revoked"),
  by: actor,
});
const rotation = z.strictObject({
  overlapMs: durationOrNone(WEEK_MS, `An overlap is a whole number of milliseconds from 0 to ${WEEK_MS}.`)
    .optional()
    .describe("how long the old key still works; an hour by default"),
  forMs: lifetime
    .nullable()
    .optional()
    .describe("how long the new one lasts; null: until it is revoked; by default as long as the old one"),
  by: actor,
});

/** A key as it is listed: everything but the secret, of which only a hash is stored. */
const apiKey = z.object({
  id: id("key"),
  principal: z.string(),
  name: z.string(),
  status: z.enum(["active", "expired", "revoked"]),
  roles: z.array(z.enum(ROLES)).readonly(),
  scopes: z.array(z.enum(SCOPES)).readonly().nullable().describe("null: all that its roles bring"),
  by: z.string().describe("who issued it"),
  issuedAt: timestamp,
  expiresAt: timestamp.nullable(),
  /** The key that it replaced, and the key that replaced it. */
  replaces: z.string().nullable(),
  replacedBy: z.string().nullable(),
  revoked: z.object({ by: z.string(), reason: z.string(), at: timestamp }).nullable(),
});
const issuedKey = z.object({
  key: apiKey,
  text: z.string().describe("the key itself, for `Authorization: Bearer`; returned only here"),
});

export const keys = contract({
  name: "keys",
  owner: "key",
  tag: "identities",
  door: "admin",
  verbs: {
    list: listVerb({
      http: "GET /api/keys",
      summary: "Keys without their texts, newest first",
      filters: { principal: bearer.optional() },
      item: apiKey,
    }),
    issue: verb({
      http: "POST /api/keys",
      status: 201,
      summary: "Issue a key for an agent, a service or a person; its text is returned only here",
      whenLost: "none",
      takes: "offer",
      input: offer,
      output: issuedKey,
    }),
    find: findVerb({ http: "GET /api/keys/find" }),
    get: plainVerb({ http: "GET /api/keys/{id}", summary: "One key without its text", output: apiKey }),
    rotate: verb({
      http: "POST /api/keys/{id}/rotate",
      status: 201,
      summary: "Issue a key with the same rights; the old one works for another hour by default",
      whenLost: "none",
      takes: "rotation",
      input: rotation,
      output: issuedKey,
    }),
    revoke: verb({
      http: "POST /api/keys/{id}/revoke",
      summary: "Void a key now; in other processes within a second",
      whenLost: "repeat",
      takes: "said",
      input: z.strictObject({ reason, by: actor }),
      output: apiKey,
    }),
  },
});

export type ApiKey = z.output<typeof apiKey>;
/** `text` goes into `Authorization: Bearer`. It is returned only here and never stored. */
export type IssuedKey = z.output<typeof issuedKey>;
export type KeyOffer = z.input<typeof offer>;
export type KeyRotation = z.input<typeof rotation>;
export type KeyPage = z.input<(typeof keys)["verbs"]["list"]["input"]>;
export type KeyList = z.output<(typeof keys)["verbs"]["list"]["output"]>;

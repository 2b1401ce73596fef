/** Schemas that contracts are made of. Those whose values differ on the wire are marked; see `codec.ts`. */
import { z } from "zod";
import { HoldpointError } from "./errors.ts";
import type { Json } from "./json.ts";
import { isPerson, isPrincipal } from "./principal.ts";
import { agentScope } from "./stream.ts";
import { displayValue } from "./text.ts";

export type ValueKind =
  | ("time" | "span" | "written" | "money" | "micros" | "id" | "flag" | "name" | "expression" | "failure")
  | ("actor" | "principal" | "channel" | "viewer" | "listener");
/** A schema whose values are spelled differently on the wire. The mark exists for the compiler only. */
export type Marked<Schema, Name extends ValueKind> = Schema & { readonly "~wire": Name };
/** Who may act. `operator`: a person or a service. `speaker`: any principal; a bare name is an agent's. */
export type Actor = "person" | "principal" | "operator" | "speaker" | "agent";
/** `of`: kind of an id. `as`: field name on the wire. `may`: whose credential is accepted. `either`: see `either()`. */
type Mark = {
  readonly kind?: ValueKind;
  readonly of?: string;
  readonly as?: string;
  readonly may?: Actor;
  readonly either?: readonly [string, string];
};
export type Hidden = "channel" | "listener";

/** A schema derived from a marked one, for example by `.describe()`, inherits its marks. */
export const marks = z.registry<Mark>();
function mark<Schema extends z.ZodType, Name extends ValueKind>(
  schema: Schema,
  facts: Mark & { readonly kind: Name },
): Marked<Schema, Name> {
  marks.add(schema, facts);
  return schema as Marked<Schema, Name>;
}

/** Gives a field another name on the wire than its own in snake_case. */
export function spelled<const Name extends string, Schema extends z.ZodType>(
  as: Name,
  schema: Schema,
): Schema & { readonly "~as": Name } {
  const own = schema.clone();
  marks.add(own, { as });
  return own as Schema & { readonly "~as": Name };
}

export const timeOnWire = z.iso.datetime().meta({ description: "RFC 3339, in UTC" });
export const microsOnWire = z
  .string()
  .regex(/^-?\d{1,30}$/)
  .meta({ description: "millionths of the currency, as text" });
export const moneyOnWire = z.object({ currency: z.string(), micros: microsOnWire });
/** As input of a contract: another field, such as a period, is refused as in the library. */
export const strictMoneyOnWire = z.strictObject(moneyOnWire.shape);
/** Needed only without authentication; otherwise it must be the credential's own person. */
export const actorOnWire = z
  .string()
  .min(1)
  .max(200)
  .optional()
  .meta({ description: "the person; taken from the credential, and refused if it names another one" });

/** The same for an agent. */
const agentOnWire = z
  .string()
  .min(1)
  .max(210)
  .nullish()
  .meta({ description: "the agent; taken from the credential, and refused if it is another one" });
export const speakerOnWire = z
  .string()
  .max(210)
  .optional()
  .meta({ description: "the principal; taken from the credential, and refused if it names another one" });
export function wireOfActor(schema: z.ZodType): z.ZodType {
  const { may } = marks.get(schema) ?? {};
  if (may === "agent") return agentOnWire;
  return may === "speaker" ? speakerOnWire : actorOnWire;
}

export const timestamp = mark(z.number(), { kind: "time" });
const currency = z
  .string()
  .regex(/^[A-Z]{3,8}$/, { error: "A currency is 3 to 8 capital letters, such as USD." });
const money = { currency, micros: z.bigint() };
export const moneyAmount = mark(z.strictObject(money), { kind: "money" });
/** The same, with an own sentence for an amount that has a period. */
export const moneyWithoutPeriod = (error: string) => {
  const isPeriod = (issue: z.core.$ZodRawIssue) =>
    issue.code === "unrecognized_keys" && issue.keys.includes("period");
  return mark(z.strictObject(money, { error: (issue) => (isPeriod(issue) ? error : undefined) }), {
    kind: "money",
  });
};
/** An amount in millionths whose currency is known, such as a part of a budget. */
export const micros = mark(z.bigint(), { kind: "micros" });
export const anyJson = z.unknown().describe("any JSON");
/** The same for answers, whose values are known to be JSON. */
export const jsonValue = anyJson as unknown as z.ZodType<Json, Json>;
export const id = <const Of extends string>(of: Of, schema = z.string()) =>
  mark(schema, { kind: "id", of }) as Marked<z.ZodString, "id"> & { readonly "~of": Of };
const namesPerson = (by: unknown): boolean => isPrincipal(by) && isPerson(by);
const personName = () =>
  z.custom<string>(namesPerson, {
    error: ({ input }) => `"${displayValue(input)}" is not a person: write person:<name>.`,
  });
const principalName = () =>
  z.custom<string>(isPrincipal, {
    error: ({ input }) => `"${displayValue(input)}" is not a principal: write person:<name>.`,
  });
/** A person who acts. */
export const actor = mark(personName(), { kind: "actor", may: "person" });
/** In the library any principal can act; over HTTP only people can. */
export const actorOfAnyKind = mark(principalName(), { kind: "actor", may: "person" });
/** A person, or a program with its own credential. */
export const actorOrAgent = mark(principalName(), { kind: "actor", may: "principal" });
/** The agent that acts, as its field `agent`. */
export const agentWhoActs = mark(principalName(), { kind: "actor", may: "agent" });
/** A person or a service: no agent sets where notifications go. */
export const operator = mark(
  z.custom<string>((by) => isPrincipal(by) && !by.startsWith("agent:"), {
    error: ({ input }) => `"${displayValue(input)}" is no person or service: write person:<name>.`,
  }),
  { kind: "actor", may: "operator" },
);
/** Any principal. Default: the agent of the program. */
export const speaker = mark(principalName(), { kind: "actor", may: "speaker" }).optional();
/** A principal that is named and does not act. */
export const principal = mark(principalName(), { kind: "principal" });
/** The person who reads: the answer may depend on it. On the wire it is needed only without authentication. */
export const viewer = mark(personName(), { kind: "viewer" }).optional();
/** The channel through which the actor authenticated. */
export const channel = mark(
  z.string().regex(/^[a-z][a-z0-9_.:-]{0,63}$/, {
    error: "A channel is a word of small letters and digits, such as cli.",
  }),
  { kind: "channel" },
).optional();
/** An error inside an answer. */
export const failure = mark(z.instanceof(HoldpointError), { kind: "failure" });
/** A function of the caller that is told how far the work is; only in the library. */
export const progressListener = mark(
  z.custom<(done: number, total: number) => void>((value) => typeof value === "function", {
    error: "progress is a function.",
  }),
  { kind: "listener" },
).optional();
/** A boolean; in a query it is present or absent. */
export const queryFlag = mark(z.boolean(), { kind: "flag" });
/** One of a few words; `what` begins the error's sentence. */
export function choice<const Words extends readonly [string, string, ...string[]]>(
  what: string,
  words: Words,
) {
  const known = `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
  return z.enum(words, { error: ({ input }) => `${what} is ${known}, not "${displayValue(input)}".` });
}
/** Order of a list by time. */
export const listOrder = choice("A list's order", ["oldest", "newest"]).default("newest");
/** An integer from 1 to `most`; `error` is a full sentence. */
export const whole = (most: number, error: string) => z.int({ error }).min(1, { error }).max(most, { error });
/** At most `most` milliseconds. */
export const duration = (most: number, error: string) => mark(whole(most, error), { kind: "span" });
/** The same, or 0. */
export const durationOrNone = (most: number, error: string) =>
  mark(z.int({ error }).min(0, { error }).max(most, { error }), { kind: "span" });
/** At least a minute in milliseconds; on the wire it is text. */
export const writtenDuration = mark(z.int().min(60_000), { kind: "written" });
/** Milliseconds since 1970, at most `most`. */
export const timestampUpTo = (most: number, error: string) => mark(whole(most, error), { kind: "time" });
const isText = (text: string): boolean => text.isWellFormed();
/** An error sentence about the invalid value. Later checks are skipped. */
const notA = (what: string) => ({
  error: ({ input }: { readonly input?: unknown }) => `"${displayValue(input)}" is not ${what}.`,
  abort: true,
});
const TOOL = notA("a tool's name");
/** Plain words of the domain: spelled the same everywhere, and typed by people after a flag. */
export const toolName = mark(
  z
    .string()
    .min(1, TOOL)
    .max(128, TOOL)
    .regex(/^[A-Za-z][A-Za-z0-9_.:-]*$/, TOOL),
  { kind: "name" },
);
export const agentName = mark(
  z
    .string()
    .max(200)
    .refine(
      (name) => !/^(person|service):/.test(name) && isPrincipal(agentScope(name)),
      notA("an agent's name"),
    ),
  { kind: "name" },
);
export const expression = mark(
  z.string().max(4_000).refine(isText, { error: "An expression is well-formed Unicode." }),
  { kind: "expression" },
);
/** Limit for text written by people. */
export const LONGEST_WRITTEN = 10_000;
const WORDS = "a text that is not empty is needed";
/** Text written by a person. */
export const words = z
  .string({ error: WORDS })
  .trim()
  .min(1, { error: WORDS })
  .max(LONGEST_WRITTEN)
  .refine(isText, { error: "is not well-formed Unicode" });
/** The same for an optional field: the error says that it must not be empty. */
export const note = z
  .string()
  .max(LONGEST_WRITTEN)
  .refine((text) => text.trim() !== "" && isText(text), { error: "is needed, as text that is not empty" });
/** Text that a person may leave empty; `what` begins the error's sentence. */
export function optionalText(what: string) {
  const error = `${what} is a text of at most ${LONGEST_WRITTEN} characters.`;
  return z.string({ error }).max(LONGEST_WRITTEN, { error }).refine(isText, { error });
}
const REASON = `A reason of at most ${LONGEST_WRITTEN} characters is needed.`;
/** Text that a person records with an action. */
export const reason = z
  .string({ error: REASON })
  .trim()
  .min(1, { error: REASON })
  .max(LONGEST_WRITTEN, { error: REASON })
  .refine(isText, { error: "A reason is well-formed Unicode." })
  .describe("why; it is recorded");

/** Removes optional, default and nullable wrappers. */
export function unwrap(schema: z.ZodType): z.ZodType {
  const isWrapped =
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodExactOptional ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodNullable;
  return isWrapped ? unwrap(schema.unwrap() as z.ZodType) : schema;
}

/** The name of the field for the viewer. */
export const viewerIn = (input: z.ZodObject | undefined): string | undefined =>
  Object.entries(input?.shape ?? {}).find(([, field]) => valueKind(field) === "viewer")?.[0];

/** The kind of a value, for code that parses it from text: the mark of its schema, or a plain type. */
export function valueKind(schema: unknown): ValueKind | "number" | "boolean" | "text" {
  if (!(schema instanceof z.ZodType)) return "text";
  const inner = unwrap(schema);
  const { kind } = marks.get(inner) ?? {};
  if (kind !== undefined) return kind;
  if (inner instanceof z.ZodBoolean) return "boolean";
  return inner instanceof z.ZodNumber ? "number" : "text";
}

/** Exactly one of two fields; `error` is the library's sentence. */
export function either<Schema extends z.ZodObject>(
  schema: Schema,
  fields: readonly [string, string],
  error: string,
) {
  const own = schema.refine((given) => hasOne(given, fields), { error });
  marks.add(own, { either: fields });
  return own;
}
export const hasOne = (given: object, [first, second]: readonly [string, string]): boolean => {
  const { [first]: one, [second]: other } = given as Readonly<Record<string, unknown>>;
  return (one === undefined) !== (other === undefined);
};

/**
 * One schema, two spellings. A contract's schema describes values as the library has them; the same values on the wire are
 * derived from it, so that REST, client and library cannot drift apart.
 *
 * | library                                   | wire                                    |
 * |-------------------------------------------|-----------------------------------------|
 * | `camelCase`                               | `snake_case`                            |
 * | `timestamp`: milliseconds since 1970           | RFC 3339 in UTC                         |
 * | `duration`, a field `…Ms`: milliseconds       | `…_seconds`: whole seconds, at least 1  |
 * | `moneyAmount`: `micros` is a bigint             | `micros` is text                        |
 * | `id("grant")` as `id`                     | `grant_id`                              |
 * | `id("action")` as `action`                | `action_id`                             |
 * | `actor`, a field `by`: required           | optional: the credential says who it is |
 *
 * C1. A field that is undefined is not there, on either side.
 * C2. What a contract refines beyond its shape is checked after decoding, by the library's own schema.
 */
import { z } from "zod";
import { shown } from "../core/error-text.ts";
import { isPerson, isPrincipal } from "../core/principal.ts";
import { agentScope } from "../core/switch.ts";

type Kind = "time" | "span" | "money" | "id" | "actor" | "name" | "expression";
/** A schema whose values are spelled differently on the wire; the mark is known to the compiler alone. */
type Marked<Schema, Name extends Kind> = Schema & { readonly "~wire": Name };
type Mark = { readonly kind: Kind; readonly of?: string };

const marks = z.registry<Mark>();
function mark<Schema extends z.ZodType, Name extends Kind>(
  schema: Schema,
  facts: Mark & { readonly kind: Name },
): Marked<Schema, Name> {
  marks.add(schema, facts);
  return schema as Marked<Schema, Name>;
}

export const timeOnWire = z.iso.datetime().meta({ description: "RFC 3339, in UTC" });
export const moneyOnWire = z.object({
  currency: z.string(),
  micros: z
    .string()
    .regex(/^-?\d{1,30}$/)
    .meta({ description: "millionths of the currency, as text" }),
});
/** As a contract takes it: a period beside the amount, for example, is refused as in the library. */
const strictMoneyOnWire = z.strictObject(moneyOnWire.shape);
/** Only without authentication; otherwise it has to be the person whose credential it is. */
export const actorOnWire = z
  .string()
  .min(1)
  .max(200)
  .optional()
  .meta({ description: "the person; taken from the credential, and refused if it is somebody else" });

export const timestamp = mark(z.number(), { kind: "time" });
const currency = z
  .string()
  .regex(/^[A-Z]{3,8}$/, { error: "A currency is 3 to 8 capital letters, such as USD." });
export const moneyAmount = mark(z.strictObject({ currency, micros: z.bigint() }), { kind: "money" });
export const id = (of: string) => mark(z.string(), { kind: "id", of });
export const actor = mark(
  z.custom<string>((by) => typeof by === "string" && isPrincipal(by) && isPerson(by), {
    error: ({ input }) => `"${shown(input)}" is not a person: write person:<name>.`,
  }),
  { kind: "actor" },
);
const SECOND = 1_000;
/** A whole number from 1; `error` is a whole sentence. */
export const whole = (most: number, error: string) => z.int({ error }).min(1, { error }).max(most, { error });
/** At most `most` milliseconds. */
export const duration = (most: number, error: string) => mark(whole(most, error), { kind: "span" });
const isText = (text: string): boolean => text.isWellFormed();
/** A sentence about the value that is not one. The checks that follow are left out. */
const notA = (what: string) => ({
  error: ({ input }: { readonly input?: unknown }) => `"${shown(input)}" is not ${what}.`,
  abort: true,
});
const TOOL = notA("a tool's name");
/** Plain words of the domain: their values are spelled alike everywhere, and people type them after a flag. */
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
/** A text that people write down with what they do. */
export const reason = z
  .string({ error: "A reason of at most 10000 characters is needed." })
  .trim()
  .min(1, { error: "A reason of at most 10000 characters is needed." })
  .max(10_000, { error: "A reason of at most 10000 characters is needed." })
  .refine(isText, { error: "A reason is well-formed Unicode." })
  .describe("why; it is recorded");

type Snake<Text extends string> = Text extends `${infer First}${infer Rest}`
  ? First extends Lowercase<First>
    ? `${First}${Snake<Rest>}`
    : `_${Lowercase<First>}${Snake<Rest>}`
  : Text;
type FieldOnWire<Name extends string, Schema, Owner extends string> =
  Schema extends z.ZodNullable<infer Inner>
    ? FieldOnWire<Name, Inner, Owner>
    : Schema extends Marked<unknown, "id">
      ? Name extends "id"
        ? `${Owner}_id`
        : `${Snake<Name>}_id`
      : Schema extends Marked<unknown, "span">
        ? Name extends `${infer Start}Ms`
          ? `${Snake<Start>}_seconds`
          : never
        : Snake<Name>;

type Unwrapped<Schema> = Schema extends z.ZodOptional<infer Inner> | z.ZodDefault<infer Inner>
  ? Inner
  : Schema;
type IsOptional<Schema, In extends boolean> = Schema extends z.ZodOptional
  ? true
  : Schema extends Marked<unknown, "actor">
    ? true
    : Schema extends z.ZodDefault
      ? In
      : false;

type ObjectOnWire<Shape, Owner extends string, In extends boolean> = {
  -readonly [Name in keyof Shape & string as IsOptional<Shape[Name], In> extends true
    ? never
    : FieldOnWire<Name, Shape[Name], Owner>]: OnWire<Shape[Name], Owner, In>;
} & {
  -readonly [Name in keyof Shape & string as IsOptional<Shape[Name], In> extends true
    ? FieldOnWire<Name, Unwrapped<Shape[Name]>, Owner>
    : never]?: OnWire<Unwrapped<Shape[Name]>, Owner, In> | undefined;
};
type Flat<Fields> = { [Name in keyof Fields]: Fields[Name] };

/** The type of a schema's values on the wire. `Owner` is what the contract's own id names; `In`: as they are sent. */
export type OnWire<Schema, Owner extends string, In extends boolean = false> =
  Schema extends Marked<unknown, "time" | "id" | "actor">
    ? string
    : Schema extends Marked<unknown, "span">
      ? number
      : Schema extends Marked<unknown, "money">
        ? { currency: string; micros: string }
        : Schema extends z.ZodObject<infer Shape>
          ? Flat<ObjectOnWire<Shape, Owner, In>>
          : Schema extends z.ZodArray<infer Item>
            ? OnWire<Item, Owner, In>[]
            : Schema extends z.ZodNullable<infer Inner>
              ? OnWire<Inner, Owner, In> | null
              : Schema extends
                    | z.ZodOptional<infer Inner>
                    | z.ZodDefault<infer Inner>
                    | z.ZodReadonly<infer Inner>
                ? OnWire<Inner, Owner, In>
                : Schema extends z.ZodType
                  ? z.output<Schema>
                  : never;

type Codec = {
  /** What the wire may hold: for the server's parser and the OpenAPI document. */
  readonly wire: z.ZodType;
  encode(value: unknown): unknown;
  decode(value: unknown): unknown;
};

const same = (value: unknown): unknown => value;

/** Values of a query are text: numbers and booleans are read out of it. */
type Text = "text" | "json";

const MARKED: { readonly [Name in Kind]: (schema: z.ZodType) => Codec } = {
  time: () => ({
    wire: timeOnWire,
    encode: (at) => new Date(at as number).toISOString(),
    decode: (text) => Date.parse(text as string),
  }),
  money: () => ({
    wire: strictMoneyOnWire,
    encode: (value) => {
      const { currency, micros } = value as z.output<typeof moneyAmount>;
      return { currency, micros: String(micros) };
    },
    decode: (value) => {
      const { currency, micros } = value as z.output<typeof moneyOnWire>;
      return { currency, micros: BigInt(micros) };
    },
  }),
  id: () => ({ wire: z.string(), encode: same, decode: same }),
  actor: () => ({ wire: actorOnWire, encode: same, decode: same }),
  name: (schema) => ({ wire: schema, encode: same, decode: same }),
  expression: (schema) => ({ wire: schema, encode: same, decode: same }),
  span: (schema) => ({
    wire: z
      .int()
      .min(1)
      .max(Math.floor(Number((schema as z.ZodNumber).maxValue) / SECOND)),
    encode: (ms) => Math.max(1, Math.round((ms as number) / SECOND)),
    decode: (seconds) => (seconds as number) * SECOND,
  }),
};

const snake = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Without what only says that it may be missing, or null. */
function unwrap(schema: z.ZodType): z.ZodType {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable
    ? unwrap(schema.unwrap() as z.ZodType)
    : schema;
}

function fieldOnWire(name: string, schema: z.ZodType): string {
  const facts = marks.get(unwrap(schema));
  if (facts?.kind === "id") return `${name === "id" ? facts.of : snake(name)}_id`;
  return facts?.kind === "span" ? `${snake(name.replace(/Ms$/, ""))}_seconds` : snake(name);
}

/** What a value is, for code that reads it from text: a mark of its schema, or a plain type. */
export function valueKind(schema: unknown): Kind | "number" | "boolean" | "text" {
  if (!(schema instanceof z.ZodType)) return "text";
  const inner = unwrap(schema);
  const facts = marks.get(inner);
  if (facts !== undefined) return facts.kind;
  if (inner instanceof z.ZodBoolean) return "boolean";
  return inner instanceof z.ZodNumber ? "number" : "text";
}

const VALUES = {
  span: "<span>",
  money: "<money>",
  number: "<n>",
  name: "<name>",
  expression: "<expression>",
};

/** How people type what a program gives as a number or an object. */
const TYPED: { readonly [kind: string]: string } = {
  span: ", such as 12h or 7d",
  money: ', such as "500 USD"',
};

/** What help says of a field: what follows its flag, and its description, which the OpenAPI document has too. */
export function helpText(schema: z.ZodType | undefined): {
  readonly value: string;
  readonly description: string;
} {
  const kind = valueKind(schema);
  const value = (VALUES as { readonly [kind: string]: string })[kind] ?? "<text>";
  return { value, description: `${schema?.description ?? ""}${TYPED[kind] ?? ""}` };
}

/** Built once for each schema, when its contract is bound. */
export function makeCodec(schema: z.ZodType, text: Text = "json"): Codec {
  const facts = marks.get(schema);
  if (facts !== undefined) return MARKED[facts.kind](schema);
  if (schema instanceof z.ZodObject) return objectCodec(schema, text);
  if (schema instanceof z.ZodArray) {
    const item = makeCodec(schema.element as z.ZodType, text);
    const all = (code: (value: unknown) => unknown) => (list: unknown) => (list as unknown[]).map(code);
    return { wire: z.array(item.wire), encode: all(item.encode), decode: all(item.decode) };
  }
  if (schema instanceof z.ZodNullable) {
    const inner = makeCodec(schema.unwrap() as z.ZodType, text);
    const orNull = (code: (value: unknown) => unknown) => (value: unknown) =>
      value === null ? null : code(value);
    return { wire: inner.wire.nullable(), encode: orNull(inner.encode), decode: orNull(inner.decode) };
  }
  if (schema instanceof z.ZodOptional) {
    const inner = makeCodec(schema.unwrap() as z.ZodType, text);
    return { ...inner, wire: inner.wire.optional() };
  }
  if (schema instanceof z.ZodDefault) {
    const inner = makeCodec(schema.unwrap() as z.ZodType, text);
    return { ...inner, wire: inner.wire.default(inner.encode(schema.def.defaultValue)) };
  }
  if (schema instanceof z.ZodReadonly) return makeCodec(schema.unwrap() as z.ZodType, text);
  return { wire: text === "text" ? readText(schema) : schema, encode: same, decode: same };
}

function readText(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodBoolean) return z.stringbool({ truthy: ["true"], falsy: ["false"] });
  return schema instanceof z.ZodNumber ? z.coerce.number().pipe(schema) : schema;
}

function objectCodec(schema: z.ZodObject, text: Text): Codec {
  const fields = Object.entries(schema.shape).map(([name, field]) => ({
    name,
    onWire: fieldOnWire(name, field as z.ZodType),
    codec: makeCodec(field as z.ZodType, text),
  }));
  const described = (name: string, wire: z.ZodType) => {
    const { description } = schema.shape[name] as z.ZodType;
    return description === undefined ? wire : wire.describe(description);
  };
  const shape = Object.fromEntries(
    fields.map(({ name, onWire, codec }) => [onWire, described(name, codec.wire)]),
  );
  const isStrict = schema.def.catchall instanceof z.ZodNever;
  const rename = (way: "encode" | "decode") => (value: unknown) => {
    const given = value as Readonly<Record<string, unknown>>;
    const made: Record<string, unknown> = {};
    for (const { name, onWire, codec } of fields) {
      const [from, to] = way === "encode" ? [name, onWire] : [onWire, name];
      if (given[from] !== undefined) made[to] = codec[way](given[from]);
    }
    return made;
  };
  return {
    wire: isStrict ? z.strictObject(shape) : z.object(shape),
    encode: rename("encode"),
    decode: rename("decode"),
  };
}

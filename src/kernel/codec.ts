/**
 * One schema, two spellings. A contract's schema describes values as the library has them. Their form on the wire is
 * derived from it, so that REST, client and library cannot drift apart.
 *
 * | library                                 | wire                                    |
 * |-----------------------------------------|-----------------------------------------|
 * | `camelCase`                             | `snake_case`                            |
 * | `timestamp`: milliseconds since 1970    | RFC 3339 in UTC                         |
 * | `duration`, a field `…Ms`: milliseconds | `…_seconds`: whole seconds, at least 1  |
 * | `durationOrNone`, a field `…Ms`         | the same, or 0                          |
 * | `writtenDuration`, a field `…Ms`        | `…`: text, such as `4h`                 |
 * | `moneyAmount`: `micros` is a bigint     | `micros` is text                        |
 * | `micros` as `spent`: a bigint           | `spent_micros`: text                    |
 * | `id("grant")` as `id`                   | `grant_id`                              |
 * | `id("action")` as `action`              | `action_id`                             |
 * | `actor`, mostly `by`: required          | optional: taken from the credential     |
 * | `principal`: `person:ann`               | `ann` is read as `person:ann`           |
 * | `queryFlag`: a boolean                  | `true`, or left out                     |
 * | `failure`: a `HoldpointError`           | its problem                             |
 * | `viewer`                                | optional: taken from the credential     |
 * | `channel`                               | left out: taken from the credential     |
 * | `progressListener`                      | left out                                |
 *
 * `spelled("q", schema)` gives one field another name on the wire. Each use is listed in docs/decisions/0027.
 *
 * - A field that is undefined is absent, on either side.
 * - Refinements of a contract beyond its shape are checked after decoding, by the library's own schema.
 */
import { z } from "zod";
import { durationMs } from "./duration.ts";
import type { HoldpointError } from "./errors.ts";
import { problemFields, readProblem } from "./problem.ts";
import {
  type Actor,
  type Hidden,
  hasOne,
  type Marked,
  marks,
  microsOnWire,
  type moneyAmount,
  type moneyOnWire,
  strictMoneyOnWire,
  timeOnWire,
  unwrap,
  type ValueKind,
  valueKind,
  wireOfActor,
} from "./values.ts";

type Snake<Text extends string> = Text extends `${infer First}${infer Rest}`
  ? First extends Lowercase<First>
    ? `${First}${Snake<Rest>}`
    : `_${Lowercase<First>}${Snake<Rest>}`
  : Text;
type WithoutMs<Name> = Name extends `${infer Start}Ms` ? Start : never;
type FieldOnWire<Name extends string, Schema> = Schema extends { readonly "~as": infer As extends string }
  ? As
  : Bare<Schema> extends { readonly "~of": infer Of extends string }
    ? `${Name extends "id" ? Of : Snake<Name>}_id`
    : Bare<Schema> extends Marked<unknown, "span">
      ? `${Snake<WithoutMs<Name>>}_seconds`
      : Bare<Schema> extends Marked<unknown, "written">
        ? Snake<WithoutMs<Name>>
        : Bare<Schema> extends Marked<unknown, "micros">
          ? `${Snake<Name>}_micros`
          : Snake<Name>;

type Unwrapped<Schema> = Schema extends
  | z.ZodOptional<infer Inner>
  | z.ZodExactOptional<infer Inner>
  | z.ZodDefault<infer Inner>
  ? Inner
  : Schema;
/** Without optional, default and nullable wrappers. */
type Bare<Schema> = Schema extends
  | z.ZodOptional<infer Inner>
  | z.ZodExactOptional<infer Inner>
  | z.ZodDefault<infer Inner>
  | z.ZodNullable<infer Inner>
  ? Bare<Inner>
  : Schema;
type IsOptional<Schema, In extends boolean> = Schema extends z.ZodOptional | z.ZodExactOptional
  ? true
  : Schema extends Marked<unknown, "actor">
    ? true
    : Schema extends z.ZodDefault
      ? In
      : false;
type Presence<Schema, In extends boolean> =
  Bare<Schema> extends Marked<unknown, Hidden>
    ? "hidden"
    : IsOptional<Schema, In> extends true
      ? "optional"
      : "required";

type ObjectOnWire<Shape, In extends boolean> = {
  -readonly [Name in keyof Shape & string as Presence<Shape[Name], In> extends "required"
    ? FieldOnWire<Name, Shape[Name]>
    : never]: OnWire<Shape[Name], In>;
} & {
  -readonly [Name in keyof Shape & string as Presence<Shape[Name], In> extends "optional"
    ? FieldOnWire<Name, Shape[Name]>
    : never]?: OnWire<Unwrapped<Shape[Name]>, In> | undefined;
};
type Flat<Fields> = { [Name in keyof Fields]: Fields[Name] };

/** The type of a schema's values on the wire. `In`: as a request sends them. */
export type OnWire<Schema, In extends boolean = false> =
  Schema extends Marked<unknown, "time" | "written" | "id" | "actor" | "principal" | "viewer" | "micros">
    ? string
    : Schema extends Marked<unknown, "span">
      ? number
      : Schema extends Marked<unknown, "flag">
        ? "true"
        : Schema extends Marked<unknown, "money">
          ? { currency: string; micros: string }
          : Schema extends Marked<unknown, "failure">
            ? { [field: string]: unknown }
            : Schema extends z.ZodDiscriminatedUnion<infer Options>
              ? OnWire<Options[number], In>
              : Schema extends z.ZodRecord<infer Key, infer Value>
                ? Record<z.output<Key> & string, OnWire<Value, In>>
                : Schema extends z.ZodObject<infer Shape>
                  ? Flat<ObjectOnWire<Shape, In>>
                  : Schema extends z.ZodArray<infer Item>
                    ? OnWire<Item, In>[]
                    : Schema extends z.ZodNullable<infer Inner>
                      ? OnWire<Inner, In> | null
                      : Schema extends
                            | z.ZodOptional<infer Inner>
                            | z.ZodExactOptional<infer Inner>
                            | z.ZodDefault<infer Inner>
                            | z.ZodReadonly<infer Inner>
                        ? OnWire<Inner, In>
                        : Schema extends z.ZodType
                          ? z.output<Schema>
                          : never;

type Codec = {
  /** The schema on the wire, for the server's parser and the OpenAPI document. */
  readonly wire: z.ZodType;
  encode(value: unknown): unknown;
  decode(value: unknown): unknown;
};

const SECOND = 1_000;
const WRITTEN = "is a length of time of at least a minute, such as 4h";
const LONGEST_PRINCIPAL = 210;
const same = (value: unknown): unknown => value;
const asPrincipal = (name: unknown): string =>
  /^(person|agent|service):/.test(name as string) ? (name as string) : `person:${name}`;

/** `text`: a query, whose numbers and booleans are parsed from text. `view`: the fields keep their order. */
type Form = "text" | "json" | "view";

const MARKED: { readonly [Name in ValueKind]: (schema: z.ZodType) => Codec } = {
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
  micros: () => ({
    wire: microsOnWire,
    encode: (value) => String(value),
    decode: (text) => BigInt(text as string),
  }),
  id: (schema) => ({ wire: schema, encode: same, decode: same }),
  actor: (schema) => ({ wire: wireOfActor(schema), encode: same, decode: same }),
  principal: () => ({
    wire: z.string().min(1).max(LONGEST_PRINCIPAL),
    encode: same,
    decode: asPrincipal,
  }),
  flag: () => ({
    wire: z.literal("true"),
    encode: (isOn) => (isOn === true ? "true" : undefined),
    decode: () => true,
  }),
  failure: () => ({
    wire: z.record(z.string(), z.unknown()),
    encode: (error) => problemFields(error as HoldpointError),
    decode: (problem) => readProblem(problem as Readonly<Record<string, unknown>>),
  }),
  channel: (schema) => ({ wire: schema, encode: same, decode: same }),
  viewer: () => ({
    wire: z
      .string()
      .min(1)
      .max(LONGEST_PRINCIPAL)
      .describe("who reads; taken from the credential if there is one"),
    encode: same,
    decode: asPrincipal,
  }),
  listener: (schema) => ({ wire: schema, encode: same, decode: same }),
  name: (schema) => ({ wire: schema, encode: same, decode: same }),
  expression: (schema) => ({ wire: schema, encode: same, decode: same }),
  written: (schema) => ({
    wire: z
      .string()
      .max(64)
      .refine((text) => schema.safeParse(durationMs(text)).success, WRITTEN),
    encode: (ms) => `${ms}ms`,
    decode: (text) => durationMs(text as string),
  }),
  span: (schema) => {
    const { minValue, maxValue } = schema as z.ZodNumber;
    const least = minValue === 0 ? 0 : 1;
    return {
      wire: z
        .int()
        .min(least)
        .max(Math.floor(Number(maxValue) / SECOND)),
      encode: (ms) => Math.max(least, Math.round((ms as number) / SECOND)),
      decode: (seconds) => (seconds as number) * SECOND,
    };
  },
};

const snake = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function fieldOnWire(name: string, schema: z.ZodType): string {
  const { as, kind, of } = { ...marks.get(unwrap(schema)), ...marks.get(schema) };
  if (as !== undefined) return as;
  if (kind === "id") return `${name === "id" ? of : snake(name)}_id`;
  if (kind === "micros") return `${snake(name)}_micros`;
  if (kind === "written") return snake(name.replace(/Ms$/, ""));
  return kind === "span" ? `${snake(name.replace(/Ms$/, ""))}_seconds` : snake(name);
}

/** The path of a field as a request has it. */
export function pathOnWire(schema: unknown, [first, ...rest]: readonly PropertyKey[]): readonly string[] {
  if (first === undefined) return [];
  const inner = schema instanceof z.ZodType ? unwrap(schema) : undefined;
  if (inner instanceof z.ZodReadonly) return pathOnWire(inner.unwrap(), [first, ...rest]);
  if (inner instanceof z.ZodArray) return [String(first), ...pathOnWire(inner.element, rest)];
  const field: unknown = inner instanceof z.ZodObject ? inner.shape[String(first)] : undefined;
  const name = field instanceof z.ZodType ? fieldOnWire(String(first), field) : String(first);
  return [name, ...pathOnWire(field, rest)];
}

/** The field for the actor, its name on the wire, and who may act; undefined if the verb has none. */
export function actorIn(
  input: z.ZodObject | undefined,
): { readonly field: string; readonly as: string; readonly may: Actor } | undefined {
  for (const [field, schema] of Object.entries(input?.shape ?? {})) {
    const { may } = marks.get(unwrap(schema as z.ZodType)) ?? {};
    if (may !== undefined) return { field, as: fieldOnWire(field, schema as z.ZodType), may };
  }
  return undefined;
}

/** Built once per schema, when its contract is bound. */
export function makeCodec(schema: z.ZodType, form: Form = "json"): Codec {
  const { kind } = marks.get(schema) ?? {};
  if (kind !== undefined) return MARKED[kind](schema);
  if (schema instanceof z.ZodObject) return objectCodec(schema, form);
  if (schema instanceof z.ZodDiscriminatedUnion) return unionCodec(schema, form);
  if (schema instanceof z.ZodRecord) return recordCodec(schema, form);
  if (schema instanceof z.ZodArray) {
    const item = makeCodec(schema.element as z.ZodType, form);
    const all = (code: (value: unknown) => unknown) => (list: unknown) => (list as unknown[]).map(code);
    const wire = z.array(item.wire).check(...lengthChecks(schema));
    return { wire, encode: all(item.encode), decode: all(item.decode) };
  }
  if (schema instanceof z.ZodNullable) {
    const inner = makeCodec(schema.unwrap() as z.ZodType, form);
    const orNull = (code: (value: unknown) => unknown) => (value: unknown) =>
      value === null ? null : code(value);
    return { wire: inner.wire.nullable(), encode: orNull(inner.encode), decode: orNull(inner.decode) };
  }
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodExactOptional) {
    const inner = makeCodec(schema.unwrap() as z.ZodType, form);
    return { ...inner, wire: inner.wire.optional() };
  }
  if (schema instanceof z.ZodDefault) {
    const inner = makeCodec(schema.unwrap() as z.ZodType, form);
    return { ...inner, wire: inner.wire.default(inner.encode(schema.def.defaultValue)) };
  }
  if (schema instanceof z.ZodReadonly) return makeCodec(schema.unwrap() as z.ZodType, form);
  return { wire: form === "text" ? readText(schema) : schema, encode: same, decode: same };
}

/** The values of the discriminating field that select this option; an option may be a union itself. */
function optionValues(schema: z.core.$ZodType, field: string): ReadonlySet<unknown> {
  return schema._zod.propValues?.[field] ?? new Set();
}

function unionCodec(schema: z.ZodDiscriminatedUnion, form: Form): Codec {
  const { discriminator } = schema.def;
  const options = schema.options.map((option) => ({
    values: optionValues(option, discriminator),
    codec: makeCodec(option as z.ZodType, form),
  }));
  const onWire = snake(discriminator);
  const codecFor = (value: unknown, field: string): Codec => {
    const selected = (value as Readonly<Record<string, unknown>>)[field];
    const found = options.find(({ values }) => values.has(selected));
    if (found === undefined) throw new TypeError(`no option has the ${field} ${String(selected)}`);
    return found.codec;
  };
  const wires = options.map(({ codec: { wire } }) => wire) as unknown as readonly [z.ZodObject];
  return {
    wire: z.discriminatedUnion(onWire, wires),
    encode: (value) => codecFor(value, discriminator).encode(value),
    decode: (value) => codecFor(value, onWire).decode(value),
  };
}

/** The keys are names that the caller chose: they stay as they are. */
function recordCodec({ keyType, valueType }: z.ZodRecord, form: Form): Codec {
  const { wire, encode, decode } = makeCodec(valueType as z.ZodType, form);
  const all = (code: (value: unknown) => unknown) => (value: unknown) =>
    Object.fromEntries(Object.entries(value as object).map(([key, one]) => [key, code(one)]));
  return { wire: z.record(keyType as z.ZodString, wire), encode: all(encode), decode: all(decode) };
}

function readText(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodBoolean) return z.stringbool({ truthy: ["true"], falsy: ["false"] });
  return schema instanceof z.ZodNumber ? schema.clone({ ...schema.def, coerce: true }) : schema;
}

/** Only length checks: all others apply to the library's values. */
const lengthChecks = ({ def }: z.ZodArray): z.core.$ZodCheck<unknown[]>[] =>
  ((def.checks ?? []) as z.core.$ZodCheck<unknown[]>[]).filter(({ _zod }) =>
    /^(min|max)_length$/.test(_zod.def.check),
  );

function objectCodec(schema: z.ZodObject, form: Form): Codec {
  const fields = Object.entries(schema.shape)
    .filter(([, field]) => !/^(channel|listener)$/.test(valueKind(field)))
    .map(([name, field]) => ({
      name,
      onWire: fieldOnWire(name, field as z.ZodType),
      codec: makeCodec(field as z.ZodType, form),
      described: (field as z.ZodType).description,
    }));
  const shape = Object.fromEntries(
    fields.map(({ onWire, codec: { wire }, described }) => [
      onWire,
      described === undefined ? wire : wire.describe(described),
    ]),
  );
  const isStrict = schema.def.catchall instanceof z.ZodNever;
  const wire = isStrict ? z.strictObject(shape) : z.object(shape);
  return {
    wire: withChoice(schema, wire),
    encode: rename(
      fields.map(({ name, onWire, codec }) => ({ from: name, to: onWire, code: codec.encode })),
      form,
    ),
    decode: rename(
      fields.map(({ name, onWire, codec }) => ({ from: onWire, to: name, code: codec.decode })),
      form,
    ),
  };
}

type Coding = { readonly from: string; readonly to: string; code(value: unknown): unknown };

const rename = (fields: readonly Coding[], form: Form) => (value: unknown) => {
  const given = value as Readonly<Record<string, unknown>>;
  const at = (name: string) => Object.keys(given).indexOf(name);
  const inOrder = form === "view" ? fields.toSorted((a, b) => at(a.from) - at(b.from)) : fields;
  const made: Record<string, unknown> = {};
  for (const { from, to, code } of inOrder) {
    const coded = given[from] === undefined ? undefined : code(given[from]);
    if (coded !== undefined) made[to] = coded;
  }
  return made;
};

function withChoice(schema: z.ZodObject, wire: z.ZodObject): z.ZodObject {
  const choice = marks.get(schema)?.either;
  if (choice === undefined) return wire;
  const [first, second] = choice.map((name) => fieldOnWire(name, schema.shape[name] as z.ZodType));
  const both = [first ?? "", second ?? ""] as const;
  return wire.refine((given) => hasOne(given, both), `give either ${first} or ${second}`);
}

/** For the answers of hand-written routes. */
export function viewCodec<Schema extends z.ZodType>(schema: Schema) {
  const { wire, encode } = makeCodec(schema, "view");
  return {
    wire: wire as z.ZodType<OnWire<Schema>, OnWire<Schema>>,
    encode: encode as (value: z.output<Schema>) => OnWire<Schema>,
  };
}

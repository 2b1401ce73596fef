/**
 * What a capability offers, without its implementation: the names, routes, scopes and schemas of its verbs. The
 * library, the server, the client, the remote command line and the reference are made from it.
 *
 * V1. A verb's name is the library method and the client call: `grants.give`.
 * V2. The names in its path come first in the library's arguments, in the order of the path; then one input object. A
 *     `positional` field comes before that object, which is omitted if it has no other field.
 * V3. A list takes `limit` and `after` and returns `{ items, next }`. On the wire it takes `limit` and `cursor` and
 *     returns its items under the contract's name, with `next_cursor`.
 * V4. Verbs may share a route: a field of the body selects the verb, and the client has one call for all of them.
 */
import { z } from "zod";
import { HoldpointError } from "./errors.ts";
import { checkId, isPlainObject, noField } from "./fields.ts";
import type { Scope } from "./registry.ts";
import { displayValue } from "./text.ts";
import { LONGEST_WRITTEN, unwrap, whole } from "./values.ts";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;
export type Method = (typeof METHODS)[number];
type Input = z.ZodObject | undefined;

/** A route that several verbs share: the client's call, its summary, and the field and value that select this verb. */
type SharedRoute = {
  readonly call: string;
  readonly summary: string;
  readonly field: string;
  readonly value: string;
};

export type VerbFacts<Http> = {
  readonly http: Http;
  /** Default: `<scopes>:read` for a GET, else `<scopes>:write`. */
  readonly scope?: Scope;
  /** Alternative scope that also allows the call. */
  readonly orScope?: Scope;
  readonly summary: string;
  /** Additional text for the OpenAPI document. */
  readonly description?: string;
  /** Schemas of names in the path. Default: the text of an id. */
  readonly names?: { readonly [name: string]: z.ZodType };
  /** Name of the input in the reference: `hp.grants.give(offer)`. Default: `input`. */
  readonly takes?: string;
  /** Singular noun for the input, in messages. Default: the contract's owner. */
  readonly noun?: string;
  readonly status?: 200 | 201 | 202;
  /** For a POST whose answer was lost when its process died: see `Route`. */
  readonly whenLost?: "repeat" | "say" | "none";
  /** Whether the input may put a new question before people: their number is limited. */
  readonly mayAsk?: (input: never) => boolean;
  /** A POST that changes nothing: the client retries it although the server keeps no answer. */
  readonly repeatable?: true;
};

export type VerbContract<
  Http extends `${Method} /${string}` = `${Method} /${string}`,
  In extends Input = Input,
  Out extends z.ZodType = z.ZodType,
> = VerbFacts<Http> & {
  readonly input: In;
  readonly output: Out;
  readonly positional?: string;
  /** The client's call, if another has the verb's name. */
  readonly call?: string;
  readonly shares?: SharedRoute;
  /**
   * For a list: the schema of one item, the field of the items on the wire (default: the contract's name), and the
   * list's name in cursors (default: that field).
   */
  readonly item?: z.ZodType;
  readonly items?: string;
  readonly cursorName?: (input: never) => string;
  /** The field that holds an output that is no object, on the wire. */
  readonly wrap?: string;
  readonly status: 200 | 201 | 202;
};

type Verbs = { readonly [name: string]: VerbContract };

export type Contract<Name extends string = string, All extends Verbs = Verbs> = {
  /** Name of the library's namespace, of the client's resource and of the items in its list. */
  readonly name: Name;
  /** Singular noun for one of them, in messages. */
  readonly owner: string;
  /** Name of the client's resource. Default: the name. */
  readonly resource?: string;
  /** Section of the API reference. Default: the name. */
  readonly tag?: string;
  /** What its scopes begin with. Default: the name. */
  readonly scopes?: string;
  /**
   * Where the library's methods are. `admin`: in a group of `admin(hp)`. `instance`: `hp` has them itself. `remote`: in a
   * group of `hp.remote`. Default: in a group of `hp`.
   */
  readonly door?: "admin" | "instance" | "remote";
  readonly verbs: All;
};

export function contract<const Name extends string, All extends Verbs>(
  value: Contract<Name, All>,
): Contract<Name, All> {
  return value;
}

/** A verb without input other than the names in its path. */
export function plainVerb<
  const Http extends `${Method} /${string}`,
  Out extends z.ZodType,
  const More extends Pick<VerbContract, "wrap" | "call">,
>(facts: VerbFacts<Http> & { readonly output: Out } & More) {
  return { status: 200 as const, ...facts, input: undefined };
}

export function verb<
  const Http extends `${Method} /${string}`,
  In extends z.ZodObject,
  Out extends z.ZodType,
  const More extends Pick<VerbContract, "wrap" | "positional" | "call" | "shares">,
>(facts: VerbFacts<Http> & More & { readonly input: In; readonly output: Out }) {
  return { status: 200 as const, ...facts };
}

const LONGEST_ID = 600;
const MOST_LISTED = 1_000;
const LIMIT = `A limit is a whole number from 1 to ${MOST_LISTED}.`;
const pageShape = {
  limit: whole(MOST_LISTED, LIMIT).optional(),
  after: z.string().optional(),
};
type PageShape = typeof pageShape;

export function listVerb<
  const Http extends `GET /${string}`,
  Shape extends z.ZodRawShape,
  Item extends z.ZodType,
  const More extends Pick<VerbContract, "cursorName" | "items">,
>({ filters, item, ...facts }: VerbFacts<Http> & More & { readonly filters: Shape; readonly item: Item }) {
  const input = z.strictObject({ ...filters, ...pageShape }) as z.ZodObject<Shape & PageShape>;
  const output = z.object({ items: z.array(item).readonly(), next: z.string().nullable() });
  return { status: 200 as const, takes: "page", ...facts, input, output, item };
}

/** Finds ids by prefix, at most ten: for people who type them. */
export function findVerb<const Http extends `GET /${string}`>(
  facts: Omit<VerbFacts<Http>, "summary"> & { readonly summary?: string },
) {
  const input = z.strictObject({ beginning: z.string().min(1).max(LONGEST_ID) });
  const summary = "Ids that begin with a text, at most ten";
  const output = z.array(z.string()).readonly();
  const shape = { input, output, takes: "beginning", positional: "beginning", wrap: "ids" } as const;
  return { status: 200 as const, summary, ...facts, ...shape };
}

type PathNames<Path extends string> = Path extends `${string}{${string}}${infer Rest}`
  ? readonly [string, ...PathNames<Rest>]
  : readonly [];
type InputNames<One extends VerbContract> = One["input"] extends z.ZodType
  ? One extends { readonly positional: infer Field extends keyof z.input<One["input"]> }
    ? [...Optional<z.input<One["input"]>[Field]>, ...Remaining<Omit<z.input<One["input"]>, Field>>]
    : Record<never, never> extends z.input<One["input"]>
      ? readonly [input?: z.input<One["input"]>]
      : readonly [input: z.input<One["input"]>]
  : readonly [];
type Remaining<Fields> = keyof Fields extends never
  ? readonly []
  : Record<never, never> extends Fields
    ? readonly [more?: Fields]
    : readonly [more: Fields];
type Optional<Value> = undefined extends Value ? readonly [value?: Value] : readonly [value: Value];

/** A verb as a library method. */
type VerbMethod<One extends VerbContract> = (
  ...args: [...PathNames<One["http"]>, ...InputNames<One>]
) => Promise<z.output<One["output"]>>;

export type Library<One extends Contract> = {
  readonly [Name in keyof One["verbs"]]: VerbMethod<One["verbs"][Name]>;
};

export const pathNames = (http: string): readonly string[] =>
  [...http.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? "");

export const scopeFor = (
  { name, scopes = name }: Pick<Contract, "name" | "scopes">,
  { http, scope }: VerbContract,
): Scope => scope ?? (`${scopes}:${httpMethod(http) === "GET" ? "read" : "write"}` as Scope);

export function httpMethod(http: string): Method {
  const method = METHODS.find((one) => http.startsWith(`${one} `));
  if (method === undefined) throw new TypeError(`"${http}" begins with no method`);
  return method;
}

/** The field of a list's items on the wire. */
export const itemsField = ({ name }: Pick<Contract, "name">, { items = name }: VerbContract): string => items;

/** The verb's call in the client. */
export const clientCall = (name: string, { call, shares }: VerbContract): string =>
  call ?? shares?.call ?? name;

/** Arguments of a library method as one object: the names in the path, and the input parsed by its schema. */
export function parseArguments(
  { owner }: Pick<Contract, "owner">,
  { http, input, positional, noun = owner }: VerbContract,
  args: readonly unknown[],
): Readonly<Record<string, unknown>> {
  const what = nounFor(noun);
  const names = pathNames(http);
  const ids = names.map((name, at) => [name, checkId(nounFor(owner), args[at])] as const);
  const [first, second = {}] = args.slice(names.length);
  const object = first === undefined ? {} : first;
  const isBeside = positional !== undefined && isPlainObject(second) && !Object.hasOwn(second, positional);
  if (positional !== undefined && !isBeside) throw notAnObject(what, input);
  const given = positional === undefined ? object : { ...(second as object), [positional]: first };
  const read = input === undefined ? {} : parseInput(what, input, given);
  return { ...Object.fromEntries(ids), ...read };
}

/** With its article, to begin a sentence: "A grant". */
export const nounFor = (owner: string): string => `${/^[aeiou]/.test(owner) ? "An" : "A"} ${owner}`;

/** How an error names a field: by its path in the input. */
const dotted = (path: readonly PropertyKey[]): string => path.map(String).join(".");

/** Invalid input is an error that names the field, before anything is read or written. */
export function parseInput<In extends z.ZodObject>(
  what: string,
  schema: In,
  given: unknown,
  nameOf: (path: readonly PropertyKey[]) => string = dotted,
): z.output<In> {
  const odd = findOdd(schema, given, []);
  if (odd?.length === 0) throw notAnObject(what, schema);
  if (odd !== undefined)
    throw new HoldpointError("invalid_input", `${what} does not fit: "${odd.join(".")}" is not plain data.`);
  const read = schema.safeParse(given);
  if (read.success) return read.data;
  // Report a misspelt field first: it explains why another one is missing.
  const { issues } = read.error;
  const issue = issues.find(({ code: kind }) => kind === "unrecognized_keys") ?? issues[0];
  const code =
    issue?.code === "too_big" && issue.maximum === LONGEST_WRITTEN ? "payload_too_large" : "invalid_input";
  throw new HoldpointError(code, issue === undefined ? what : issueText(what, schema, issue), {
    details: {
      errors: issues
        .slice(0, 100)
        .map(({ path, message }) => ({ field: nameOf(path), message: displayValue(message) })),
    },
  });
}

const notAnObject = (what: string, schema: Input): HoldpointError =>
  new HoldpointError(
    "invalid_input",
    `${what} is an object: { ${Object.keys(schema?.shape ?? {}).join(", ")} }.`,
  );

type Path = readonly (string | number)[];

/** Path of an object or list that is not plain data: its fields could come from a prototype, or be missed. */
function findOdd(schema: unknown, given: unknown, path: Path): Path | undefined {
  if (typeof given !== "object" || given === null || !(schema instanceof z.ZodType)) return undefined;
  const inner = unwrap(schema);
  if (inner instanceof z.ZodReadonly) return findOdd(inner.unwrap(), given, path);
  if (inner instanceof z.ZodArray) {
    if (!Array.isArray(given)) return path;
    const first = given.findIndex((item, at) => findOdd(inner.element, item, [...path, at]) !== undefined);
    return first < 0 ? undefined : findOdd(inner.element, given[first], [...path, first]);
  }
  if (!(inner instanceof z.ZodObject)) return undefined;
  if (!isPlainObject(given)) return path;
  for (const [name, field] of Object.entries(inner.shape)) {
    const value = Object.hasOwn(given, name) ? (given as Record<string, unknown>)[name] : undefined;
    const odd = findOdd(field, value, [...path, name]);
    if (odd !== undefined) return odd;
  }
  return undefined;
}

/** The fields of the object at a path in a schema; none if the path leads to another type. */
function fieldsAt(schema: unknown, path: readonly PropertyKey[]): readonly string[] {
  if (!(schema instanceof z.ZodType)) return [];
  if (schema instanceof z.ZodArray) return fieldsAt(schema.element, path.slice(1));
  if (schema instanceof z.ZodObject) {
    const [first, ...rest] = path;
    return first === undefined ? Object.keys(schema.shape) : fieldsAt(schema.shape[String(first)], rest);
  }
  const inner = schema instanceof z.ZodReadonly ? schema.unwrap() : unwrap(schema);
  return inner === schema ? [] : fieldsAt(inner, path);
}

/** A message that ends with a full stop is the contract's own sentence; any other is prefixed with the field. */
function issueText(what: string, schema: z.ZodObject, issue: z.core.$ZodIssue): string {
  const path = dotted(issue.path);
  if (issue.message.endsWith(".")) return issue.message;
  if (issue.code === "unrecognized_keys") {
    const [extra = ""] = issue.keys;
    return `${path === "" ? what : `"${path}"`}${noField(extra, fieldsAt(schema, issue.path))}.`;
  }
  if (path === "") return notAnObject(what, schema).what;
  return `${what} does not fit: "${path}": ${issue.message}.`;
}

/** Error for an id that no stream has. `command`: what lists the others. */
export function unknownId(
  { owner, name }: Pick<Contract, "owner" | "name">,
  given: string,
  command: string = name,
): HoldpointError {
  return new HoldpointError("unknown_id", `There is no ${owner} ${displayValue(given)}.`, {
    next: `\`holdpoint ${command}\` lists them.`,
  });
}

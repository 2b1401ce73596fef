/** Routes of a capability, made from its contract: they parse, name the actor, perform the verb and encode its answer. */
import { z } from "zod";
import { type Capability, performVerb } from "../../engine/verb.ts";
import { makeCodec, type OnWire } from "../../kernel/codec.ts";
import {
  type Contract,
  httpMethod,
  nounFor,
  parseInput,
  pathNames,
  scopeFor,
  type VerbContract,
} from "../../kernel/contract.ts";
import { nextCursor, pageOf, pageQuery, sealCursor } from "../page.ts";
import { personOf } from "../person.ts";
import { type Asked, type Route, route, type ScopedRoute, type Tag } from "../route.ts";
import { idSchema } from "../wire.ts";

type Plain<Fields> = z.ZodType<Fields, Fields>;
type PageFields = { limit?: number | undefined; cursor?: string | undefined };
type InputOnWire<One extends VerbContract, Owner extends string> = One extends { readonly item: z.ZodType }
  ? Omit<OnWire<One["input"], Owner, true>, "limit" | "after"> & PageFields
  : OnWire<One["input"], Owner, true>;
type OutputOnWire<One extends VerbContract, Name extends string, Owner extends string> = One extends {
  readonly item: infer Item;
}
  ? { [field in Name]: OnWire<Item, Owner>[] } & { next_cursor: string | null }
  : One extends { readonly wrap: infer Field extends string }
    ? { [field in Field]: OnWire<One["output"], Owner> }
    : OnWire<One["output"], Owner>;
type IfInput<One extends VerbContract, Method, Schema> = One["input"] extends z.ZodType
  ? One["http"] extends `${Method & string} ${string}`
    ? Schema
    : z.ZodType
  : z.ZodType;

type VerbRoute<One extends VerbContract, Name extends string, Owner extends string> = Route & {
  readonly types?: {
    readonly name: One["http"];
    readonly query: IfInput<One, "GET", Plain<InputOnWire<One, Owner>>>;
    readonly body: IfInput<One, "POST", Plain<InputOnWire<One, Owner>>>;
    readonly answers: { readonly 200: Plain<OutputOnWire<One, Name, Owner>> };
  };
};
/** What the client is typed by. */
type VerbRoutes<One> =
  One extends Contract<infer Name, infer Owner, infer All>
    ? { readonly [Verb in keyof All]: VerbRoute<All[Verb], Name, Owner> }[keyof All]
    : never;

type Wire = {
  readonly input: z.ZodType | undefined;
  readonly output: z.ZodType;
  /** As the library has it, without the actor. */
  decode(given: unknown): object;
  encode(answer: unknown): unknown;
};

function listWire(name: string, input: z.ZodObject, item: z.ZodType): Wire {
  const { limit: _limit, after: _after, ...filters } = input.shape;
  const query = makeCodec(z.strictObject(filters), "text");
  const one = makeCodec(item);
  return {
    input: z.strictObject({ ...(query.wire as z.ZodObject).shape, ...pageQuery }),
    output: z.object({ [name]: z.array(one.wire), next_cursor: nextCursor }),
    decode: (given) => ({ ...(query.decode(given) as object), ...pageOf(name, given as { limit: number }) }),
    encode(answer) {
      const { items, next } = answer as { readonly items: readonly unknown[]; readonly next: string | null };
      return { [name]: items.map(one.encode), next_cursor: sealCursor(name, next) };
    },
  };
}

function wireForm({ name }: Contract, { http, input, output, item, wrap }: VerbContract): Wire {
  if (item !== undefined && input !== undefined) return listWire(name, input, item);
  const given = input && makeCodec(input, httpMethod(http) === "GET" ? "text" : "json");
  const out = makeCodec(output);
  return {
    input: given?.wire,
    output: wrap === undefined ? out.wire : z.object({ [wrap]: out.wire }),
    decode: (body) => (given?.decode(body) ?? {}) as object,
    encode: (answer) => (wrap === undefined ? out.encode(answer) : { [wrap]: out.encode(answer) }),
  };
}

/** The credential says who acts, where the verb has an actor. */
function withActor(input: z.ZodObject | undefined, { who }: Pick<Asked, "who">, given: object): object {
  if (input?.shape["by"] === undefined) return given;
  return { ...given, by: personOf(who, (given as { readonly by?: string }).by) };
}

function routeFor(one: Capability, name: string, facts: VerbContract): Route {
  const { contract } = one;
  const { http, input, summary, status, whenLost } = facts;
  const [, path = ""] = http.split(" ") as [string, `/${string}`];
  const wire = wireForm(contract, facts);
  const isRead = httpMethod(http) === "GET";
  const names = pathNames(http);
  const value: ScopedRoute = {
    method: httpMethod(http),
    path: path as `/${string}`,
    summary,
    tag: contract.name as Tag,
    scope: scopeFor(contract, facts),
    ...(names.length === 0
      ? {}
      : { params: z.object(Object.fromEntries(names.map((id) => [id, idSchema]))) }),
    ...(wire.input === undefined ? {} : { [isRead ? "query" : "body"]: wire.input }),
    answers: { [status]: wire.output },
    ...(whenLost === undefined ? {} : { whenLost }),
    async handle(asked) {
      const given = withActor(input, asked, wire.decode(isRead ? asked.query : asked.body));
      const read = input === undefined ? {} : parseInput(nounFor(contract.owner), input, given);
      const context = { runtime: asked.runtime, how: { via: asked.who.via } };
      const answer = await performVerb(one, name)(context, { ...(asked.params as object), ...read });
      return { status, body: wire.encode(answer) };
    },
  };
  return route(value);
}

export function verbRoutes<One extends Contract>(one: Capability<One>): readonly VerbRoutes<One>[] {
  const any = one as unknown as Capability;
  const routes = Object.entries(any.contract.verbs).map(([name, facts]) => routeFor(any, name, facts));
  return routes as unknown as readonly VerbRoutes<One>[];
}

/** All routes; and the routes made from a contract: they parse, name the actor, run the verb and encode its answer. */
import { z } from "zod";
import { actingAgent, actingSpeaker } from "../agents/identify-agent.ts";
import { intentStreamRoutes, intentWaitRoutes } from "../agents/intents/long-poll-routes.ts";
import { SEED_ANSWERS, seedRoutes } from "../agents/seed-routes.ts";
import { approvalReads, type CardParts, cardPageRoutes } from "../approvals/routes.ts";
import { actorIn, makeCodec, type OnWire, pathOnWire } from "../kernel/codec.ts";
import {
  type Contract,
  httpMethod,
  itemsField,
  type Method,
  nounFor,
  parseInput,
  pathNames,
  scopeFor,
  type VerbContract,
} from "../kernel/contract.ts";
import { HoldpointError } from "../kernel/errors.ts";
import { type Actor, viewerIn } from "../kernel/values.ts";
import { ownSessionRoutes, type SessionParts, sessionRoutes } from "../people/sessions/routes.ts";
import { policyGuards } from "../policy/routes.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { type AnyBinding, bindingFor, type Capability } from "../runtime/verb.ts";
import { VERBS } from "../verbs.ts";
import { workflowState } from "../workflows/read.ts";
import { activityRoutes } from "./activity/routes.ts";
import {
  actingOperator,
  actingPerson,
  actingPrincipal,
  checkMayEnd,
  checkMaySendBack,
  type Who,
} from "./authenticate.ts";
import type { EventAudience } from "./events/listeners.ts";
import { eventRoutes } from "./events/routes.ts";
import { type ExampleAgent, exampleRoutes } from "./example.ts";
import type { Metrics } from "./metrics/metrics.ts";
import { healthRoutes, metricsRoutes, type ServerCondition } from "./metrics/routes.ts";
import { type DeskFiles, deskRoutes } from "./pages/desk.ts";
import { referenceRoutes } from "./pages/reference.ts";
import {
  type Guard,
  type Route,
  type RouteRequest,
  route,
  type ScopedRoute,
  TAGS,
  type Tag,
} from "./route.ts";
import { waitRoutes } from "./wait-until.ts";
import { idSchema, nextCursor, pageOf, pageQuery, sealCursor } from "./wire.ts";

type Loaders = (typeof VERBS)[keyof typeof VERBS];
type LoaderIn<Table> = Table[keyof Table];
type ContractIn<Load> = Load extends () => { readonly contract: infer One } ? One : never;
type Bound = Loaders extends infer Table
  ? Table extends Table
    ? ContractIn<LoaderIn<Table>>
    : never
  : never;

const whoMay =
  (check: typeof checkMayEnd): Guard =>
  async ({ runtime, who }, input, serve) => {
    check(who, await workflowState(runtime, (input as { readonly id: string }).id));
    return serve();
  };
/** Run around the verbs of a contract, for what only a server limits: other scopes, people only, one at a time. */
const GUARDS: {
  readonly [Name in Bound["name"]]?: Guards<keyof Extract<Bound, { readonly name: Name }>["verbs"] & string>;
} = {
  policies: policyGuards,
  workflows: { cancel: whoMay(checkMayEnd), rollback: whoMay(checkMaySendBack) },
};

type Plain<Fields> = z.ZodType<Fields, Fields>;
type PageFields = { limit?: number | undefined; cursor?: string | undefined };
type Fields<One extends VerbContract> = One extends { readonly item: z.ZodType }
  ? Omit<OnWire<One["input"], true>, "limit" | "after"> & PageFields
  : OnWire<One["input"], true>;
type InputOnWire<One extends VerbContract> = One extends {
  readonly shares: { readonly field: infer Field extends string; readonly value: infer Value };
}
  ? { [field in Field]: Value } & Fields<One>
  : Fields<One>;
type SeedAnswers = typeof SEED_ANSWERS;
type OutputOnWire<One extends VerbContract, Name extends string> = One["http"] extends keyof SeedAnswers
  ? z.output<SeedAnswers[One["http"]]["schema"]>
  : DerivedOutput<One, Name>;
type DerivedOutput<One extends VerbContract, Name extends string> = One extends { readonly item: infer Item }
  ? { [field in ItemsField<One, Name>]: OnWire<Item>[] } & { next_cursor: string | null }
  : One extends { readonly wrap: infer Field extends string }
    ? { [field in Field]: OnWire<One["output"]> }
    : OnWire<One["output"]>;
type ItemsField<One, Name extends string> = One extends { readonly items: infer Field extends string }
  ? Field
  : Name;
type IfInput<One extends VerbContract, Method, Schema> = One["input"] extends z.ZodType
  ? One["http"] extends `${Method & string} ${string}`
    ? Schema
    : z.ZodType
  : z.ZodType;
type WithBody = Exclude<Method, "GET">;

type VerbRoute<One extends VerbContract, Name extends string> = Route & {
  readonly types?: {
    readonly name: One["http"];
    readonly query: IfInput<One, "GET", Plain<InputOnWire<One>>>;
    readonly body: IfInput<One, WithBody, Plain<InputOnWire<One>>>;
    readonly answers: { readonly 200: Plain<OutputOnWire<One, Name>> };
  };
};
type VerbRoutes<One> =
  One extends Contract<infer Name, infer All>
    ? { readonly [Verb in keyof All]: VerbRoute<All[Verb], Name> }[keyof All]
    : never;
/** Types the client. */
type ContractRoute = VerbRoutes<Bound>;

type Wire = {
  readonly input: z.ZodObject | undefined;
  readonly output: z.ZodType;
  /** In the library's form, without the actor. */
  decode(given: unknown): object;
  encode(answer: unknown, given: unknown, asked: RouteRequest): unknown;
};
type Paged = { readonly items: readonly unknown[]; readonly next: string | null };

function listWire(contract: Contract, facts: VerbContract): Wire {
  const { input, item, cursorName } = facts;
  const field = itemsField(contract, facts);
  const { limit: _limit, after: _after, ...filters } = input?.shape ?? {};
  const query = makeCodec(z.strictObject(filters), "text");
  const one = makeCodec(item as z.ZodType);
  const cursorsOf = (given: unknown) => cursorName?.(given as never) ?? field;
  return {
    input: z.strictObject({ ...(query.wire as z.ZodObject).shape, ...pageQuery }),
    output: z.object({ [field]: z.array(one.wire), next_cursor: nextCursor }),
    decode: (given) => ({
      ...(query.decode(given) as object),
      ...pageOf(cursorsOf(given), given as { limit: number }),
    }),
    encode(answer, given) {
      const { items, next } = answer as Paged;
      return { [field]: items.map(one.encode), next_cursor: sealCursor(cursorsOf(given), next) };
    },
  };
}

type SeedAnswer = {
  readonly schema: z.ZodType;
  answer(runtime: Runtime, id: string, value: unknown): Promise<unknown>;
};
const isSeedAnswer = (http: string): http is keyof SeedAnswers => Object.hasOwn(SEED_ANSWERS, http);

function withSeedAnswer(http: string, wire: Wire): Wire {
  if (!isSeedAnswer(http)) return wire;
  const { schema, answer }: SeedAnswer = SEED_ANSWERS[http];
  const idIn = ({ params }: RouteRequest) => (params as { readonly id: string }).id;
  return {
    ...wire,
    output: schema,
    encode: (value, _given, asked) => answer(asked.runtime, idIn(asked), value),
  };
}

function wireForm(contract: Contract, facts: VerbContract): Wire {
  const { http, input, output, item, wrap } = facts;
  if (item !== undefined) return listWire(contract, facts);
  const given = input && makeCodec(input, httpMethod(http) === "GET" ? "text" : "json");
  const out = makeCodec(output);
  return {
    input: given?.wire as z.ZodObject | undefined,
    output: wrap === undefined ? out.wire : z.object({ [wrap]: out.wire }),
    decode: (body) => (given?.decode(body) ?? {}) as object,
    encode: (answer) => (wrap === undefined ? out.encode(answer) : { [wrap]: out.encode(answer) }),
  };
}

const ACTING: {
  readonly [may in Exclude<Actor, "agent">]: (who: Who, named: string | undefined, field: string) => string;
} = {
  person: actingPerson,
  principal: actingPrincipal,
  operator: actingOperator,
  speaker: actingSpeaker,
};

/** If the verb has an actor, the credential determines it. */
async function withActor(
  actor: ReturnType<typeof actorIn>,
  { runtime, who, params }: RouteRequest,
  given: object,
  defaultActor: AnyBinding["defaultActor"],
): Promise<object> {
  if (actor === undefined) return given;
  const { field, as, may } = actor;
  const { [field]: named } = given as { readonly [field: string]: string | null | undefined };
  if (may !== "agent") return { ...given, [field]: ACTING[may](who, named ?? undefined, as) };
  const { id = "" } = (params ?? {}) as { readonly id?: string };
  const isUnnamed = who.principal === null && named == null;
  return {
    ...given,
    [field]: actingAgent(who, named, isUnnamed ? await defaultActor?.(runtime, id) : undefined),
  };
}

/** Adds the viewer, if the verb depends on it. Without authentication the request may name one. */
function withViewer(
  field: string | undefined,
  { who }: Pick<RouteRequest, "who">,
  given: { readonly [field: string]: unknown },
): object {
  if (field === undefined || (who.principal === null && given[field] !== undefined)) return {};
  const { [field]: named = who.principal } = given;
  if (named === who.principal) return { [field]: who.principal };
  throw new HoldpointError("forbidden", `"${field}" is not the person whose credential this is.`, {
    next: `Leave "${field}" out.`,
  });
}

type Serve = (asked: RouteRequest, given: unknown) => Promise<unknown>;

type Serving = {
  readonly name: string;
  readonly facts: VerbContract;
  readonly guard: Guard | undefined;
  /** Instead of the verb's own. */
  readonly perform?: AnyBinding["perform"];
};

function serveVerb(one: Capability, serving: Serving, wire: Wire): Serve {
  const { name, facts, guard } = serving;
  const { input } = facts;
  const { perform: own, defaultActor } = bindingFor(one, name);
  const { perform = own } = serving;
  const what = nounFor(facts.noun ?? one.contract.owner);
  const part = httpMethod(facts.http) === "GET" ? "query" : "body";
  // Looked up once: each request would walk all fields of the schema.
  const [actor, viewer] = [actorIn(input), viewerIn(input)];
  const nameOf = (path: readonly PropertyKey[]) => [part, ...pathOnWire(input, path)].join(".");
  return async (asked, given) => {
    const { runtime, who, params, isGone } = asked;
    const acting = await withActor(actor, asked, wire.decode(given), defaultActor);
    const read = input === undefined ? {} : parseInput(what, input, acting, nameOf);
    const all = { ...(params as object), ...read, ...withViewer(viewer, asked, read) };
    const serve = () => perform({ runtime, how: { via: who.via }, caller: who, isGone }, all);
    return wire.encode(await (guard === undefined ? serve() : guard(asked, all, serve)), given, asked);
  };
}

type Guards<Verb extends string = string> = { readonly [Name in Verb]?: Guard };

type Hooks = Pick<ScopedRoute, "mayAsk" | "again">;
type Served = {
  readonly facts: VerbContract;
  readonly wire: Wire;
  readonly serve: Serve;
  readonly hooks: Hooks;
};

function hooksFor(one: Capability, serving: Serving, wire: Wire): Hooks {
  const { mayAsk, again } = bindingFor(one, serving.name);
  const hooks: Hooks = {
    mayAsk: async ({ runtime, params, body }, kept) =>
      mayAsk === undefined || mayAsk(runtime, { ...(params as object), ...wire.decode(body) }, kept),
    again(asked, kept) {
      const perform = again?.(kept);
      if (perform === undefined) return undefined;
      const { status } = serving.facts;
      return serveVerb(
        one,
        { ...serving, perform },
        wire,
      )(asked, asked.body).then((body) => ({ status, body }));
    },
  };
  return { ...(mayAsk && { mayAsk: hooks.mayAsk }), ...(again && { again: hooks.again }) } as Hooks;
}

/** For verbs that share a route: a field selects the verb. */
function together(all: readonly Served[]): Pick<Wire, "input"> & { readonly serve: Serve } {
  const [{ facts, wire, serve }] = all as readonly [Served];
  if (facts.shares === undefined) return { input: wire.input, serve };
  const { field } = facts.shares;
  const bodies = all.map(({ facts: { shares }, wire: { input } }) =>
    z.strictObject({ [field]: z.literal(shares?.value ?? ""), ...input?.shape }),
  );
  return {
    input: z.discriminatedUnion(field, bodies as unknown as readonly [z.ZodObject]) as unknown as z.ZodObject,
    serve(asked, given) {
      const { [field]: value, ...body } = given as Readonly<Record<string, unknown>>;
      const meant = all.find(({ facts: { shares } }) => shares?.value === value);
      return (meant?.serve ?? serve)(asked, body);
    },
  };
}

function routeFor(contract: Contract, all: readonly Served[]): Route {
  const [{ facts, wire, hooks }] = all as readonly [Served];
  const { http, shares, description, orScope, status, whenLost, mayAsk } = facts;
  const { input, serve } = together(all);
  const namedIn = (id: string) => [id, facts.names?.[id] ?? idSchema] as const;
  const isRead = httpMethod(http) === "GET";
  const given = isRead || input?.safeParse({}).success !== true ? input : input.default({});
  const names = pathNames(http);
  const value: ScopedRoute = {
    method: httpMethod(http),
    path: http.slice(http.indexOf("/")) as `/${string}`,
    summary: shares?.summary ?? facts.summary,
    ...(description === undefined ? {} : { description }),
    tag: (contract.tag ?? contract.name) as Tag,
    scope: scopeFor(contract, facts),
    ...(orScope === undefined ? {} : { orScope }),
    ...(names.length === 0 ? {} : { params: z.object(Object.fromEntries(names.map(namedIn))) }),
    ...(given === undefined ? {} : { [isRead ? "query" : "body"]: given }),
    answers: { [status]: wire.output },
    ...(whenLost === undefined ? {} : { whenLost }),
    ...(mayAsk === undefined ? {} : { mayAsk: async ({ body }) => mayAsk(wire.decode(body) as never) }),
    ...hooks,
    handle: async (asked) => ({ status, body: await serve(asked, isRead ? asked.query : asked.body) }),
  };
  return route(value);
}

function verbRoutes(one: Capability): readonly Route[] {
  const { contract } = one;
  const guards = (GUARDS as { readonly [contract: string]: Guards })[contract.name] ?? {};
  const served = Object.entries(contract.verbs).map(([name, facts]) => {
    const wire = withSeedAnswer(facts.http, wireForm(contract, facts));
    const serving = { name, facts, guard: guards[name] };
    return { facts, wire, serve: serveVerb(one, serving, wire), hooks: hooksFor(one, serving, wire) };
  });
  const byRoute = Map.groupBy(served, ({ facts }) => facts.http);
  return [...byRoute.values()].map((all) => routeFor(contract, all));
}

const contractRoutes = Object.values(VERBS)
  .flatMap((table) => Object.values(table) as readonly (() => unknown)[])
  .flatMap((verbs) => verbRoutes(verbs() as Capability)) as unknown as readonly ContractRoute[];

export type RouteParts = {
  readonly condition: ServerCondition;
  readonly audience: EventAudience;
  readonly hands: SessionParts;
  readonly metrics: Metrics;
  readonly cards: CardParts;
  /** undefined if it was not built. */
  readonly pages: DeskFiles | undefined;
  /** undefined if the server was started without it. */
  readonly example: ExampleAgent | undefined;
};

/** No type annotation: the inferred types of the routes type the client. */
function resources({ condition, audience, hands, metrics, cards, pages, example }: RouteParts) {
  return [
    ...seedRoutes,
    ...contractRoutes,
    ...approvalReads,
    ...activityRoutes,
    ...cardPageRoutes(cards),
    ...intentWaitRoutes(audience),
    ...eventRoutes(audience),
    ...waitRoutes(audience),
    ...intentStreamRoutes(audience),
    ...sessionRoutes(hands),
    ...ownSessionRoutes,
    ...healthRoutes(condition),
    ...metricsRoutes(metrics),
    ...exampleRoutes(example),
    ...deskRoutes(pages),
  ];
}

export type ListedRoute = ReturnType<typeof resources>[number] | ReturnType<typeof referenceRoutes>[number];

const tagOrder = ({ tag }: Route): number => (TAGS.includes(tag) ? TAGS.indexOf(tag) : TAGS.length);

const byTagAndPath = (one: Route, other: Route): number =>
  tagOrder(one) - tagOrder(other) || Number(one.path > other.path) - Number(one.path < other.path);

/** In the order of the reference: by tag, then by path. */
export function allRoutes(parts: RouteParts): readonly ListedRoute[] {
  const all: readonly ListedRoute[] = [
    ...resources(parts),
    ...referenceRoutes(parts.condition.version, (): readonly Route[] => all),
  ].toSorted(byTagAndPath);
  return all;
}

/** OpenAPI 3.1 document, made from the list of routes and their schemas. */
import { z } from "zod";
import { isStream, type Media, type Route, scopesOfRoute, TAGS } from "./route.ts";

export type JsonSchema = { readonly [key: string]: unknown };
export type OpenApiParameter = {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
};
type Content = { readonly [type: string]: { readonly schema: JsonSchema } };
export type OpenApiOperation = {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly parameters: readonly OpenApiParameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: { readonly [status: string]: unknown };
  readonly security: readonly { readonly [scheme: string]: readonly string[] }[];
  /** Required scope; null for a public route. */
  readonly "x-scope": string | null;
  /** Alternative scope, with a smaller answer. */
  readonly "x-or-scope"?: string;
};
export type OpenApi = {
  readonly openapi: "3.1.0";
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string }[];
  readonly paths: { readonly [path: string]: { readonly [method: string]: OpenApiOperation } };
  readonly components: JsonSchema;
};

const problem = z.object({
  type: z.string(),
  title: z.string(),
  status: z.number(),
  detail: z.string(),
  code: z.string(),
  data: z.string().meta({ description: "what happened to the data" }),
  next: z.string().meta({ description: "what to do" }),
  retryable: z.boolean(),
  instance: z.string(),
  correlation_id: z.string(),
});

function schemaOf(schema: z.ZodType, io: "input" | "output"): JsonSchema {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  return rest;
}

function fieldsOf(schema: z.ZodType): readonly (readonly [string, JsonSchema, boolean])[] {
  const { properties = {}, required = [] } = schemaOf(schema, "input") as {
    properties?: { [name: string]: JsonSchema };
    required?: readonly string[];
  };
  return Object.entries(properties).map(([name, field]) => [name, field, required.includes(name)]);
}

function parametersIn(place: "path" | "query", schema: z.ZodType | undefined): readonly OpenApiParameter[] {
  if (schema === undefined) return [];
  return fieldsOf(schema).map(([name, { description, ...field }, isRequired]) => ({
    name,
    in: place,
    required: place === "path" || isRequired,
    ...(typeof description === "string" ? { description } : {}),
    schema: field,
  }));
}

const IDEMPOTENCY: OpenApiParameter = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description: "the same key and body get the first answer again, for 24 hours",
  schema: { type: "string", minLength: 1, maxLength: 200 },
};

const CSRF: OpenApiParameter = {
  name: "X-CSRF-Token",
  in: "header",
  required: false,
  description: "needed with a session, not with a key: the token of `GET /api/session`",
  schema: { type: "string", maxLength: 200 },
};

const LAST_EVENT: OpenApiParameter = {
  name: "Last-Event-ID",
  in: "header",
  required: false,
  description: "the id of the last event that was heard; it goes on after it",
  schema: { type: "string", maxLength: 200 },
};

const changes = ({ method, scope }: Route): boolean => method !== "GET" && scope !== "public";
/** Intents are sent until they are acknowledged, so that stream has no position to resume from. */
const isResumable = (route: Route): boolean => isStream(route) && route.path === "/api/events";

const takesKey = ({ method, scope, whenLost }: Route): boolean =>
  method === "POST" && scope !== "public" && whenLost !== "none";

/** Descriptions of answers that are not JSON. */
const MEDIA: { readonly [media in Media]: string } = {
  "text/event-stream": "A stream of events",
  "application/octet-stream": "A file",
  "text/html": "A page",
  "text/plain": "Text",
};

/** Such as `post_approvals_id_votes`. Pages end in `_page`, to differ from the API route of the same name. */
function operationId({ method, path, problem, tag }: Route): string {
  const isPage = problem !== undefined || tag === "desk";
  const words = [...path.replace(/^\/api\b/, "").split(/[^A-Za-z0-9]+/), isPage ? "page" : ""];
  return [method.toLowerCase(), ...words.filter((word) => word !== "")].join("_");
}

function answersOf(route: Route): OpenApiOperation["responses"] {
  const own = Object.entries(route.answers).map(([status, schema]) => {
    if (typeof schema === "string")
      return [status, { description: MEDIA[schema], content: { [schema]: { schema: { type: "string" } } } }];
    const content = { "application/json": { schema: schemaOf(schema, "output") } };
    return [status, { description: "done", content }];
  });
  return { ...Object.fromEntries(own), default: { $ref: "#/components/responses/Problem" } };
}

function operationOf(route: Route): OpenApiOperation {
  const { summary, description, tag, params, query, body, scope } = route;
  const isOptional = body?.safeParse(undefined).success === true;
  const [, other] = scopesOfRoute(route);
  return {
    operationId: operationId(route),
    summary,
    ...(description === undefined ? {} : { description }),
    tags: [tag],
    parameters: [
      ...parametersIn("path", params),
      ...parametersIn("query", query),
      ...(takesKey(route) ? [IDEMPOTENCY] : []),
      ...(changes(route) ? [CSRF] : []),
      ...(isResumable(route) ? [LAST_EVENT] : []),
    ],
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: !isOptional,
            content: { "application/json": { schema: schemaOf(body, "input") } },
          },
        }),
    responses: answersOf(route),
    security: scope === "public" ? [] : [{ key: [] }, { session: [] }],
    "x-scope": scope === "public" ? null : scope,
    ...(other === undefined ? {} : { "x-or-scope": other }),
  };
}

const ABOUT =
  "Every route decides nothing by itself: rules do, in the transaction that records what happened. Times are RFC 3339 in UTC, money is in millionths of its currency. What goes wrong is a problem by RFC 9457.";

const COMPONENTS = {
  schemas: { Problem: schemaOf(problem, "output") },
  responses: {
    Problem: {
      description: "what went wrong, what happened to the data, what to do",
      content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
    },
  },
  securitySchemes: {
    key: { type: "http", scheme: "bearer", description: "an API key" },
    session: { type: "apiKey", in: "cookie", name: "__Host-holdpoint", description: "a person's session" },
  },
};

/** One route per step: converting all schemas to JSON Schema takes long. */
export function* openApiIn(routes: readonly Route[], version: string): Generator<void, OpenApi> {
  const paths: { [path: string]: { [method: string]: OpenApiOperation } } = {};
  for (const route of routes) {
    const { path } = route;
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route) };
    yield;
  }
  const used = new Set<string>(routes.map(({ tag }) => tag));
  return {
    openapi: "3.1.0",
    info: { title: "Holdpoint", version, description: ABOUT },
    tags: [...new Set<string>([...TAGS, ...used])].filter((tag) => used.has(tag)).map((name) => ({ name })),
    paths,
    components: COMPONENTS,
  };
}

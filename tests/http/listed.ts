/** Every route of a server, as its OpenAPI document lists them, and requests that fit them. */
import type { JsonSchema, OpenApi, OpenApiOperation } from "../../src/api/openapi.ts";
import type { Bench, Sent } from "../fixtures/server.ts";

export type Listed = {
  readonly method: NonNullable<Sent["method"]>;
  readonly path: string;
  /** `POST /api/approvals/{id}/votes` */
  readonly name: string;
  readonly operation: OpenApiOperation;
  /** null: everybody may ask. */
  readonly scope: string | null;
  /** Enough instead, for less. */
  readonly orScope?: string | undefined;
};

export async function listRoutes(bench: Bench): Promise<readonly Listed[]> {
  const { body } = await bench.ask("/api/openapi.json");
  return Object.entries((body as unknown as OpenApi).paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([word, operation]) => {
      const method = word.toUpperCase() as Listed["method"];
      const { "x-scope": scope, "x-or-scope": orScope } = operation;
      return { method, path, name: `${method} ${path}`, operation, scope, orScope };
    }),
  );
}

const isSchema = (value: unknown): value is JsonSchema => typeof value === "object" && value !== null;
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function exampleText(schema: JsonSchema): string {
  if (schema["format"] === "date-time") return "2099-01-01T00:00:00Z";
  if (typeof schema["pattern"] === "string") return "1000";
  return "example".padEnd(Number(schema["minLength"] ?? 0), "e");
}

function exampleObject(schema: JsonSchema): unknown {
  const needed = listOf(schema["required"]);
  const fields = Object.entries((schema["properties"] ?? {}) as { [name: string]: JsonSchema });
  return Object.fromEntries(
    fields.filter(([name]) => needed.includes(name)).map(([name, field]) => [name, exampleOf(field)]),
  );
}

/** The least that fits. */
export function exampleOf(schema: JsonSchema): unknown {
  const choices = [...listOf(schema["anyOf"]), ...listOf(schema["oneOf"])].filter(isSchema);
  if (choices[0] !== undefined) return exampleOf(choices[0]);
  if ("const" in schema) return schema["const"];
  if (Array.isArray(schema["enum"])) return schema["enum"][0];
  if (isSchema(schema["properties"])) return exampleObject(schema);
  switch (schema["type"]) {
    case "array": {
      const count = Number(schema["minItems"] ?? 0);
      return Array.from({ length: count }, () => exampleOf((schema["items"] ?? {}) as JsonSchema));
    }
    case "string":
      return exampleText(schema);
    case "integer":
    case "number":
      return Math.max(1, Number(schema["minimum"] ?? 1));
    case "boolean":
      return false;
    default:
      return {};
  }
}

export const bodySchemaOf = ({ operation }: Listed): JsonSchema | undefined =>
  operation.requestBody?.content["application/json"]?.schema;

/** Names of fields of the body, at its first level, in any of its forms. */
export function bodyFields(schema: JsonSchema | undefined): ReadonlySet<string> {
  if (schema === undefined) return new Set();
  const forms = [schema, ...listOf(schema["anyOf"]), ...listOf(schema["oneOf"])].filter(isSchema);
  return new Set(forms.flatMap((form) => Object.keys(form["properties"] ?? {})));
}

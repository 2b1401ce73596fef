/** A client in TypeScript from an OpenAPI document and nothing else: a function an operation, typed by its schemas. */
import type { Document, DocumentOperation, Listed } from "./document.ts";
import { operationsOf } from "./document.ts";

type Schema = { readonly [keyword: string]: unknown };

const schemasIn = (value: unknown): readonly Schema[] => (Array.isArray(value) ? (value as Schema[]) : []);
const union = (types: readonly string[]): string => (types.length === 0 ? "never" : types.join(" | "));
const quoted = (value: unknown): string => JSON.stringify(value);

function objectType(schema: Schema): string {
  const properties = Object.entries((schema["properties"] ?? {}) as { [name: string]: Schema });
  const required = (schema["required"] ?? []) as readonly string[];
  const fields = properties.map(([name, field]) => {
    const isOptional = required.includes(name) ? "" : "?";
    return `readonly ${quoted(name)}${isOptional}: ${typeOf(field)};`;
  });
  const more = schema["additionalProperties"];
  const rest = typeof more === "object" && more !== null ? typeOf(more as Schema) : "unknown";
  if (fields.length === 0) return `{ readonly [name: string]: ${rest} }`;
  return `{ ${fields.join(" ")} }`;
}

const SIMPLE: { readonly [type: string]: string } = {
  string: "string",
  integer: "number",
  number: "number",
  boolean: "boolean",
  null: "null",
};

function typeNamed(type: unknown, schema: Schema): string {
  if (type === "object") return objectType(schema);
  if (type === "array") return `readonly (${typeOf((schema["items"] ?? {}) as Schema)})[]`;
  return SIMPLE[String(type)] ?? "unknown";
}

function typeOf(schema: Schema): string {
  const choices = [...schemasIn(schema["anyOf"]), ...schemasIn(schema["oneOf"])];
  if (typeof schema["$ref"] === "string") return String(schema["$ref"].split("/").at(-1));
  if (choices.length > 0) return union(choices.map((one) => `(${typeOf(one)})`));
  if ("const" in schema) return quoted(schema["const"]);
  if (Array.isArray(schema["enum"])) return union(schema["enum"].map(quoted));
  const { type } = schema;
  return Array.isArray(type)
    ? union(type.map((one) => typeNamed(one, schema)))
    : typeNamed(type ?? ("properties" in schema ? "object" : undefined), schema);
}

function partType(operation: DocumentOperation, place: "path" | "query"): string {
  const own = operation.parameters.filter((one) => one.in === place);
  if (own.length === 0) return "";
  const fields = own.map(
    ({ name, required, schema }) =>
      `readonly ${quoted(name)}${required === true ? "" : "?"}: ${typeOf(schema)};`,
  );
  const isOptional = own.every(({ required }) => required !== true);
  return `readonly ${place}${isOptional ? "?" : ""}: { ${fields.join(" ")} };`;
}

function bodyType({ requestBody }: DocumentOperation): string {
  const schema = requestBody?.content["application/json"]?.schema;
  return schema === undefined
    ? ""
    : `readonly body${requestBody?.required === true ? "" : "?"}: ${typeOf(schema)};`;
}

function answerType({ responses }: DocumentOperation): string {
  const good = Object.entries(responses).filter(([status]) => status.startsWith("2"));
  return union(
    good.map(([, one]) => {
      const schema = "content" in one ? one.content?.["application/json"]?.schema : undefined;
      return schema === undefined ? "string" : `(${typeOf(schema)})`;
    }),
  );
}

function functionOf({ path, method, operation }: Listed): string {
  const given = [partType(operation, "path"), partType(operation, "query"), bodyType(operation)].join(" ");
  const needed = /readonly (path|query|body):/.test(given) ? "" : " = {}";
  const name = operation.operationId;
  return `    ${name}: (given: { ${given} readonly key?: string }${needed}) =>
      call<${answerType(operation)}>("${method.toUpperCase()}", ${quoted(path)}, given),`;
}

const CALL = `
type Given = { readonly path?: object; readonly query?: object; readonly body?: unknown; readonly key?: string };
export type Settings = { readonly base: string; readonly token?: string };

export class Refused extends Error {
  readonly problem: Problem;
  constructor(problem: Problem) {
    super(problem.detail);
    this.problem = problem;
  }
}

export function createClient({ base, token }: Settings) {
  async function call<Answer>(method: string, path: string, given: Given): Promise<Answer> {
    const values = (given.path ?? {}) as { readonly [name: string]: unknown };
    const filled = path.replaceAll(/\\{(\\w+)\\}/g, (_, name: string) => encodeURIComponent(String(values[name])));
    const query = new URLSearchParams(Object.entries(given.query ?? {}).map(([name, value]) => [name, String(value)]));
    const answer = await fetch(\`\${base}\${filled}?\${query}\`, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: \`Bearer \${token}\` }),
        ...(given.body === undefined ? {} : { "content-type": "application/json" }),
        ...(given.key === undefined ? {} : { "idempotency-key": given.key }),
      },
      ...(given.body === undefined ? {} : { body: JSON.stringify(given.body) }),
    });
    const isJson = /\\bjson\\b/.test(answer.headers.get("content-type") ?? "");
    const body: unknown = isJson ? await answer.json() : await answer.text();
    if (!answer.ok) throw new Refused(body as Problem);
    return body as Answer;
  }
  return {`;

export function generateClient(document: Document): string {
  const types = Object.entries(document.components.schemas).map(
    ([name, schema]) => `export type ${name} = ${typeOf(schema)};`,
  );
  const functions = operationsOf(document).map(functionOf);
  return [...types, CALL.slice(1), ...functions, "  };", "}", ""].join("\n");
}

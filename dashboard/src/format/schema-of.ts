import { isObject, type Json } from "./json.ts";

/** Where nobody gave a schema: one that fits what is there. */
export function schemaOf(value: Json): Json {
  if (typeof value === "string") return { type: "string" };
  if (typeof value === "number") return { type: "number" };
  if (typeof value === "boolean") return { type: "boolean" };
  if (!isObject(value) || "$secret" in value || "$artifact" in value) return {};
  const properties = Object.fromEntries(Object.entries(value).map(([name, of]) => [name, schemaOf(of)]));
  return { type: "object", properties, required: Object.keys(value) };
}

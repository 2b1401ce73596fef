/** Values made from a JSON Schema, and then broken: what a client that is wrong, or hostile, could send. */
import type { JsonSchema } from "../../src/api/openapi.ts";

export type Random = () => number;

/** Mulberry32: the same seed plays the same requests again. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export const pick = <Value>(random: Random, values: readonly Value[]): Value =>
  values[Math.floor(random() * values.length)] as Value;

const TEXTS = [
  "",
  " ",
  "person:ann",
  "ann",
  "agent:x",
  "../../etc/passwd",
  "%00",
  "\u0000",
  "\u202e",
  "\ud800",
  "__proto__",
  "constructor",
  "apr_00000000000000000000000000",
  "act_01ARZ3NDEKTSV4RRFFQ69G5FAV",
  "wf_01ARZ3NDEKTSV4RRFFQ69G5FAV",
  "eff_01ARZ3NDEKTSV4RRFFQ69G5FAV",
  "grt_01ARZ3NDEKTSV4RRFFQ69G5FAV",
  "key_01ARZ3NDEKTSV4RRFFQ69G5FAV",
  "' or 1=1 --",
  "<script>alert(1)</script>",
  "a".repeat(3_000),
  "2026-01-01T00:00:00Z",
  "9999999999999999999999",
  "-1",
  "null",
  "true",
];
const ODD: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  9_007_199_254_740_991,
  [],
  {},
  [[]],
  { a: 1 },
  "x",
  ...TEXTS,
];

export const oddText = (random: Random): string => pick(random, TEXTS);
export const odd = (random: Random): unknown => pick(random, ODD);

const isObject = (value: unknown): value is JsonSchema => typeof value === "object" && value !== null;

function textFor(schema: JsonSchema, random: Random): string {
  if (schema["format"] === "date-time") return "2026-01-01T00:00:00Z";
  if (typeof schema["pattern"] === "string" && schema["pattern"].includes("\\d")) return "1000";
  return pick(random, ["ann", "look at it", "person:ann", oddText(random)]);
}

/** Fits the schema as far as it is looked at: often enough to get behind the first check. */
export function sample(schema: JsonSchema, random: Random): unknown {
  const { anyOf, oneOf, properties, required, items } = schema;
  const choices = [anyOf, oneOf].flatMap((list) => (Array.isArray(list) ? list : []));
  if (choices.length > 0) return sample(pick(random, choices), random);
  if (Array.isArray(schema["enum"])) return pick(random, schema["enum"]);
  if ("const" in schema) return schema["const"];
  if (isObject(properties)) {
    const needed = Array.isArray(required) ? required : [];
    const fields = Object.entries(properties).filter(([name]) => needed.includes(name) || random() < 0.5);
    return Object.fromEntries(fields.map(([name, field]) => [name, sample(field as JsonSchema, random)]));
  }
  switch (schema["type"]) {
    case "array":
      return isObject(items) ? [sample(items, random)] : [];
    case "string":
      return textFor(schema, random);
    case "integer":
    case "number":
      return pick(random, [1, 2, 60, 100, 1_000]);
    case "boolean":
      return random() < 0.5;
    default:
      return odd(random);
  }
}

/** One thing about it is wrong, or several. */
export function broken(value: unknown, random: Random): unknown {
  if (!isObject(value) || Array.isArray(value) || random() < 0.1) return odd(random);
  const copy: Record<string, unknown> = { ...value };
  const names = Object.keys(copy);
  const name = names.length === 0 ? "surprise" : pick(random, names);
  const how = random();
  if (how < 0.25) delete copy[name];
  else if (how < 0.75) copy[name] = random() < 0.3 ? broken(copy[name], random) : odd(random);
  else copy[oddText(random)] = odd(random);
  return random() < 0.3 ? broken(copy, random) : copy;
}

/** Text that is hardly JSON any more. */
export function brokenText(text: string, random: Random): string {
  const at = Math.floor(random() * (text.length + 1));
  switch (Math.floor(random() * 6)) {
    case 0:
      return text.slice(0, at);
    case 1:
      return `${text.slice(0, at)}${pick(random, ["\u0000", "}", "]", ",", '"', "\\", "\ufeff", "1e999"])}${text.slice(at)}`;
    case 2:
      return "[".repeat(70 + at);
    case 3:
      return text.replace("{", '{"a":1,"a":2,');
    case 4:
      return text.replace("{", '{"__proto__":{"admin":true},');
    default:
      return `${text}${text}`;
  }
}

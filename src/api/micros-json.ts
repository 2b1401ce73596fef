/**
 * Integers of any size in JSON: `{ "$micros": "5" }`.
 *
 * - A program's own key of that name is never taken for one: it is sent with one more `$`, which is removed when read.
 */
const ALIKE = /^\$+micros$/;
const WHOLE = /^-?\d+$/;

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function renamed(value: object, rename: (key: string) => string): object {
  const keys = Object.keys(value);
  if (!keys.some((key) => ALIKE.test(key))) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [ALIKE.test(key) ? rename(key) : key, part]),
  );
}

/** For `JSON.stringify`. */
export function writeMicros(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return { $micros: String(value) };
  return isObject(value) ? renamed(value, (key) => `$${key}`) : value;
}

function wholeIn(value: object): bigint | undefined {
  const [[key, text] = [], ...more] = Object.entries(value);
  const isWhole = key === "$micros" && more.length === 0 && typeof text === "string" && WHOLE.test(text);
  return isWhole ? BigInt(text) : undefined;
}

/** For `JSON.parse`. A key with a single `$` stays: we never write one next to other keys. */
export function readMicros(_key: string, value: unknown): unknown {
  if (!isObject(value)) return value;
  return wholeIn(value) ?? renamed(value, (key) => (key.startsWith("$$") ? key.slice(1) : key));
}

import type { Json } from "../kernel/json.ts";

/** As JSON: micros, which are more than its numbers can hold, as text. */
export const plain = (value: unknown): Json =>
  JSON.parse(JSON.stringify(value, (_key, part) => (typeof part === "bigint" ? part.toString() : part)));

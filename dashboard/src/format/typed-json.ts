/** JSON as somebody types it. Undefined where it is none yet, or where a number is too large to be sent as it stands there. */
import type { Json } from "./json.ts";

function finite(_: string, value: unknown): unknown {
  if (typeof value === "number" && !Number.isFinite(value)) throw new RangeError("no such number");
  return value;
}

export function typedJson(text: string): { readonly value: Json } | undefined {
  try {
    return { value: JSON.parse(text, finite) as Json };
  } catch {
    return undefined;
  }
}

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

/** Half a number is kept as the text that it is until it is one: the server says so too. */
export function typedNumber(text: string): number | string {
  const number = NUMBER.test(text.trim()) ? Number(text) : Number.NaN;
  return Number.isFinite(number) ? number : text;
}

import { isJsonObject, type JsonObject, parseJson } from "../kernel/json.ts";
import { ENTRY_VERSION, type Header, headerBytes } from "./entry.ts";

const HASH = /^[0-9a-f]{64}$/;

export const isHash = (value: unknown): value is string => typeof value === "string" && HASH.test(value);

export const isCount = (value: unknown, least = 0): value is number =>
  Number.isSafeInteger(value) && Number(value) >= least;

/** The header that a text stands for, or undefined unless it is the exact text of a header of version 1. */
export function readHeader(text: string): Header | undefined {
  const header = headerOf(parsed(text));
  return header !== undefined && headerBytes(header) === text ? header : undefined;
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value = parseJson(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function headerOf(fields: JsonObject | undefined): Header | undefined {
  const { v, tenant, stream, seq, type, tv, at, prev, body } = fields ?? {};
  if (
    v !== ENTRY_VERSION ||
    typeof tenant !== "string" ||
    typeof stream !== "string" ||
    typeof type !== "string"
  ) {
    return undefined;
  }
  if (!isCount(seq, 1) || !isCount(tv, 1) || !isCount(at) || !isHash(prev) || !isHash(body)) return undefined;
  return { v, tenant, stream, seq, type, tv, at, prev, body };
}

/** Bodies of requests: strict JSON in valid UTF-8, within limits. What two parsers could read differently is refused. */
import { HoldpointError } from "../../kernel/errors.ts";
import { type Json, parseJson } from "../../kernel/json.ts";

export const BODY_BYTES = 1_048_576;
export const MOST_KEYS = 10_000;
/** The shortest text of a key and its value: `"a":1,`. */
const KEY_BYTES = 6;

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Without recursion, and no further than it has to. */
function hasTooManyKeys(value: Json): boolean {
  const rest: Json[] = [value];
  let keys = 0;
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    if (typeof next !== "object" || next === null) continue;
    if (!Array.isArray(next)) keys += Object.keys(next).length;
    if (keys > MOST_KEYS) return true;
    for (const part of Object.values(next)) if (typeof part === "object" && part !== null) rest.push(part);
  }
  return false;
}

const notText = (cause: unknown): HoldpointError =>
  new HoldpointError("invalid_json", "The body is not valid UTF-8.", { cause });

function textOf(bytes: Buffer): string {
  try {
    return decoder.decode(bytes);
  } catch (error) {
    throw notText(error);
  }
}

/** No bytes are no body. */
export function readBody(bytes: Buffer): Json | undefined {
  if (bytes.length === 0) return undefined;
  const value = parseJson(textOf(bytes));
  if (bytes.length > MOST_KEYS * KEY_BYTES && hasTooManyKeys(value))
    throw new HoldpointError("payload_too_large", `The body has more than ${MOST_KEYS} keys.`);
  return value;
}

/**
 * The beginning of what is decided on, as a list shows it: names and values out of JSON that may have been cut in the middle.
 * What cannot be read so is shown as it came.
 */
import { inReadingOrder } from "./field-order.ts";
import type { Json } from "./json.ts";
import { labelsOf } from "./labels.ts";
import { moneyOf } from "./money-field.ts";

export type Piece = { readonly name: string; readonly value: string };
type Field = Piece & {
  /** Where it is a text or a number that was not cut. */
  readonly plain: Json;
};

const LONG = 60;
const NUMBER = /^-?\d+(\.\d+)?([eE][-+]?\d+)?$/;

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+|"(?:[^"\\]|\\.)*$/gs;

function unquoted(token: string): string {
  if (!token.startsWith('"')) return token;
  const whole = token.length > 1 && token.endsWith('"') ? token : `${token.replace(/\\[^"]*$/, "")}…"`;
  try {
    return String(JSON.parse(whole));
  } catch {
    return token.slice(1);
  }
}

/** One value from where it begins: how it reads, and where it ends. */
function valueAt(tokens: readonly string[], from: number): { readonly value: string; readonly next: number } {
  let depth = 0;
  const parts: string[] = [];
  for (let at = from; at < tokens.length; at += 1) {
    const token = tokens[at] ?? "";
    if (depth === 0 && (token === "," || token === "}")) return { value: parts.join(""), next: at };
    if (token === "{" || token === "[") depth += 1;
    if (token === "}" || token === "]") depth -= 1;
    const isApart = token === "," || token === ":";
    parts.push(isApart ? `${token} ` : unquoted(token));
  }
  return { value: parts.join(""), next: tokens.length };
}

function plainOf(tokens: readonly string[]): Json {
  const [token = "", ...others] = tokens;
  if (others.length > 0) return null;
  if (NUMBER.test(token)) return Number(token);
  return token.length > 1 && token.endsWith('"') ? unquoted(token) : null;
}

function fieldsOf(tokens: readonly string[]): readonly Field[] {
  const fields: Field[] = [];
  let at = 1;
  while (at < tokens.length && tokens[at] !== "}") {
    const name = unquoted(tokens[at] ?? "");
    if (tokens[at + 1] !== ":") break;
    const { value, next } = valueAt(tokens, at + 2);
    fields.push({ name, value, plain: plainOf(tokens.slice(at + 2, next)) });
    at = next + 1;
  }
  return fields;
}

/** Undefined where it is no object, or was cut before its first value. Money reads as it does when it is opened. */
export function piecesOf(args: string): readonly Piece[] | undefined {
  const tokens = args.match(TOKEN) ?? [];
  if (tokens[0] !== "{") return undefined;
  const fields = fieldsOf(tokens);
  // Only what ends at once has no fields.
  if (fields.length === 0 && tokens[1] !== "}") return undefined;
  const siblings = Object.fromEntries(fields.map(({ name, plain }) => [name, plain]));
  const labels = labelsOf(fields.map(({ name }) => name));
  const isLong = ({ value }: Field): boolean => value.length > LONG;
  return inReadingOrder(fields, { nameOf: ({ name }) => name, isLong }).map(({ name, value, plain }) => {
    const money = moneyOf(name, plain, siblings);
    const label = labels.get(name) ?? name;
    return { name: label, value: money === undefined ? value : `${money.amount} ${money.currency}` };
  });
}

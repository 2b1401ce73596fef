/** Arguments as a tree that people read: one line a field, long text as a block, nothing left to the imagination. */
import { isJsonObject, type Json } from "../kernel/json.ts";
import { isSecretHandle } from "../kernel/stored-value.ts";
import { visible, visibleJson } from "../kernel/text.ts";

import { cut, missing } from "./measure.ts";

const MOST_CHARACTERS = 1_000;
const MOST_LINES = 100;
const STEP = "  ";

type Lines = readonly string[];

const keyText = (key: string): string =>
  /^[A-Za-z_][\w.-]*$/.test(key) ? key : visibleJson(JSON.stringify(key));

function textLines(value: string, full: boolean): Lines {
  const { text, left } = cut(value, full ? Number.POSITIVE_INFINITY : MOST_CHARACTERS);
  const rest = left === 0 ? [] : [missing(left, "character")];
  if (!text.includes("\n")) return [visibleJson(JSON.stringify(text)), ...rest];
  const lines = text.split("\n");
  return [`(${lines.length} lines)`, ...lines.map((line) => `┆ ${visible(line)}`), ...rest];
}

function leaf(value: Json, full: boolean): Lines {
  if (typeof value === "string") return textLines(value, full);
  if (Array.isArray(value)) return ["(empty list)"];
  if (isJsonObject(value)) return ["(no fields)"];
  return [JSON.stringify(value)];
}

function under(head: string, value: Json, full: boolean): Lines {
  if (isSecretHandle(value))
    return [`${head} secret ${visible(value.$secret)} (only the tool gets its value)`];
  const inner = tree(value, full);
  const nested = isJsonObject(value) || Array.isArray(value);
  if (nested && Object.keys(value).length > 0) return [head, ...inner.map((line) => STEP + line)];
  const [first = "", ...rest] = inner;
  return [`${head} ${first}`, ...rest.map((line) => STEP + line)];
}

function tree(value: Json, full: boolean): Lines {
  if (Array.isArray(value) && value.length > 0) return value.flatMap((item) => under("-", item, full));
  if (isJsonObject(value) && Object.keys(value).length > 0) {
    if (isSecretHandle(value)) return under("", value, full);
    const keys = Object.keys(value).sort();
    return keys.flatMap((key) => under(`${keyText(key)}:`, value[key] ?? null, full));
  }
  return leaf(value, full);
}

export function readable(value: Json, full: boolean): Lines {
  const lines = tree(value, full);
  if (full || lines.length <= MOST_LINES) return lines;
  return [...lines.slice(0, MOST_LINES), missing(lines.length - MOST_LINES, "line")];
}

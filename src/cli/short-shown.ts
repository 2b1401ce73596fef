/**
 * What a page or a mail shows of values that are too long for one: their beginning, and what was left out. Drawing takes time
 * that grows with the value, and whoever asks chooses how long that is.
 */

import { sha256 } from "../kernel/canonical-json.ts";
import type { CardContent } from "../notify/content.ts";

/** Characters of JSON that are drawn in full, and those that are shown of what is longer. */
const MOST = 65_536;
const BEGINNING = 8_192;
const LEVELS = 3;

/** Values of strangers, wherever in what is shown they stand. */
const THEIRS = new Set([
  ...["args", "value", "says", "result", "reason", "note", "answer", "data"],
  ...["snapshot", "facts", "input", "state", "outputs", "answerSchema", "description"],
]);

type Facts = { readonly [field: string]: unknown };
const isFacts = (value: unknown): value is Facts =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;

function beginning(text: string): string {
  const end = /[\ud800-\udbff]/.test(text.charAt(BEGINNING - 1)) ? BEGINNING - 1 : BEGINNING;
  return text.slice(0, end);
}

/** Of arguments the digest is known; it is the one that is approved. */
function digestOf(name: string, text: string, { argsDigest }: Facts): string {
  return name === "args" && typeof argsDigest === "string" ? argsDigest : sha256(text);
}

function shorten(value: Facts, left: Set<string>, level: number): Facts {
  const fields = Object.entries(value).map(([name, part]): readonly [string, unknown] => {
    if (!THEIRS.has(name))
      return [name, level < LEVELS && isFacts(part) ? shorten(part, left, level + 1) : part];
    const text = typeof part === "string" ? part : (JSON.stringify(part) ?? "");
    if (text.length <= MOST) return [name, part];
    left.add(`${name}: ${Buffer.byteLength(text)} bytes, sha256 ${digestOf(name, text, value)}`);
    const start = beginning(text);
    return [name, name === "snapshot" || name === "facts" ? { beginning: start } : start];
  });
  return Object.fromEntries(fields);
}

export type Short = { readonly shown: CardContent; readonly left: readonly string[] };

/** `left`: what is not shown in full, with its size and digest. */
export function shortShown(shown: CardContent): Short {
  const left = new Set<string>();
  const short = shorten(shown, left, 0) as unknown as CardContent;
  return left.size === 0 ? { shown, left: [] } : { shown: short, left: [...left] };
}

function idOf(shown: CardContent): string | undefined {
  if ("approval" in shown && shown.approval !== undefined) return shown.approval.id;
  return shown.kind === "action" ? shown.action.id : undefined;
}

/** Before everything else, so that nobody takes the beginning for the whole. */
export function leftLines({ shown, left }: Short): readonly string[] {
  if (left.length === 0) return [];
  const id = idOf(shown);
  const path = id?.startsWith("apr_") === true ? `/api/approvals/${id}` : `/api/actions/${id}`;
  const where = id === undefined ? [] : [`  Read all of it: npx holdpoint show ${id} --full, or GET ${path}`];
  return [
    "Not everything is shown here: of what is too long, only the beginning",
    ...left.map((line) => `  ${line}`),
    ...where,
    "",
  ];
}

/**
 * The title of an action: one line of plain text for people, from the tool's template and the arguments as they are now.
 * - Values come from agents. They are made visible and cut, so that a title is harmless in a terminal, in the subject of
 *   a mail and on a page. The result is visible text already: code that shows it does not escape backslashes again.
 * - Without a template it is the tool's name and two of the arguments: an amount, and who or where, if there are such.
 * - It decides nothing and is in no binding: the arguments below it are what people agree to.
 */

import { isJsonObject, type Json, type JsonObject } from "../../kernel/json.ts";
import { isSecretHandle } from "../../kernel/stored-value.ts";
import { displayValue, PIECES, visible } from "../../kernel/text.ts";

const MOST_TITLE = 120;
const MOST_VALUE = 40;
const MOST_TEMPLATE = 200;

/** A brace that was doubled, a field, or a brace without its counterpart. */
const TOKENS = /\{\{|\}\}|\{([^{}]*)\}|[{}]/g;

/** Each of these is a piece of its own. Titles are made for each row of a list, so most texts must be cheap. */
const PLAIN = /^[ -[\]-~]*$/;

/** Splits neither an escape nor a character. */
function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  const start = text.slice(0, most);
  if (PLAIN.test(start)) return `${start.slice(0, -1)}…`;
  let kept = "";
  for (const [piece] of text.matchAll(PIECES)) {
    if (kept.length + piece.length >= most) break;
    kept += piece;
  }
  return `${kept}…`;
}

/** Visible text is never shorter than its original, so the rest of a long one need not be looked at. */
const cutValue = (text: string): string => cutText(visible(text.slice(0, MOST_VALUE + 2)), MOST_VALUE);

function memberAt(value: Json | undefined, part: string): Json | undefined {
  if (Array.isArray(value)) return /^\d+$/.test(part) ? (value as readonly Json[])[Number(part)] : undefined;
  return isJsonObject(value) && Object.hasOwn(value, part) ? value[part] : undefined;
}

const fieldIn = (args: Json, path: string): Json | undefined =>
  path.split(".").reduce<Json | undefined>(memberAt, args);

/** `path` stands for a value that is missing or has no short form. */
function valueText(value: Json | undefined, path: string): string {
  if (typeof value === "string") return value === "" ? '""' : cutValue(value);
  if (Array.isArray(value)) return `[${value.length} ${value.length === 1 ? "item" : "items"}]`;
  if (isSecretHandle(value)) return cutText(`secret ${visible(value.$secret)}`, MOST_VALUE);
  return value === undefined || isJsonObject(value) ? `{${cutValue(path)}}` : String(value);
}

/** Braces that do not match are left as they are: templates are checked when a tool is defined. */
function fillTemplate(template: string, args: Json): string {
  let text = "";
  let end = 0;
  for (const { 0: token, 1: field, index } of template.matchAll(TOKENS)) {
    const shown = field === undefined ? token.slice(0, 1) : valueText(fieldIn(args, field), field);
    text += `${visible(template.slice(end, index))}${shown}`;
    end = index + token.length;
  }
  return `${text}${visible(template.slice(end))}`.trim();
}

const AMOUNTS = ["amount", "price", "total", "usd", "eur", "cost"];
const PARTIES = [
  ...["to", "recipient", "customer", "user", "account", "email"],
  ...["path", "url", "file", "id", "name", "subject"],
];

/** Position of the first listed word that is among these. */
function rankIn(listed: readonly string[], words: readonly string[]): number {
  const rank = listed.findIndex((word) => words.includes(word));
  return rank === -1 ? listed.length : rank;
}

/** By the parts of the name, such as `customer` of `customerId`. */
function fieldRank(name: string): number {
  const words = name.split(/[^\p{L}\p{N}]+|(?<=\p{Ll})(?=\p{Lu})/u).map((word) => word.toLowerCase());
  const amount = rankIn(AMOUNTS, words);
  return amount < AMOUNTS.length ? amount : amount + rankIn(PARTIES, words);
}

const isTelling = (value: Json): boolean =>
  typeof value === "string" ? value !== "" : typeof value === "number" || typeof value === "boolean";

/** In quotes if the text could be taken for a second field. */
function namedText([name, value]: readonly [string, Json]): string {
  const text = valueText(value, name);
  const isPlain = typeof value !== "string" || !/[,"]|^\s|\s$/.test(text);
  return `${cutValue(name)} ${isPlain ? text : `"${text.replaceAll('"', '\\"')}"`}`;
}

/** The best amount and the best party first, then the others by rank and name: not by their order, which is not kept. */
function tellingFields(args: JsonObject): readonly string[] {
  const telling = Object.entries(args).filter(([, value]) => isTelling(value));
  if (telling.length < 2) return telling.map(namedText);
  const ranked = telling
    .map((field) => ({ field, rank: fieldRank(field[0]) }))
    .toSorted((a, b) => a.rank - b.rank || (a.field[0] < b.field[0] ? -1 : 1));
  const isParty = ({ rank }: { readonly rank: number }) =>
    rank >= AMOUNTS.length && rank < AMOUNTS.length + PARTIES.length;
  const [first, second] = ranked;
  const party = first === undefined || isParty(first) ? second : (ranked.find(isParty) ?? second);
  return [first, party].filter((one) => one !== undefined).map(({ field }) => namedText(field));
}

function describeCall(tool: string, args: Json): string {
  if (!isJsonObject(args)) return args === null ? "" : `: ${valueText(args, tool)}`;
  const isKeptElsewhere = Object.hasOwn(args, "$artifact") || isSecretHandle(args);
  const fields = isKeptElsewhere ? [] : tellingFields(args);
  return fields.length === 0 ? "" : `: ${fields.join(", ")}`;
}

/** `template`: undefined if the tool has no title. */
export function actionTitle(tool: string, template: string | undefined, args: Json): string {
  const filled = template === undefined ? "" : fillTemplate(template, args);
  const text = filled === "" ? `${cutText(visible(tool), 80)}${describeCall(tool, args)}` : filled;
  return cutText(text, MOST_TITLE);
}

/** A list's row holds the arguments as JSON text. Rows of before hold no title although it was cut: its complete fields. */
function fieldsInPreview(text: string): Json {
  for (let end = text.length; end > 0; end = text.lastIndexOf(",", end - 1)) {
    try {
      return JSON.parse(end === text.length ? text : `${text.slice(0, end)}}`) as Json;
    } catch {
      // Cut in the middle of a field: without that field it may be complete.
    }
  }
  return null;
}

/** Of a row in the lists of actions and approvals, which holds its title or all that it is made from. */
export function titleInRow({ title, tool, args, about = "action" }: JsonObject): string {
  if (typeof title === "string") return title;
  const isAction = about === "action" && typeof args === "string";
  return actionTitle(String(tool), undefined, isAction ? fieldsInPreview(args) : null);
}

/** Whether values of this schema surely have no such field. Only an object that is closed says so. */
function lacksField(schema: Json | undefined, path: readonly string[]): boolean {
  const [part, ...rest] = path;
  if (part === undefined || !isJsonObject(schema) || schema["type"] !== "object") return false;
  const { properties, patternProperties, additionalProperties } = schema;
  const isCombined = ["$ref", "allOf", "anyOf", "oneOf"].some((word) => Object.hasOwn(schema, word));
  if (isCombined || !isJsonObject(properties)) return false;
  if (Object.hasOwn(properties, part)) return lacksField(properties[part], rest);
  return additionalProperties === false && patternProperties === undefined;
}

/** What is wrong with a template; undefined if nothing is. `schema`: JSON Schema of the arguments, null if not known. */
export function titleFault(template: unknown, schema: Json): string | undefined {
  if (typeof template !== "string" || !template.isWellFormed()) return "that is not a text";
  if (template.trim() === "") return "that is empty";
  if (template.length > MOST_TEMPLATE)
    return `of ${template.length} characters: it has at most ${MOST_TEMPLATE}`;
  for (const { 0: token, 1: field } of template.matchAll(TOKENS)) {
    if (token === "{" || token === "}") return `with a single ${token}: write ${token}${token} for the brace`;
    if (field === undefined) continue;
    const path = field.split(".");
    if (path.some((part) => part.trim() === "")) return `with {${displayValue(field)}}, which names no field`;
    if (lacksField(schema, path))
      return `with {${displayValue(field)}}, a field that its input does not have`;
  }
  return undefined;
}

/**
 * In which form a value is shown. The form never changes what stands there: whatever is not recognised is shown as it is, and the
 * exact JSON is always one press away.
 */
import { isDiff } from "./diff-lines.ts";
import { isList, isObject, type Json, type JsonObject } from "./json.ts";
import { type MoneyShown, microsOf, moneyOf } from "./money-field.ts";
import { exactNumber } from "./numbers.ts";
import { isNamedCode, type Language, languageOf, namedBy } from "./written-in.ts";

export type Form =
  | { readonly kind: "nothing" }
  | { readonly kind: "empty"; readonly what: "text" | "list" | "object" }
  | { readonly kind: "flag"; readonly isOn: boolean }
  | { readonly kind: "number"; readonly text: string }
  | { readonly kind: "money"; readonly money: MoneyShown }
  | { readonly kind: "line" | "text" | "url" | "path" | "moment" | "diff"; readonly text: string }
  | { readonly kind: "code"; readonly text: string; readonly language: Language }
  | { readonly kind: "secret"; readonly handle: string }
  | { readonly kind: "artifact"; readonly hash: string; readonly bytes: number }
  | { readonly kind: "words"; readonly items: readonly Json[] }
  | { readonly kind: "table"; readonly columns: readonly string[]; readonly rows: readonly JsonObject[] }
  | { readonly kind: "list"; readonly items: readonly Json[] }
  | { readonly kind: "object"; readonly fields: JsonObject };

const LINE = 120;
const MOST_COLUMNS = 6;
const MOST_IN_CELL = 60;

function textForm(name: string, text: string): Form {
  if (text === "") return { kind: "empty", what: "text" };
  if (!isNamedCode(name) && isDiff(text)) return { kind: "diff", text };
  const language = languageOf(name, text);
  if (language !== undefined) return { kind: "code", text, language };
  const named = namedBy(name, text);
  if (named !== undefined) return { kind: named, text };
  return { kind: text.length > LINE || text.includes("\n") ? "text" : "line", text };
}

const isPlain = (value: Json): boolean => typeof value !== "object" || value === null;
const isShort = (value: Json | undefined): boolean =>
  value === undefined ||
  (isPlain(value) && String(value).length <= MOST_IN_CELL && !String(value).includes("\n"));

/** Rows that have much the same short fields are compared best side by side. */
function tableOf(items: readonly Json[]): Form | undefined {
  const rows = items.filter(isObject);
  if (items.length < 2 || rows.length !== items.length) return undefined;
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const fits = columns.length > 0 && columns.length <= MOST_COLUMNS;
  if (!fits || !rows.every((row) => Object.values(row).every(isShort))) return undefined;
  return { kind: "table", columns, rows };
}

function listForm(items: readonly Json[]): Form {
  if (items.length === 0) return { kind: "empty", what: "list" };
  if (items.every(isShort)) return { kind: "words", items };
  return tableOf(items) ?? { kind: "list", items };
}

/** As the server makes them, with nothing beside: whatever else looks like one hides no field behind a short form. */
const HANDLE = /^(env:[A-Za-z_][A-Za-z0-9_]{0,199}|row:sec_[0-9A-Z]{26})$/;
const HASH = /^sha256:[0-9a-f]{64}$/;

function standIn(fields: JsonObject): Form | undefined {
  const { $secret: handle, $artifact: hash, bytes } = fields;
  const count = Object.keys(fields).length;
  if (count === 1 && typeof handle === "string" && HANDLE.test(handle)) return { kind: "secret", handle };
  if (count !== 2 || typeof hash !== "string" || !HASH.test(hash)) return undefined;
  const isSize = typeof bytes === "number" && Number.isSafeInteger(bytes) && bytes >= 0;
  return isSize ? { kind: "artifact", hash, bytes } : undefined;
}

function objectForm(fields: JsonObject): Form {
  const special = standIn(fields);
  if (special !== undefined) return special;
  const money = microsOf(fields);
  if (money !== undefined) return { kind: "money", money };
  return Object.keys(fields).length === 0 ? { kind: "empty", what: "object" } : { kind: "object", fields };
}

/** `siblings`: the fields that it stands among, where it is one of several. */
export function formOf(name: string, value: Json, siblings: JsonObject = {}): Form {
  if (value === null) return { kind: "nothing" };
  if (typeof value === "boolean") return { kind: "flag", isOn: value };
  if (isList(value)) return listForm(value);
  if (isObject(value)) return objectForm(value);
  const money = moneyOf(name, value, siblings);
  if (money !== undefined) return { kind: "money", money };
  return typeof value === "number" ? { kind: "number", text: exactNumber(value) } : textForm(name, value);
}

/** Forms that stand beside their name; the others need the whole width. */
export const isInline = ({ kind }: Form): boolean =>
  !["text", "diff", "code", "table", "list", "object"].includes(kind);

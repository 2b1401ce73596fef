/**
 * The parts of a card: headings, labelled values, and blocks of untrusted text that cannot pass for anything else; values as a
 * tree and a JSON Schema as text.
 */
import { canonicalJson, digestOf } from "../../kernel/canonical-json.ts";
import { isJsonObject, type Json, type JsonObject } from "../../kernel/json.ts";
import { isSecretHandle } from "../../kernel/stored-value.ts";
import type { CardDocument, CardField, CardFields, CardSections, RichText } from "../../kernel/terminal.ts";
import { visible, visibleJson, visiblePreview } from "../../kernel/text.ts";
import { cut, fold, formatAgo, formatMoment, missing, type Style, type Terminal } from "./terminal.ts";

const INDENT = "  ";
/** Precedes every line of a block, also the continuation of a folded line. */
const BAR = "│ ";

/** Columns of a mail and a page. */
const PLAIN_COLUMNS = 76;

/** Output of a card: a terminal, or lines of a mail. */
type Paper = Pick<Terminal, "columns" | "line" | "paint" | "strange">;

export type Sections = {
  heading(text: string, style?: Style): void;
  /** `value` may be untrusted text. */
  field(label: string, value: string): void;
  /** Lines of visible text. */
  block(lines: readonly string[]): void;
  /** Untrusted text, line by line. */
  quote(text: string): void;
  json(label: string, value: Json): void;
  /** A value under its label, one line per field. */
  tree(label: string, value: Json): void;
};

const MOST_QUOTED = 4_000;
const MOST_FIELD = 1_000;
const MOST_JSON = 2_000;

export function sectionsOn(terminal: Paper, full: boolean, labels = 12): Sections {
  const limit = (text: string, most: number) => {
    const kept = cut(text, full ? Number.POSITIVE_INFINITY : most);
    return { text: kept.text, rest: kept.left === 0 ? "" : missing(kept.left, "character") };
  };
  const block = (lines: readonly string[]) => {
    for (const line of lines)
      for (const part of fold(line, terminal.columns - INDENT.length - BAR.length))
        terminal.line(`${INDENT}${terminal.paint("dim", BAR)}${terminal.strange(part)}`);
  };
  return {
    block,
    heading(text, style = "bold") {
      terminal.line();
      terminal.line(terminal.paint(style, text));
    },
    field(label, value) {
      const { text, rest } = limit(value, MOST_FIELD);
      const words = `${visible(text)}${rest}`;
      const [first = "", ...more] = fold(words, terminal.columns - labels - INDENT.length);
      const start = `${label} `.padEnd(labels);
      terminal.line(`${INDENT}${terminal.paint("dim", start)}${terminal.strange(first)}`);
      for (const line of more) terminal.line(`${INDENT}${" ".repeat(labels)}${terminal.strange(line)}`);
    },
    quote(given) {
      const { text, rest } = limit(given, MOST_QUOTED);
      block(text.split("\n").map(visible));
      if (rest !== "") terminal.line(`${INDENT}${rest}`);
    },
    json(label, value) {
      const { text, rest } = limit(canonicalJson(value), MOST_JSON);
      terminal.line(`${INDENT}${terminal.paint("dim", label)}`);
      block([visiblePreview(text)]);
      if (rest !== "") terminal.line(`${INDENT}${rest}`);
    },
    tree(label, value) {
      terminal.line(`${INDENT}${terminal.paint("dim", label)}`);
      block(valueTree(value, full));
    },
  };
}

function printArgs(terminal: Paper, args: Json, full: boolean): void {
  const sections = sectionsOn(terminal, full);
  sections.block(valueTree(args, full));
  sections.json("as canonical JSON", args);
}

export function richText(words: RichText, now: number): string {
  if (typeof words === "string") return words;
  const part = (one: Exclude<RichText, string>[number]) => {
    if (typeof one === "string") return one;
    if ("id" in one) return one.id;
    return "ago" in one ? formatAgo(one.ago, now) : formatMoment(one.moment);
  };
  return words.map(part).join("");
}

/** `where`: flags with which the commands on a card find the same store; null: show no commands. */
type CardView = { readonly now: number; readonly full: boolean; readonly where: string | null };

type Block = Exclude<CardField, RichText | null | undefined>;
const isText = (value: RichText | Block): value is RichText =>
  typeof value === "string" || Array.isArray(value);

function printBlock(terminal: Paper, { full, now }: CardView, label: string, value: Block): void {
  const sections = sectionsOn(terminal, full);
  const print = (lines: readonly string[]) => {
    for (const line of lines) terminal.line(`${INDENT}${line}`);
  };
  if ("each" in value) for (const words of value.each) sections.field(label, richText(words, now));
  else if ("tree" in value) sections.tree(label, value.tree);
  else if ("json" in value) sections.json(label, value.json);
  else if ("args" in value) printArgs(terminal, value.args, full);
  else if ("value" in value) sections.block(valueTree(value.value, full));
  else if ("quote" in value) sections.quote(value.quote);
  else if ("block" in value) sections.block(value.block);
  else if ("schema" in value) sections.block(schemaText(value.schema));
  else if ("lines" in value) print(value.lines);
  else if ("paragraphs" in value)
    print(value.paragraphs.flatMap((text) => fold(text, terminal.columns - INDENT.length)));
  else print(value.warnings.map((text) => `${terminal.paint("red", "!")} ${text}`));
}

/** A card, the same for every capability. */
export function printCard(terminal: Paper, card: CardDocument, given: CardView): void {
  const { title, badge, asOf = given.now, tones = {} } = card;
  const view = { ...given, now: Math.max(given.now, asOf) };
  const sections = sectionsOn(terminal, view.full);
  terminal.line(`${terminal.paint("bold", title)}  ${terminal.paint(badge.tone, badge.text)}`.trimEnd());
  if (card.subtitle !== undefined) sections.block([card.subtitle]);
  for (const [heading, fields] of Object.entries(card.sections)) {
    if (!fields) continue;
    sections.heading(heading, tones[heading]);
    for (const [label, value] of [fields].flat().flatMap((part) => Object.entries(part))) {
      if (value == null) continue;
      printBlock(terminal, view, label, isText(value) ? { each: [value] } : value);
    }
  }
  if (card.next.length === 0 || view.where === null) return;
  sections.heading("Next");
  for (const command of card.next) terminal.line(`${INDENT}npx holdpoint ${command}${view.where}`);
}

/** Characters of a value that plain lines show in full, and how many of a longer one: an agent chooses the length. */
const MOST_SHOWN = 65_536;
const BEGINNING = 8_192;
/** Lines of a list that plain lines show. */
const MOST_LINES = 500;
const LINES: ReadonlySet<string> = new Set(["block", "lines", "paragraphs", "warnings"]);

/** `left`: values that are not shown in full, with size and digest. */
function shortenField(field: CardField, label: string, left: Set<string>): CardField {
  const short = <Value extends Json | readonly RichText[]>(value: Value): Value => {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    if (text.length <= MOST_SHOWN) return value;
    left.add(`${label}: ${Buffer.byteLength(text)} bytes, sha256 ${digestOf(value)}`);
    return text.slice(0, BEGINNING).toWellFormed() as Value;
  };
  const words = (text: RichText): RichText =>
    typeof text === "string" ? short(text) : text.map((one) => (typeof one === "string" ? short(one) : one));
  const first = (lines: readonly string[]) => {
    if (lines.length > MOST_LINES) left.add(`${label}: the first ${MOST_LINES} of ${lines.length} lines`);
    return lines.slice(0, MOST_LINES).map(short);
  };
  if (field == null) return field;
  if (isText(field)) return words(field);
  if ("each" in field) return { each: field.each.map(words) };
  const entries = Object.entries(field).map(([kind, value]) => {
    return [kind, LINES.has(kind) ? first(value as readonly string[]) : short(value)];
  });
  return Object.fromEntries(entries) as CardField;
}

function shortenFields(fields: CardFields, left: Set<string>): CardFields {
  const entries = Object.entries(fields);
  return Object.fromEntries(entries.map(([label, field]) => [label, shortenField(field, label, left)]));
}

/** Comes first, so that a reader does not take the beginning for the whole. */
function omittedLines(title: string, left: ReadonlySet<string>): readonly string[] {
  if (left.size === 0) return [];
  const id = /(?:apr|act)_\w+/.exec(title)?.[0];
  const path = `/api/${id?.startsWith("apr_") === true ? "approvals" : "actions"}/${id}`;
  return [
    "Not everything is shown here: of what is too long, only the beginning",
    ...[...left].map((line) => `  ${line}`),
    ...(id === undefined ? [] : [`  Read all of it: npx holdpoint show ${id} --full, or GET ${path}`]),
    "",
  ];
}

/** A card as plain text, for mails and pages: the same words in full, with commands if `where` is set. */
export function cardLines(card: CardDocument, now: number, where?: string): readonly string[] {
  const left = new Set<string>();
  const short = Object.entries(card.sections).map(([heading, fields]) => {
    return [heading, fields ? [fields].flat().map((part) => shortenFields(part, left)) : fields];
  });
  const sections = Object.fromEntries(short) as CardSections;
  const lines = [...omittedLines(card.title, left)];
  const line = (text = "") => void lines.push(...text.split("\n"));
  const paper = { columns: PLAIN_COLUMNS, line, paint: (_: unknown, text: string) => text, strange: String };
  printCard(paper, { ...card, sections }, { now, full: true, where: where ?? null });
  return lines;
}

const MOST_CHARACTERS = 1_000;
const MOST_TREE_LINES = 100;
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

/** A value as lines, one per field. Long texts are cut, and say how much is missing: the requesting agent chooses their length. */
export function valueTree(value: Json, full: boolean): Lines {
  const lines = tree(value, full);
  if (full || lines.length <= MOST_TREE_LINES) return lines;
  return [...lines.slice(0, MOST_TREE_LINES), missing(lines.length - MOST_TREE_LINES, "line")];
}

const list = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);
const json = (value: Json): string => visiblePreview(canonicalJson(value));

const LIMITS = [
  ["minimum", "at least"],
  ["exclusiveMinimum", "above"],
  ["maximum", "at most"],
  ["exclusiveMaximum", "below"],
  ["minLength", "characters at least"],
  ["maxLength", "characters at most"],
  ["minItems", "items at least"],
  ["maxItems", "items at most"],
  ["format", "as"],
  ["pattern", "matching"],
] as const;

/** zod writes out the range of safe integers, which readers do not need. */
const isObvious = (value: Json): boolean => Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER;

function limits(schema: JsonObject): string {
  const found = LIMITS.flatMap(([name, words]) => {
    const value = schema[name];
    return value === undefined || isObvious(value) ? [] : [`${words} ${visible(String(value))}`];
  });
  return found.length === 0 ? "" : `, ${found.join(", ")}`;
}

const TYPES: { readonly [type: string]: string } = {
  string: "a text",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  null: "null",
};

function described(schema: JsonObject, [first = "", ...rest]: Lines): Lines {
  const text = schema["description"];
  return [typeof text === "string" ? `${first} (${visible(text)})` : first, ...rest];
}

function fields(schema: JsonObject): Lines {
  const { properties } = schema;
  const needed = new Set(list(schema["required"]));
  const lines = Object.entries(isJsonObject(properties) ? properties : {}).flatMap(([name, part]) => {
    const [first = "", ...rest] = schemaText(part);
    const optional = needed.has(name) ? "" : "optional, ";
    return [`${STEP}${visible(name)}: ${optional}${first}`, ...rest.map((line) => STEP + line)];
  });
  return [lines.length === 0 ? "an object" : "an object with", ...lines];
}

function items(schema: JsonObject): Lines {
  const [first = "anything", ...rest] = schemaText(schema["items"] ?? true);
  return [`a list${limits(schema)} of: ${first}`, ...rest];
}

function choices(options: readonly Json[]): Lines {
  return [
    "one of:",
    ...options.flatMap((one) => schemaText(one).map((line, at) => `${at === 0 ? "- " : STEP}${line}`)),
  ];
}

/** A JSON Schema as lines of visible text. */
export function schemaText(schema: Json): Lines {
  if (schema === true) return ["anything"];
  if (!isJsonObject(schema)) return [json(schema)];
  if (schema["enum"] !== undefined)
    return described(schema, [`one of ${list(schema["enum"]).map(json).join(", ")}`]);
  if (schema["const"] !== undefined) return described(schema, [json(schema["const"])]);
  const options = list(schema["anyOf"] ?? schema["oneOf"]);
  if (options.length > 0) return described(schema, choices(options));
  const { type } = schema;
  if (type === "object") return described(schema, fields(schema));
  if (type === "array") return described(schema, items(schema));
  const word = typeof type === "string" ? TYPES[type] : undefined;
  return described(schema, [word === undefined ? json(schema) : `${word}${limits(schema)}`]);
}

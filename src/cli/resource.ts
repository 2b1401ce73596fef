/**
 * Commands that list, show or act on a resource, from data: `keys list`, `grants show <id>`, `endpoints add --url …`.
 * The data names the verbs of the resource's contract, and the same code runs them on a store and on a server.
 *
 * C1. The data loads no schema: help, completion and the parser read it at every start. The verb checks its input.
 * C2. A flag's placeholder says how its value is read, and its name says which field of the verb's input it is.
 * C3. What a person reads is made visible here, so the data returns plain text.
 */
import { parseJson } from "../kernel/json.ts";
import { didYouMean } from "../kernel/spelling.ts";
import type { CardDocument } from "../kernel/terminal.ts";
import { visible, visiblePreview } from "../kernel/text.ts";
import {
  COMMON_FLAGS,
  type Command,
  type Context,
  EXIT,
  type Flag,
  flag,
  isOn,
  usage,
  whereFlags,
  word,
} from "./shell/command.ts";
import { jsonWithMicros, printList, readLimit, readList } from "./shell/lists.ts";
import { parseMoneyFlag, parseSpan } from "./shell/parse.ts";
import { idKind, type ResolvedPrefix, resolveId } from "./shell/resolve-id.ts";
import { printCard } from "./shell/sections.ts";
import { formatMinute, formatMoment, hanging } from "./shell/terminal.ts";

/** `field`: the field of the input, if the flag is not called so. `mostDays`: the longest span. `mayBeZero`: 0 is a span. */
type ResourceFlag = Flag & {
  readonly field?: string;
  readonly mostDays?: number;
  readonly mayBeZero?: true;
};
/** Values of the flags, by field. */
export type FlagValues = { readonly [field: string]: unknown };

/** The word after the subcommand: an id, which may be a prefix, or a name. `field`: it is a field of the input. */
type Word = { readonly what: string; readonly field?: string; readonly read?: (given: string) => string };
type Part = {
  readonly flags?: readonly string[];
  readonly needs?: readonly string[];
  readonly word?: "id" | Word;
};

/** `escaped`: text in which hidden characters are escapes already, such as JSON. `at`: a time; null is none. */
type CellValue = string | { readonly escaped: string } | { readonly at: number | null };
type Cell<Item> = (item: Item, now: number, query: FlagValues) => CellValue;
type Read<Item> = (context: Context, given: FlagValues) => Promise<readonly Item[]>;
type Listing<Item> = Part & {
  readonly columns: readonly (readonly [head: string, cell: Cell<Item>])[];
  /** In a pipe, in the order that the reference documents: heads of columns, and other cells. Default: the columns. */
  readonly piped?: readonly (string | Cell<Item>)[];
  /** Heads of the columns that a narrow terminal leaves out, the least important first. */
  readonly givesWay?: readonly string[];
  readonly empty: string | ((query: FlagValues) => string);
  /** The verb's filters. Default: the flags. */
  readonly query?: (given: FlagValues, context: Context) => FlagValues;
  readonly keeps?: (item: Item, given: FlagValues) => boolean;
  /** For items that come all at once, or by several verbs. Default: the pages of the verb `list`. */
  readonly read?: (context: Context, given: FlagValues) => Promise<readonly unknown[]>;
  /** How many there are, where some are not shown. */
  readonly total?: (context: Context, query: FlagValues) => Promise<number> | undefined;
  /** Sentences below the items. */
  readonly next?: (items: readonly Item[]) => readonly string[];
};
type Showing<Item> = Part & {
  readonly card: (item: Item, now: number) => CardDocument;
  /** What `--json` prints. Default: the item. */
  readonly json?: (item: Item) => unknown;
};

/** A sentence, which is folded; a line of standard error; or exact text, such as a secret or an address. */
type Line = string | { readonly note: string } | { readonly exact: string };
/** `item` is read before or after the act. */
export type About = Context & {
  /** Flags with which a further command finds the same store. */
  readonly where: string;
  readonly id: string;
  readonly given: FlagValues;
  readonly item: unknown;
};
type Act<After> = Part & {
  /** Default: the name of the subcommand. */
  readonly verb?: string;
  readonly actor?: string;
  /** Default: the flags. Throws for flags that do not go together. */
  readonly input?: (given: FlagValues, context: Context) => FlagValues;
  readonly reads?: "before" | "after";
  readonly says: (after: After, about: About) => Line | readonly Line[];
  readonly json?: (after: After, about: About) => unknown;
  /** Prints the card as well. */
  readonly showsCard?: true;
  readonly exit?: (after: After) => number;
};

type AnyPart = Listing<never> | Showing<never> | Act<never>;
export type Resource = Pick<Command, "name" | "summary" | "details" | "examples"> & {
  /** Where the instance has its verbs. Default: the name. */
  readonly group?: string;
  /** Title of its group in the overview, for a command whose place there is not chosen. */
  readonly section?: string;
  readonly id?: ResolvedPrefix;
  /** The argument in the usage line. */
  readonly argument?: string;
  readonly flags: { readonly [name: string]: ResourceFlag };
  /** By subcommand. Without a subcommand, `list` runs. */
  readonly parts: { readonly [name: string]: AnyPart };
};

/** They keep the type of an item where the data is written. */
export const listing = <Item>(part: Listing<Item> & { readonly read?: Read<Item> }): Listing<never> => part;
export const showing = <Item>(part: Showing<Item>): Showing<never> => part;
export const act = <After>(part: Act<After>): Act<never> => part;

type Verbs = { readonly [verb: string]: (...args: readonly unknown[]) => Promise<unknown> };
type Page = { readonly items: readonly never[]; readonly next: string | null };

type Call = (verb: string, ...args: readonly unknown[]) => Promise<unknown>;

const caller =
  ({ hp }: Context, { group, name }: Resource): Call =>
  async (verb, ...args) => {
    const verbs = (hp as unknown as { readonly [group: string]: Verbs })[group ?? name];
    const method = verbs?.[verb];
    if (method === undefined) throw new TypeError(`there is no verb ${name}.${verb}`);
    return method(...args);
  };

function readSpan(
  name: string,
  given: string,
  { mostDays, mayBeZero }: ResourceFlag,
  { id }: Resource,
): number {
  const ms = mayBeZero === true && given.trim() === "0" ? 0 : parseSpan(name, given);
  if (mostDays === undefined || ms <= mostDays * 86_400_000) return ms;
  const noun = id === undefined ? "nothing" : idKind(id).noun.replace(/^an?/, "no");
  throw usage(
    `--${name} "${given}" is over ${mostDays} days, and ${noun} lasts longer.`,
    `Give at most --${name} ${mostDays}d, and a new one after that.`,
  );
}

function readCount(name: string, given: string): number {
  if (/^\d{1,15}$/.test(given)) return Number(given);
  throw usage(`--${name} "${given}" is not a whole number.`, `Such as --${name} 50.`);
}

function readValue(context: Context, resource: Resource, name: string): unknown {
  const facts = resource.flags[name] ?? { summary: "" };
  const given = flag(context, name) ?? "";
  if (facts.value === undefined) return true;
  if (facts.repeatable === true) return context.values.get(name);
  if (facts.value === "<span>") return readSpan(name, given, facts, resource);
  if (facts.value === "<money>") return parseMoneyFlag(name, given);
  if (facts.value === "<n>") return readCount(name, given);
  return facts.value === "<json>" ? parseJson(given) : given;
}

function flagField(name: string, { field, value }: ResourceFlag): string {
  const camel = name.replaceAll(/-([a-z])/g, (_all, letter: string) => letter.toUpperCase());
  return field ?? (value === "<span>" ? `${camel}Ms` : camel);
}

/** Not among them: what only the terminal needs. */
const OWN = new Set(["limit", "full"]);

function readGiven(context: Context, resource: Resource, { flags = [] }: Part): FlagValues {
  const names = flags.filter((name) => !OWN.has(name) && isOn(context, name));
  return Object.fromEntries(
    names.map((name) => [
      flagField(name, resource.flags[name] ?? { summary: "" }),
      readValue(context, resource, name),
    ]),
  );
}

function cellText(value: CellValue, formatTime: (at: number) => string): string {
  if (typeof value === "string") return visible(value);
  if ("escaped" in value) return visiblePreview(value.escaped);
  return value.at === null ? "-" : formatTime(value.at);
}

async function list(context: Context, resource: Resource, part: Listing<never>): Promise<void> {
  const call = caller(context, resource);
  const given = readGiven(context, resource, part);
  const { columns, piped = columns.map(([head]) => head), keeps = () => true } = part;
  const { empty, read, next = () => [], query = () => given } = part;
  const asked = query(given, context);
  const page = async (cursor: object): Promise<Page> => {
    const leaf = (await call("list", { ...asked, ...cursor })) as Page;
    return { items: leaf.items.filter((item) => keeps(item, given)), next: leaf.next };
  };
  const limit = part.flags?.includes("limit") === true ? readLimit(context) : Number.POSITIVE_INFINITY;
  const found =
    read === undefined
      ? await readList(limit, page)
      : { items: (await read(context, given)) as readonly never[], isAll: true };
  const row = (cells: readonly Cell<never>[], formatTime: (at: number) => string) => (item: never) =>
    cells.map((cell) => cellText(cell(item, context.now, asked), formatTime));
  const named = Object.fromEntries(columns);
  const pipedCells = piped.map((one) => (typeof one === "string" ? named[one] : one) as Cell<never>);
  printList(context, found, {
    heads: columns.map(([head]) => head),
    cells: row(Object.values(named), formatMinute),
    piped: row(pipedCells, formatMoment),
    givesWay: part.givesWay ?? [],
    empty: typeof empty === "string" ? empty : empty(asked),
    next: next(found.items),
    total: found.isAll ? undefined : await part.total?.(context, asked),
  });
}

const printItem = (context: Context, { card }: Showing<never>, item: unknown): void =>
  printCard(context.terminal, card(item as never, context.now), { ...context, where: whereFlags(context) });

const findShowing = ({ parts }: Resource): Showing<never> | undefined =>
  Object.values(parts).find((part): part is Showing<never> => "card" in part);

export const hasCard = (resource: Resource): boolean => findShowing(resource) !== undefined;

export async function showItem(context: Context, resource: Resource, id: string): Promise<number> {
  const part = findShowing(resource);
  const item = await caller(context, resource)("get", id);
  if (context.json) context.terminal.json(jsonWithMicros(part?.json?.(item as never) ?? item));
  else if (part !== undefined) printItem(context, part, item);
  return EXIT.ok;
}

async function readTarget(
  context: Context,
  { name, id, examples }: Resource,
  part: string,
  expected: "id" | Word,
): Promise<string> {
  const given = word(context, 1);
  const isId = expected === "id" && id !== undefined;
  const what = isId ? `The id of ${idKind(id).noun}, ${id}_…,` : (expected as Word).what;
  const example = examples?.find((one) => one.startsWith(`holdpoint ${name} ${part} `));
  if (given === "")
    throw usage(
      `${what} is needed: ${name} ${part} …`,
      example === undefined ? `Try: holdpoint ${name} --help` : `Such as: ${example}`,
    );
  return isId ? resolveId(context, id, given) : ((expected as Word).read?.(given) ?? given);
}

function printLine({ terminal }: Context, line: Line): void {
  if (typeof line === "string") terminal.line(hanging(visible(line), terminal).join("\n"));
  else if ("note" in line) terminal.note(visible(line.note));
  else terminal.line(visible(line.exact));
}

async function perform(
  context: Context,
  resource: Resource,
  name: string,
  part: Act<never>,
): Promise<number> {
  const { verb = name, actor = "by", word: expected, reads } = part;
  const given = readGiven(context, resource, part);
  const input = part.input?.(given, context) ?? given;
  const id = expected === undefined ? "" : await readTarget(context, resource, name, expected);
  const field = typeof expected === "object" ? expected.field : undefined;
  const path = expected === undefined || field !== undefined ? [] : [id];
  const named = field === undefined ? {} : { [field]: id };
  const call = caller(context, resource);
  const get = async () => call("get", ...path);
  const before = reads === "before" ? await get() : undefined;
  const after = (await call(verb, ...path, { ...named, ...input, [actor]: context.person })) as never;
  const about: About = {
    ...context,
    where: whereFlags(context),
    id,
    given,
    item: reads === "after" ? await get() : before,
  };
  if (context.json) context.terminal.json(jsonWithMicros(part.json?.(after, about) ?? after));
  else printAct(about, resource, part, after);
  return part.exit?.(after) ?? EXIT.ok;
}

function printAct(about: About, resource: Resource, part: Act<never>, after: never): void {
  for (const line of [part.says(after, about)].flat()) printLine(about, line);
  const shown = findShowing(resource);
  if (part.showsCard === true && shown !== undefined) printItem(about, shown, after);
}

function checkFlags(context: Context, name: string, { flags = [], needs = [] }: Part): void {
  const goes = (one: string) => Object.hasOwn(COMMON_FLAGS, one) || flags.includes(one);
  const extra = [...context.values.keys()].find((one) => !goes(one));
  if (extra !== undefined) throw usage(`--${extra} does not go with "${name}".`, "Leave it out.");
  const missing = needs.filter((one) => (flag(context, one) ?? "").trim() === "");
  if (missing.length === 0) return;
  const flagged = missing.map((one) => `--${one}`).join(", ");
  throw usage(`${name} needs ${flagged}.`, `Try: holdpoint ${name.split(" ")[0]} --help`);
}

async function runPart(context: Context, resource: Resource): Promise<number> {
  const { name: command, parts } = resource;
  const name = word(context) === "" ? "list" : word(context);
  const part = Object.hasOwn(parts, name) ? parts[name] : undefined;
  if (part === undefined) {
    const what = `There is no "${command} ${visible(name)}"${didYouMean(name, Object.keys(parts))}.`;
    throw usage(what, `There are: ${Object.keys(parts).join(", ")}.`);
  }
  const extra = word(context, part.word === undefined ? 1 : 2);
  if (extra !== "")
    throw usage(`"${visible(extra)}" is one word too many.`, `Try: holdpoint ${command} --help`);
  checkFlags(context, `${command} ${name}`, part);
  if ("says" in part) return perform(context, resource, name, part);
  if ("card" in part)
    return showItem(context, resource, await readTarget(context, resource, name, part.word ?? "id"));
  await list(context, resource, part);
  return EXIT.ok;
}

/** The command of a resource. One that can only be listed has no subcommands. */
export function resourceCommand(resource: Resource): Command {
  const { parts, argument = "id", id: _, group: _group, section: _section, ...command } = resource;
  const names = Object.keys(parts);
  const isListed = names.length === 1;
  return {
    ...command,
    words: isListed ? [] : [`[${names.join("|")}]`, `[${argument}]`],
    ...(isListed ? {} : { parts: Object.fromEntries(names.map((name) => [name, parts[name]?.flags ?? []])) }),
    run: async (context) => runPart(context, resource),
  };
}

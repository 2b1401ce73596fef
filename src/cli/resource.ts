/**
 * Commands made from a contract: `grants list`, `grants show <id>`, `grants give --tool …`. The schema of the verb's
 * input parses the flags; the capability's data defines columns and cards. The same code runs on a store and on a
 * server, because both have the contract's verbs.
 */
import type { z } from "zod";
import { CONTRACTS, TERMINALS } from "../contracts.ts";
import { type Contract, pathNames, type VerbContract } from "../kernel/contract.ts";
import { LISTED_KINDS } from "../kernel/registry.ts";
import type { Act, CardDocument, ResourceCommand } from "../kernel/terminal.ts";
import { visible } from "../kernel/text.ts";
import { helpText, valueKind } from "../kernel/values.ts";
import {
  type Command,
  type Context,
  EXIT,
  type Flags,
  flag,
  isOn,
  whereFlags,
  word,
} from "./shell/command.ts";
import { CommandError } from "./shell/failure.ts";
import { jsonWithMicros, printList, readLimit, readList } from "./shell/lists.ts";
import { type Part, parseMoneyFlag, parseSpan, runPart } from "./shell/parse.ts";
import { type ResolvedPrefix, resolveId } from "./shell/resolve-id.ts";
import { printCard, richText } from "./shell/sections.ts";
import { hanging } from "./shell/terminal.ts";

type Item = { readonly id: string };
type Verbs = { readonly [verb: string]: (...args: readonly unknown[]) => Promise<unknown> };
type Listed = { readonly items: readonly Item[]; readonly next: string | null };

/** A contract and its presentation. */
type Resource = {
  readonly contract: Contract;
  readonly prefix: ResolvedPrefix;
  readonly terminal: ResourceCommand<Item>;
};

const DAY_MS = 86_400_000;

const verbsIn = ({ hp }: Context, { name }: Contract): Verbs =>
  (hp as unknown as { [name: string]: Verbs })[name] ?? {};

async function list(
  context: Context,
  { contract, terminal: { list: shown, json } }: Resource,
): Promise<number> {
  const { now } = context;
  const filter = isOn(context, "all") ? shown.all.filter : {};
  const { list: read } = verbsIn(context, contract);
  const page = (cursor: object) => read?.({ ...filter, ...cursor }) as Promise<Listed>;
  const { items } = await readList(readLimit(context), page);
  printList(
    context,
    { items },
    {
      heads: shown.columns.map(([head]) => head),
      cells: (item) => shown.columns.map(([, cell]) => visible(richText(cell(item), now))),
      ...(json === undefined ? {} : { json }),
      empty: shown.empty,
    },
  );
  return EXIT.ok;
}

const show = (context: Context, card: CardDocument): void =>
  printCard(context.terminal, card, { ...context, where: whereFlags(context) });

async function showOne(context: Context, resource: Resource, id: string): Promise<number> {
  const {
    contract,
    terminal: { card, json },
  } = resource;
  const item = (await verbsIn(context, contract)["get"]?.(id)) as Item;
  if (context.json) context.terminal.json(jsonWithMicros(json?.(item) ?? item));
  else show(context, card(item));
  return EXIT.ok;
}

const flagName = (field: string): string =>
  field.replace(/Ms$/, "").replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

type Field = {
  readonly field: string;
  readonly name: string;
  readonly schema: z.ZodType;
  readonly isNeeded: boolean;
};

/** Fields that people set by flags. The actor is not one: it is the person at the terminal. */
function inputFields({ input }: VerbContract): readonly Field[] {
  return Object.entries(input?.shape ?? {})
    .filter(([, schema]) => valueKind(schema) !== "actor")
    .map(([field, schema]) => {
      const isNeeded = !(schema as z.ZodType).safeParse(undefined).success;
      return { field, name: flagName(field), schema: schema as z.ZodType, isNeeded };
    });
}

/** Flags of a verb's optional fields; commands written as data take them from the generated table. */
export const optionalFlags = (facts: VerbContract): Flags =>
  Object.fromEntries(
    inputFields(facts)
      .filter(({ isNeeded, schema }) => !isNeeded && valueKind(schema) !== "channel")
      .map(({ name, schema }) => {
        const { value, description } = helpText(schema);
        return [name, { value, summary: description }];
      }),
  );

function readFlag(
  { contract, facts, name }: { contract: Contract; facts: VerbContract; name: string },
  field: string,
  given: string,
): unknown {
  const schema = facts.input?.shape[field];
  switch (valueKind(schema)) {
    case "span":
      return readSpan(contract, name, given, schema);
    case "money":
      return parseMoneyFlag(name, given);
    case "number":
      if (/^\d{1,15}$/.test(given)) return Number(given);
      throw new CommandError("usage", `--${name} "${given}" is not a whole number.`, `Such as --${name} 50.`);
    default:
      return given;
  }
}

function readSpan({ owner }: Contract, name: string, given: string, schema: unknown): number {
  const ms = parseSpan(name, given);
  const most = (schema as { readonly maxValue?: number }).maxValue ?? Number.POSITIVE_INFINITY;
  if (ms <= most) return ms;
  const days = most / DAY_MS;
  const what = `--${name} "${given}" is over ${days} days, and no ${owner} lasts longer.`;
  throw new CommandError("usage", what, `Give at most --${name} ${days}d, and a new one after that.`);
}

function inputFrom(context: Context, contract: Contract, facts: VerbContract): object {
  const given = inputFields(facts).flatMap(({ field, name }) => {
    const value = flag(context, name);
    return value === undefined ? [] : [[field, readFlag({ contract, facts, name }, field, value)] as const];
  });
  const actor = facts.input?.shape["by"] === undefined ? {} : { by: context.person };
  return { ...Object.fromEntries(given), ...actor };
}

async function act(
  context: Context,
  resource: Resource,
  verb: string,
  { says, showsCard }: Act<Item>,
): Promise<number> {
  const {
    contract,
    terminal: { card, json },
  } = resource;
  const facts = contract.verbs[verb] as VerbContract;
  const verbs = verbsIn(context, contract);
  const { terminal } = context;
  const hasId = pathNames(facts.http).length > 0;
  const id = hasId ? [await resolveId(context, resource.prefix, word(context, 1))] : [];
  const input = inputFrom(context, contract, facts);
  const before = hasId ? ((await verbs["get"]?.(...id)) as Item) : undefined;
  const after = (await verbs[verb]?.(...id, input)) as Item;
  if (context.json) terminal.json(jsonWithMicros(json?.(after) ?? after));
  else {
    const words = visible(richText(says(after, before), context.now));
    terminal.line(hanging(words, terminal).join("\n"));
    if (showsCard === true) show(context, card(after));
  }
  return EXIT.ok;
}

function commandParts(resource: Resource): { readonly [name: string]: Part } {
  const {
    contract,
    terminal: { acts },
  } = resource;
  const acting = Object.entries(acts).map(([verb, one]): [string, Part] => {
    const facts = contract.verbs[verb] as VerbContract;
    const fields = inputFields(facts);
    return [
      verb,
      {
        flags: [...fields.map(({ name }) => name), ...(one?.showsCard === true ? ["full"] : [])],
        needs: fields.filter(({ isNeeded }) => isNeeded).map(({ name }) => name),
        words: pathNames(facts.http).length > 0 ? 1 : 0,
        run: (context) => act(context, resource, verb, one as Act<Item>),
      },
    ];
  });
  const [onNothing, onOne] = [0, 1].map((words) => acting.filter(([, part]) => part.words === words));
  return {
    list: { flags: ["all", "limit"], words: 0, run: (context) => list(context, resource) },
    ...Object.fromEntries(onNothing ?? []),
    show: {
      flags: ["full"],
      words: 1,
      run: async (context) =>
        showOne(context, resource, await resolveId(context, resource.prefix, word(context, 1))),
    },
    ...Object.fromEntries(onOne ?? []),
  };
}

/** Each flag is described by its field, after the parts that use it. */
function flagTable({ contract, terminal: { acts } }: Resource): Flags {
  const found = Object.keys(acts).flatMap((verb) =>
    inputFields(contract.verbs[verb] as VerbContract).map((field) => ({ verb, ...field })),
  );
  const byName = [...Map.groupBy(found, ({ name }) => name)].map(([name, uses]) => {
    const [first] = uses;
    const { value, description } = helpText(first?.schema);
    return [
      name,
      { value, summary: `${uses.map(({ verb }) => verb).join(" and ")}: ${description}` },
    ] as const;
  });
  return Object.fromEntries(byName);
}

/** What help and the parser need of a command. Generated into `contract-commands.ts`, so that they load no schema. */
export function describeCommand(resource: Resource): Omit<Command, "run"> & { readonly group: string } {
  const { contract, terminal } = resource;
  const { group, summary, details, examples, list: shown } = terminal;
  return {
    name: contract.name,
    group,
    words: [`[${Object.keys(commandParts(resource)).join("|")}]`, "[id]"],
    summary,
    details,
    examples,
    flags: {
      ...flagTable(resource),
      all: { summary: `list: ${shown.all.summary}` },
      limit: { value: "<n>", summary: "list: how many to show; 50 unless set" },
      full: { summary: "show: long values in full" },
    },
  };
}

const prefixIn = (name: string): ResolvedPrefix => {
  const kind = LISTED_KINDS.find(({ resource }) => resource === name);
  if (kind !== undefined) return kind.prefix;
  throw new TypeError(`no kind of stream is listed as ${name}`);
};

/** All contracts that have a command. */
export const RESOURCES: { readonly [name: string]: Resource } = Object.fromEntries(
  CONTRACTS.filter(({ name }) => Object.hasOwn(TERMINALS, name)).map((contract) => [
    contract.name,
    {
      contract,
      prefix: prefixIn(contract.name),
      terminal: TERMINALS[contract.name as keyof typeof TERMINALS] as unknown as ResourceCommand<Item>,
    },
  ]),
);

function named(name: string): Resource {
  const found = RESOURCES[name];
  if (found === undefined) throw new TypeError(`no contract is called ${name}`);
  return found;
}

export const runResource = async (context: Context, name: string): Promise<number> =>
  runPart(context, name, commandParts(named(name)));

export async function showResource(context: Context, name: string, id: string): Promise<number> {
  return showOne(context, named(name), id);
}

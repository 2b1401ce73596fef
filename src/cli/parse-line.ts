/** From the words somebody typed to a command with its flags. Flags may stand anywhere. */
import { parseArgs } from "node:util";
import { COMMON_FLAGS, type Command, type Flags, type Values } from "./command.ts";
import { CommandError } from "./failure.ts";
import { nearest } from "./nearest.ts";

export type Line =
  | { readonly kind: "version" }
  | { readonly kind: "help"; readonly command: Command | undefined }
  /** The first word of several commands. */
  | { readonly kind: "family"; readonly name: string; readonly commands: readonly Command[] }
  | {
      readonly kind: "run";
      readonly command: Command;
      readonly values: Values;
      readonly words: readonly string[];
    };

function usage(what: string, command?: Pick<Command, "name">): CommandError {
  const about = command === undefined ? "" : `${command.name} `;
  return new CommandError("usage", what, `Try: holdpoint ${about}--help`);
}

/** What can be typed after a command. */
export function flagsOf(command: Command): Flags {
  return { ...command.flags, ...COMMON_FLAGS };
}

type Typed = {
  readonly name: string;
  readonly raw: string;
  readonly value: string | undefined;
  inline: boolean;
};

/** Every flag takes a value in all commands or in none, so one pass reads them before the command is known. */
function tokenize(argv: readonly string[], commands: readonly Command[]) {
  const all: Flags = Object.assign({}, ...commands.map(flagsOf));
  const options = Object.fromEntries(
    Object.entries(all).map(([name, { value }]) => [
      name,
      { type: value === undefined ? ("boolean" as const) : ("string" as const) },
    ]),
  );
  const known = { ...options, help: { type: "boolean", short: "h" } as const };
  const args = argv.map((arg) => (arg === "-v" ? "--version" : arg));
  const { tokens } = parseArgs({ args, options: known, strict: false, allowPositionals: true, tokens: true });
  const typed: Typed[] = tokens.flatMap((token) =>
    token.kind === "option"
      ? [{ name: token.name, raw: token.rawName, value: token.value, inline: token.inlineValue === true }]
      : [],
  );
  return { typed, words: tokens.flatMap((token) => (token.kind === "positional" ? [token.value] : [])) };
}

function quote(word: string): string {
  return JSON.stringify(word.length > 60 ? `${word.slice(0, 60)}…` : word);
}

function unknownFlag({ raw, name }: Typed, command: Command | undefined): CommandError {
  const flags = command === undefined ? { ...COMMON_FLAGS, version: {} } : flagsOf(command);
  const close = nearest(name, Object.keys(flags));
  const hint = close === undefined ? "" : ` Did you mean --${close}?`;
  return usage(`There is no flag ${quote(raw)}${command ? ` in "${command.name}"` : ""}.${hint}`, command);
}

function checkFlag(typed: Typed, command: Command): void {
  const { name, value, inline } = typed;
  const flags = flagsOf(command);
  const flag = Object.hasOwn(flags, name) ? flags[name] : undefined;
  if (flag === undefined) throw unknownFlag(typed, command);
  if (flag.value === undefined) {
    if (value !== undefined) throw usage(`--${name} takes no value.`, command);
    return;
  }
  if (value === undefined) throw usage(`--${name} needs a value: --${name} ${flag.value}`, command);
  if (!inline && value.length > 1 && value.startsWith("-"))
    throw usage(`--${name} needs a value. If it begins with a dash, write --${name}=${value}`, command);
}

function valuesOf(typed: readonly Typed[], command: Command): Values {
  const values = new Map<string, readonly string[]>();
  for (const one of typed) {
    checkFlag(one, command);
    const before = values.get(one.name) ?? [];
    if (before.length > 0 && one.value !== undefined && !command.flags[one.name]?.repeatable)
      throw usage(`--${one.name} was given twice.`, command);
    values.set(one.name, [...before, one.value ?? ""]);
  }
  return values;
}

function checkNeeded(command: Command, values: Values): void {
  for (const [name, flag] of Object.entries(command.flags))
    if (flag.required && (values.get(name)?.at(-1) ?? "").trim() === "")
      throw usage(`${command.name} needs --${name} ${flag.value}`, command);
}

/** `[file]` may be left out, and `[file…]` given more than once. */
const isOptional = (expected: string): boolean => expected.startsWith("[");
const isRepeated = (expected: string | undefined): boolean => expected?.endsWith("…]") === true;

function checkWords(command: Command, words: readonly string[]): void {
  const missing = command.words[words.length];
  if (missing !== undefined && !isOptional(missing))
    throw usage(`${command.name} needs ${missing}.`, command);
  const extra = words[command.words.length];
  if (extra !== undefined && !isRepeated(command.words.at(-1)))
    throw usage(`${quote(extra)} is one word too many.`, command);
  for (const [at, expected] of command.words.entries()) {
    if (expected.startsWith("<") || isOptional(expected)) continue;
    const choices = expected.split("|");
    if (!choices.includes(words[at] ?? ""))
      throw usage(`${quote(words[at] ?? "")} is not ${choices.join(" or ")}.`, command);
  }
}

/** Some commands have a name of two words. */
function commandNamed(words: readonly string[], commands: readonly Command[]): Command {
  const [name = "", second = ""] = words;
  const found = commands.find((command) => command.name === name || command.name === `${name} ${second}`);
  if (found !== undefined) return found;
  const family = commands.filter((command) => command.name.startsWith(`${name} `));
  if (family.length > 0) throw usage(noneOf(name, second, family), { name });
  const firsts = commands.map((command) => command.name.split(" ")[0] ?? "");
  const close = nearest(name, [...new Set(firsts)]);
  throw usage(`There is no command ${quote(name)}.${close === undefined ? "" : ` Did you mean "${close}"?`}`);
}

/** Only the first word of several commands. */
function familyOf([name, second]: readonly string[], commands: readonly Command[]): readonly Command[] {
  return second === undefined ? commands.filter((command) => command.name.startsWith(`${name} `)) : [];
}

function noneOf(name: string, second: string, family: readonly Command[]): string {
  const known = family.map((command) => command.name.slice(name.length + 1));
  const close = second === "" ? undefined : nearest(second, known);
  const hint = close === undefined ? ` There are: ${known.join(", ")}.` : ` Did you mean "${name} ${close}"?`;
  return second === ""
    ? `"${name}" needs another word.${hint}`
    : `There is no command ${quote(`${name} ${second}`)}.${hint}`;
}

export function parseLine(argv: readonly string[], commands: readonly Command[]): Line {
  const { typed, words: all } = tokenize(argv, commands);
  const asked = all[0] === "help" ? all.slice(1) : all;
  const wants = (flag: string) => typed.some((one) => one.name === flag && one.value === undefined);
  const isHelp = all[0] === "help" || wants("help");
  const family = isHelp ? familyOf(asked, commands) : [];
  if (family.length > 0) return { kind: "family", name: asked[0] ?? "", commands: family };
  const command = asked.length === 0 ? undefined : commandNamed(asked, commands);
  const words = asked.slice(command?.name.split(" ").length ?? 0);
  if (isHelp) return { kind: "help", command };
  if (command === undefined) {
    const strange = typed.find((one) => !["version", ...Object.keys(COMMON_FLAGS)].includes(one.name));
    if (strange !== undefined) throw unknownFlag(strange, undefined);
    return wants("version") ? { kind: "version" } : { kind: "help", command: undefined };
  }
  const values = valuesOf(typed, command);
  checkWords(command, words);
  checkNeeded(command, values);
  return { kind: "run", command, values, words };
}

/**
 * From the typed words to a command with its flags, which may be anywhere; sub-commands; and the values of flags:
 * durations, spans of time, money, timestamps.
 */

import { parseArgs } from "node:util";
import { durationMs } from "../../kernel/duration.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import { type Money, parseMoney } from "../../kernel/money.ts";
import { closestName } from "../../kernel/spelling.ts";
import type { Moment } from "../../workflows/contract.ts";
import type { WorkflowDetails } from "../../workflows/views.ts";
import { COMMON_FLAGS, type Command, CommandError, type Flags, type Values } from "./command.ts";
import { formatMoment } from "./terminal.ts";

/** The only word that begins so, else the closest one. */
function nearestWord(given: string, known: readonly string[]): string | undefined {
  const begun = given.length < 2 ? [] : known.filter((name) => name.startsWith(given.toLowerCase()));
  return begun[0] ?? closestName(given, known);
}

export type ParsedLine =
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

/** All flags of a command. */
export function flagsOf(command: Command): Flags {
  return { ...command.flags, ...COMMON_FLAGS };
}

type Typed = {
  readonly name: string;
  readonly raw: string;
  readonly value: string | undefined;
  readonly inline: boolean;
};

const NEGATIVE = /^-\d/;

/**
 * Every flag takes a value in all commands or in none, so one pass reads them before the command is known. A negative
 * number such as -1h is a word or a value, and never flags of one letter.
 */
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
  const typed: Typed[] = [];
  const words = new Map<number, string>();
  for (const token of tokens) {
    const arg = args[token.index] ?? "";
    if (token.kind === "positional") words.set(token.index, token.value);
    else if (token.kind === "option" && NEGATIVE.test(arg)) words.set(token.index, arg);
    else if (token.kind === "option")
      typed.push({
        name: token.name,
        raw: token.rawName,
        value: token.value,
        inline: token.inlineValue === true,
      });
  }
  return { typed, words: [...words.values()] };
}

function quote(word: string): string {
  return JSON.stringify(word.length > 60 ? `${word.slice(0, 60)}…` : word);
}

function unknownFlag({ raw, name }: Typed, command: Command | undefined): CommandError {
  const flags = command === undefined ? { ...COMMON_FLAGS, version: {} } : flagsOf(command);
  const close = nearestWord(name, Object.keys(flags));
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
  if (!inline && value.length > 1 && value.startsWith("-") && !NEGATIVE.test(value))
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

/** `[file]` is optional, and `[file…]` may be repeated. */
const isOptional = (expected: string): boolean => expected.startsWith("[");
const isRepeated = (expected: string | undefined): boolean => expected?.endsWith("…]") === true;

function notAmong(word: string, choices: readonly string[]): string {
  const close = nearestWord(word, choices);
  return `${quote(word)} is not ${choices.join(" or ")}.${close === undefined ? "" : ` Did you mean "${close}"?`}`;
}

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
    if (!choices.includes(words[at] ?? "")) throw usage(notAmong(words[at] ?? "", choices), command);
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
  const close = nearestWord(name, [...new Set(firsts)]);
  throw usage(`There is no command ${quote(name)}.${close === undefined ? "" : ` Did you mean "${close}"?`}`);
}

/** Matches if only the first word of several commands was typed. */
function familyOf([name, second]: readonly string[], commands: readonly Command[]): readonly Command[] {
  return second === undefined ? commands.filter((command) => command.name.startsWith(`${name} `)) : [];
}

function noneOf(name: string, second: string, family: readonly Command[]): string {
  const known = family.map((command) => command.name.slice(name.length + 1));
  const close = second === "" ? undefined : nearestWord(second, known);
  const hint = close === undefined ? ` There are: ${known.join(", ")}.` : ` Did you mean "${name} ${close}"?`;
  return second === ""
    ? `"${name}" needs another word.${hint}`
    : `There is no command ${quote(`${name} ${second}`)}.${hint}`;
}

export function parseLine(argv: readonly string[], commands: readonly Command[]): ParsedLine {
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

const DURATION = /^(?:\d{1,9}(?:d|h|min|s))+$/;

/** As people type them: 45s, 30min, 2h, 3d, or combined: 1h 30min. Milliseconds; undefined if it is not a duration. */
export function parseDuration(given: string): number | undefined {
  const text = given.replaceAll(/\s/g, "");
  return DURATION.test(text) ? durationMs(text.replaceAll("min", "m")) : undefined;
}

/** `7d`, `12h`, `30m`; in milliseconds. */
export function parseSpan(flag: string, given: string): number {
  const ms = durationMs(given.trim());
  if (ms !== undefined && ms > 0) return ms;
  throw new CommandError("usage", `--${flag} "${given}" is not a span of time.`, "Such as 30m, 12h or 7d.");
}

/** `500 USD`, `12.50 EUR`. */
export function parseMoneyFlag(flag: string, given: string): Money {
  const money = parseMoney(given.trim());
  if (money !== undefined) return money;
  throw new CommandError(
    "usage",
    `--${flag} "${given}" is not an amount of money.`,
    'Such as "500 USD": a number, and the letters of the currency.',
  );
}

const TIME = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}(?::\d{2})?)(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;

/** undefined for a date that does not exist, such as the 30th of February. */
export function parseTime(given: string): number | undefined {
  const [, date, clock, fraction = "", zone = ""] = TIME.exec(given.trim()) ?? [];
  if (date === undefined || clock === undefined) return undefined;
  const local = new Date(`${date}T${clock}Z`);
  if (Number.isNaN(local.getTime()) || !local.toISOString().startsWith(`${date}T${clock}`)) return undefined;
  const time = Date.parse(`${date}T${clock}${zone.toUpperCase()}`);
  return Number.isNaN(time) ? undefined : time + Math.floor(Number(`0${fraction}`) * 1_000);
}

function entryAt(given: string, { id, seq }: WorkflowDetails): Moment {
  const number = Number(given);
  if (number >= 1 && number <= seq) return { seq: number };
  throw new CommandError(
    "usage",
    `There is no entry ${given} of ${id}: it has ${seq}.`,
    `Give a number from 1 to ${seq}.`,
  );
}

export function parseMoment(given: string, state: WorkflowDetails, now: number): Moment {
  if (/^\d{1,15}$/.test(given)) return entryAt(given, state);
  const time = parseTime(given);
  if (time === undefined)
    throw new CommandError(
      "usage",
      `"${given}" is neither an entry's number nor a time.`,
      `Such as --at 12, or --at ${formatMoment(state.createdAt)}`,
    );
  if (time > now)
    throw new CommandError(
      "usage",
      `${formatMoment(time)} is still to come.`,
      "Give a time that has passed.",
    );
  if (time >= state.createdAt) return { time };
  throw new HoldpointError(
    "unknown_id",
    `The workflow ${state.id} was not there yet at ${formatMoment(time)}.`,
    {
      next: `It was created at ${formatMoment(state.createdAt)}.`,
    },
  );
}

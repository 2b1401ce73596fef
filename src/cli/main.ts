/**
 * The command line: parses, prints help, opens the existing store, runs one command, returns an exit code.
 * It never throws.
 */

import { isHoldpointError } from "../kernel/errors.ts";
import { currentPerson } from "../runtime/settings.ts";
import { COMMAND_GROUPS, COMMANDS, type CommandGroup } from "./commands.ts";
import { noteRestored } from "./journal.ts";
import {
  COMMON_FLAGS,
  type Command,
  CommandError,
  type Context,
  EXIT,
  type Flags,
  fileError,
  flag,
  isOn,
  printFailure,
  version,
} from "./shell/command.ts";
import { type LocatedStore, locateStore, openExistingStore } from "./shell/files.ts";
import { flagsOf, type ParsedLine, parseLine } from "./shell/parse.ts";
import { createTerminal, fold, pad, type Terminal } from "./shell/terminal.ts";

export const EXIT_MEANINGS: readonly (readonly [number, string])[] = [
  [0, "done"],
  [1, "refused or failed: a conflict, a rule that said no, findings of verify"],
  [2, "wrong usage"],
  [3, "no store here, or nothing under that id"],
  [4, "the store or its key cannot be used: busy, read-only, damaged, newer"],
  [130, "interrupted"],
];

/** Of all groups of the overview alike. */
const NAME_WIDTH = 17;

function table(terminal: Terminal, rows: readonly (readonly [string, string])[], least = 0): void {
  const width = Math.max(least, ...rows.map(([head]) => head.length + 2));
  for (const [head, text] of rows) {
    const [first = "", ...rest] = fold(text, Math.max(30, terminal.columns - width - 2));
    terminal.line(`  ${terminal.paint("bold", pad(head, width))}${first}`);
    for (const line of rest) terminal.line(" ".repeat(width + 2) + line);
  }
}

const flagRows = (flags: Flags): readonly (readonly [string, string])[] =>
  Object.entries(flags).map(([name, { value, summary, required }]) => [
    `--${name}${value === undefined ? "" : ` ${value}`}`,
    `${summary}${required ? " (needed)" : ""}`,
  ]);

function usageOf(command: Command): string {
  const needed = Object.entries(command.flags).filter(([, flag]) => flag.required);
  return [
    "holdpoint",
    command.name,
    ...command.words,
    ...needed.map(([name, flag]) => `--${name} ${flag.value}`),
  ].join(" ");
}

function printHelp(terminal: Terminal, command: Command): void {
  terminal.line(`${terminal.paint("bold", usageOf(command))}`);
  terminal.line();
  for (const text of [command.summary, ...(command.details ?? [])])
    for (const line of fold(text, terminal.columns - 2)) terminal.line(`  ${line}`);
  terminal.line();
  table(terminal, flagRows(flagsOf(command)));
  if (command.examples === undefined) return;
  terminal.line();
  terminal.line(command.examples.length === 1 ? "Example" : "Examples");
  for (const example of command.examples) terminal.line(`  ${example}`);
}

/** Commands with the same first word. */
function printFamily(terminal: Terminal, name: string, commands: readonly Command[]): void {
  terminal.line(terminal.paint("bold", `holdpoint ${name} …`));
  terminal.line();
  table(
    terminal,
    commands.map((command) => [[command.name, ...command.words].join(" "), command.summary]),
  );
  terminal.line();
  terminal.line(`Each with its flags: holdpoint ${name} ${commands[0]?.name.slice(name.length + 1)} --help`);
}

/** One line for each command. Its arguments are in its own help. */
function printOverview(terminal: Terminal, groups: readonly CommandGroup[], version: string): void {
  terminal.line(
    `${terminal.paint("bold", `holdpoint ${version}`)}: decide what agents may do, and see what they did`,
  );
  for (const { title, commands } of groups) {
    terminal.line();
    terminal.line(title);
    table(
      terminal,
      commands.map(({ name, summary }) => [name, summary]),
      NAME_WIDTH,
    );
  }
  terminal.line();
  terminal.line("With every command");
  table(terminal, [...flagRows(COMMON_FLAGS), ["--version", "print the version"]]);
  terminal.line();
  terminal.line("Exit codes");
  table(
    terminal,
    EXIT_MEANINGS.map(([code, meaning]) => [String(code), meaning]),
  );
  terminal.line();
  terminal.line("Arguments, flags and examples of a command: holdpoint <command> --help");
}

type Run = Extract<ParsedLine, { kind: "run" }>;

/** Suggests a server only for a command that can run on one. */
function noStore(place: LocatedStore, { name, onlyHere }: Command, cause?: unknown): CommandError {
  const what = `There is no store at ${place.shown}`;
  const named = "--data <folder> or HOLDPOINT_DATA, --database <url> or HOLDPOINT_DATABASE";
  if (onlyHere !== undefined)
    return new CommandError(
      "no_store",
      `${what}, and \`${name}\` works on a store of this machine, not at a server: ${onlyHere}.`,
      `Run it where the store is, and name that: ${named}.`,
      cause,
    );
  const next = `A program that uses holdpoint() makes one; or name it: ${named}; or use a server: --server <url>, or holdpoint login.`;
  return new CommandError("no_store", `${what}.`, next, cause);
}

/** Only a response from the database server can tell that it has no store. */
const isAbsent = (error: unknown): boolean => isHoldpointError(error) && error.details["absent"] === true;

async function runOn(store: LocatedStore, { command }: Run, context: Context): Promise<number> {
  const tenant = flag(context, "tenant");
  try {
    // Writing to a tenant that does not exist would create it.
    if (tenant !== undefined && context.hasStore) await context.hp.tenants.get(tenant);
    return await command.run(context);
  } catch (error) {
    if (!isAbsent(error)) throw error;
    if (command.storeless !== true) throw noStore(store, command, error);
    return command.run({ ...context, hasStore: false });
  }
}

type StoreContext = Pick<Context, "folder" | "hasStore" | "hp" | "person">;

function contextOf(terminal: Terminal, line: Run, place: StoreContext): Context {
  const { values, words } = line;
  const flags = { json: isOn(line, "json"), full: isOn(line, "full") };
  return { terminal, values, words, ...flags, ...place, now: Date.now() };
}

/** Runs the command on a server, as the person who is logged in there. */
async function runThere(terminal: Terminal, line: Run, server: string): Promise<number> {
  const { clientFor, whoAmIAt: knownAt } = await import("./remote/server.ts");
  const { remoteHoldpoint } = await import("./remote/remote.ts");
  const client = clientFor(server);
  const { principal } = await knownAt(client);
  const hp = remoteHoldpoint({ client, principal });
  const place = { folder: server, hasStore: true, hp, person: principal ?? currentPerson() };
  try {
    return await line.command.run(contextOf(terminal, line, place));
  } finally {
    terminal.progress(null);
  }
}

/** Refuses the flag if it would have no effect. */
function checkTenant({ command, values }: Run, server: string | undefined): void {
  if (!values.has("tenant")) return;
  if (command.placeless === true || command.tenantless === true)
    throw new CommandError("usage", `--tenant does not go with "${command.name}".`, "Leave it out.");
  if (server !== undefined)
    throw new CommandError(
      "usage",
      "--tenant does not go with a server: the credential says which tenant it is of.",
      `Leave it out, or log in with a link or key of that tenant: holdpoint login --server ${server}`,
    );
}

async function run(terminal: Terminal, line: Run): Promise<number> {
  const { serverFor } = await import("./remote/server.ts");
  const server = serverFor(line.command, line.values);
  checkTenant(line, server);
  return server === undefined ? runHere(terminal, line) : runThere(terminal, line, server);
}

async function runHere(terminal: Terminal, line: Run): Promise<number> {
  const store = locateStore(line.values);
  if (line.command.storeless !== true && !store.hasStore) throw noStore(store, line.command);
  const hp = await openExistingStore(store);
  const { shown: folder, hasStore } = store;
  const context = contextOf(terminal, line, { folder, hasStore, hp, person: currentPerson() });
  try {
    const code = await runOn(store, line, context);
    if (hasStore && line.command.placeless !== true) await noteRestored(context, line.command);
    return code;
  } finally {
    terminal.progress(null);
    await hp.close();
  }
}

async function answer(terminal: Terminal, line: ParsedLine): Promise<number> {
  switch (line.kind) {
    case "version":
      terminal.line(version());
      return EXIT.ok;
    case "help":
      if (line.command === undefined) printOverview(terminal, COMMAND_GROUPS, version());
      else printHelp(terminal, line.command);
      return EXIT.ok;
    case "family":
      printFamily(terminal, line.name, line.commands);
      return EXIT.ok;
    case "run":
      return run(terminal, line);
  }
}

export async function main(
  argv: readonly string[],
  commands: readonly Command[] = COMMANDS,
): Promise<number> {
  const terminal = createTerminal(process);
  const json = argv.includes("--json");
  try {
    const code = await answer(terminal, parseLine(argv, commands));
    const fault = terminal.fault();
    return fault === undefined ? code : printFailure(terminal, fileError("standard output", fault), json);
  } catch (error) {
    return printFailure(terminal, error, json);
  }
}

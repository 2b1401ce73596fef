/** The command line: parses, opens the store that is there, runs one command, answers an exit code. It never throws. */

import { isHoldpointError } from "../kernel/errors.ts";
import { currentPerson } from "../runtime/settings.ts";
import type { Command, Context } from "./command.ts";
import { EXIT, flag, isOn } from "./command.ts";
import { COMMANDS } from "./commands.ts";
import { CommandError, fileError, tell } from "./failure.ts";
import { printFamily, printHelp, printOverview } from "./help.ts";
import { openStore, placeOf, type StorePlace } from "./open-store.ts";
import { type Line, parseLine } from "./parse-line.ts";
import { noteRestored } from "./restored.ts";
import { createTerminal, type Terminal } from "./terminal.ts";
import { version } from "./version.ts";

type Run = Extract<Line, { kind: "run" }>;

/** A server is offered only for what is done at one. */
function noStore(place: StorePlace, { name, onlyHere }: Command, cause?: unknown): CommandError {
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

/** Only a server that was asked can say that it has none. */
const isAbsent = (error: unknown): boolean => isHoldpointError(error) && error.details["absent"] === true;

async function runOn(store: StorePlace, { command }: Run, context: Context): Promise<number> {
  const tenant = flag(context, "tenant");
  try {
    // One that is not there would be begun by whatever is written in it.
    if (tenant !== undefined && context.hasStore) await context.hp.tenants.get(tenant);
    return await command.run(context);
  } catch (error) {
    if (!isAbsent(error)) throw error;
    if (command.storeless !== true) throw noStore(store, command, error);
    return command.run({ ...context, hasStore: false });
  }
}

type Place = Pick<Context, "folder" | "hasStore" | "hp" | "person">;

function contextOf(terminal: Terminal, line: Run, place: Place): Context {
  const { values, words } = line;
  const flags = { json: isOn(line, "json"), full: isOn(line, "full") };
  return { terminal, values, words, ...flags, ...place, now: Date.now() };
}

/** The same command at a server, as whoever is logged in there. */
async function runThere(terminal: Terminal, line: Run, server: string): Promise<number> {
  const { clientFor, knownAt } = await import("./remote/server-place.ts");
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

/** A flag that would count for nothing is refused. */
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
  const { serverFor } = await import("./remote/server-place.ts");
  const server = serverFor(line.command, line.values);
  checkTenant(line, server);
  return server === undefined ? runHere(terminal, line) : runThere(terminal, line, server);
}

async function runHere(terminal: Terminal, line: Run): Promise<number> {
  const store = placeOf(line.values);
  if (line.command.storeless !== true && !store.hasStore) throw noStore(store, line.command);
  const hp = await openStore(store);
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

async function answer(terminal: Terminal, line: Line): Promise<number> {
  switch (line.kind) {
    case "version":
      terminal.line(version());
      return EXIT.ok;
    case "help":
      if (line.command === undefined) printOverview(terminal, COMMANDS, version());
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
    return fault === undefined ? code : tell(terminal, fileError("standard output", fault), json);
  } catch (error) {
    return tell(terminal, error, json);
  }
}

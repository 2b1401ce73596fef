/**
 * Locations: options first, then environment, then default. The data folder is searched upward, like git's. Small
 * enough for the command line to load at start.
 */

import { existsSync, readFileSync } from "node:fs";
import { homedir, platform, userInfo } from "node:os";
import { basename, dirname, extname, join, resolve } from "node:path";
import { HoldpointError } from "../kernel/errors.ts";

export type Environment = (name: string) => string | undefined;

const FOLDER = ".holdpoint";

/** Default: `HOLDPOINT_DATA`, else the nearest `.holdpoint` upward from the working directory, else a new one there. */
export function dataFolder(given: string | undefined, environment: Environment, from: string): string {
  const told = given ?? environment("HOLDPOINT_DATA");
  if (told !== undefined && told !== "") return resolve(from, told);
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    if (existsSync(join(folder, FOLDER))) return join(folder, FOLDER);
    if (dirname(folder) === folder) return join(resolve(from), FOLDER);
  }
}

export type ReadTextFile = (path: string) => string;

const ADDRESS = /^postgres(ql)?:\/\/\S+$/;

/** The address in a file. Errors never quote the content. */
export function databaseInFile(
  path: string,
  readText: ReadTextFile = (file) => readFileSync(file, "utf8"),
): string {
  const refuse = (why: string, cause?: unknown) =>
    new HoldpointError("invalid_input", `The file ${path} of HOLDPOINT_DATABASE_FILE ${why}.`, {
      ...{ cause, data: "Nothing was opened." },
      next: "Put one address into it: postgres://user:password@host:5432/database",
    });
  let text: string;
  try {
    text = readText(path).trim();
  } catch (error) {
    throw refuse(`cannot be read (${String((error as NodeJS.ErrnoException).code)})`, error);
  }
  if (!ADDRESS.test(text)) throw refuse("does not hold the address of a PostgreSQL database");
  return text;
}

/** The option, else `HOLDPOINT_DATABASE`, else the content of the file named by `HOLDPOINT_DATABASE_FILE`. */
export function databaseUrl(
  given: { readonly database?: string | undefined; readonly folder?: string | undefined },
  environment: Environment,
): string | undefined {
  if (given.database !== undefined || given.folder !== undefined) return given.database;
  const [said, file] = [environment("HOLDPOINT_DATABASE"), environment("HOLDPOINT_DATABASE_FILE")];
  if (said && file)
    throw new HoldpointError(
      "invalid_input",
      "HOLDPOINT_DATABASE and HOLDPOINT_DATABASE_FILE exclude each other.",
      { data: "Nothing was opened.", next: "Unset one of them." },
    );
  return file ? databaseInFile(file) : said || undefined;
}

/** An address without its password, for display. */
export function databaseWithoutPassword(database: string): string {
  try {
    const { protocol, username, host, pathname } = new URL(database);
    return `${protocol}//${username === "" ? "" : `${username}@`}${host}${pathname}`;
  } catch {
    return "the database";
  }
}

/** Default: `HOLDPOINT_KEY_FILE`, else a file in the user's configuration folder, never in the data folder. */
export function keyFile(given: string | undefined, environment: Environment): string {
  const told = given ?? environment("HOLDPOINT_KEY_FILE");
  if (told !== undefined && told !== "") return resolve(told);
  if (platform() === "win32") return join(environment("APPDATA") ?? homedir(), "holdpoint", "key.json");
  const config = environment("XDG_CONFIG_HOME");
  return join(
    config !== undefined && config !== "" ? config : join(homedir(), ".config"),
    "holdpoint",
    "key.json",
  );
}

/** Next to the key: outside of every data folder, and so not part of a restore. */
export function witnessFolder(keys: string): string {
  return join(dirname(keys), "witness");
}

/** A program's agent name is the name of its script. */
export function programName(script: string | undefined): string {
  const name = script === undefined ? "" : basename(script, extname(script));
  return name.replace(/[^A-Za-z0-9_.-]/g, "-") || "program";
}

/** The person at this machine's terminal. */
export function currentPerson(): string {
  try {
    return `person:${userInfo().username}`;
  } catch {
    return `person:uid-${process.getuid?.() ?? "unknown"}`;
  }
}

/** Least number of people's decisions behind a suggestion. */
export const DEFAULT_MIN_DECISIONS = 20;

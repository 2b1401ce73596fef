/** The store that is there. Commands never make one, never take an epoch and so never recover anything. */
import { statSync } from "node:fs";
import { join } from "node:path";
import type { Holdpoint } from "../index.ts";
import { HoldpointError } from "../kernel/errors.ts";
import { databaseUrl, databaseWithoutPassword, dataFolder } from "../runtime/settings.ts";
import type { Values } from "./command.ts";
import { CommandError } from "./failure.ts";

const FILE = "journal.db";
const ABSENT = new Set(["ENOENT", "ENOTDIR"]);

export function folderOf(given: string | undefined): string {
  return dataFolder(given, (name) => process.env[name], process.cwd());
}

/** An empty file is a store that was never finished: nothing can be in it. */
export function hasStore(folder: string): boolean {
  try {
    return statSync(join(folder, FILE)).size > 0;
  } catch (cause) {
    if (ABSENT.has(String((cause as NodeJS.ErrnoException).code))) return false;
    throw unreadable(folder, cause);
  }
}

function unreadable(folder: string, cause: unknown): HoldpointError {
  return new HoldpointError("store_unavailable", `The folder ${folder} cannot be looked into.`, { cause });
}

export type StorePlace = {
  readonly where: ({ readonly folder: string } | { readonly database: string }) & {
    readonly tenant?: string;
  };
  readonly shown: string;
  /** Whether a server has one is found out when it is opened. */
  readonly hasStore: boolean;
};

/** A flag wins over the environment, and a database over a folder. */
export function placeOf(values: Values): StorePlace {
  const typed = { folder: values.get("data")?.at(-1), database: values.get("database")?.at(-1) };
  if (typed.folder !== undefined && typed.database !== undefined)
    throw new CommandError("usage", "--data and --database exclude each other.", "Leave one out.");
  const tenant = values.get("tenant")?.at(-1);
  const of = tenant === undefined ? {} : { tenant };
  const database = databaseUrl(typed, (name) => process.env[name]);
  if (database !== undefined)
    return { where: { database, ...of }, shown: databaseWithoutPassword(database), hasStore: true };
  const folder = folderOf(typed.folder);
  return { where: { folder, ...of }, shown: folder, hasStore: hasStore(folder) };
}

/** Only what works on a store loads all that a store needs. */
export async function openStore({ where }: StorePlace): Promise<Holdpoint> {
  const { holdpoint } = await import("../index.ts");
  return holdpoint({ ...where, mode: "existing", agent: "cli", notify: () => {} });
}

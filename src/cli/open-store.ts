/** The store that is there. Commands never make one, never take an epoch and so never recover anything. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { HoldpointError } from "../core/errors.ts";
import { dataFolder } from "../engine/settings.ts";
import { type Holdpoint, holdpoint } from "../index.ts";

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

export function openStore(folder: string): Holdpoint {
  return holdpoint({ folder, mode: "existing", agent: "cli", notify: () => {} });
}

/** Where the keys of a scenario's agents are kept: in the user's configuration folder, for nobody else to read. */
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isJsonObject, type JsonObject, parseJson } from "../../kernel/json.ts";

import { CommandError } from "../failure.ts";

export type Surroundings = {
  readonly platform: string;
  readonly home: string;
  readonly environment: (name: string) => string | undefined;
};

function configFolder({ platform, home, environment }: Surroundings): string {
  if (platform === "darwin") return join(home, "Library", "Application Support");
  const named = environment(platform === "win32" ? "APPDATA" : "XDG_CONFIG_HOME");
  if (named !== undefined && named !== "") return named;
  return platform === "win32" ? home : join(home, ".config");
}

export const scenarioKeysFile = (around: Surroundings): string =>
  join(configFolder(around), "holdpoint", "scenario-agents.json");

/** By agent's name. A file that is not ours is never written over. */
export function readKeys(file: string): JsonObject {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return {};
    throw error;
  }
  const kept = parseJson(text);
  if (isJsonObject(kept)) return kept;
  throw new CommandError(
    "file_error",
    `${file} is not a file of agents' keys.`,
    "Move it away, then apply again.",
  );
}

/** Whole or not at all. */
export function writeKeys(file: string, keys: JsonObject): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(keys, null, 2)}\n`, { mode: 0o600 });
  chmodSync(draft, 0o600);
  renameSync(draft, file);
}

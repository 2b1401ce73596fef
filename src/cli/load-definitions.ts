/** A file whose default export takes an instance and declares tools and workflows on it. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Holdpoint } from "../index.ts";
import { isHoldpointError } from "../kernel/errors.ts";
import { errorText } from "../kernel/text.ts";
import { CommandError } from "./failure.ts";

const SHAPE = "Its default export is a function: export default (hp) => { hp.gate(…); hp.workflow(…); }";

function broken(file: string, what: string, error: unknown): CommandError {
  const next = "Run it again with DEBUG=1 to see where.";
  return new CommandError("usage", `The file ${file} ${what}: ${errorText(error)}`, next, error);
}

async function importDefault(file: string): Promise<unknown> {
  if (!existsSync(file)) throw new CommandError("usage", `There is no file ${file}.`, "Check the path.");
  try {
    return ((await import(pathToFileURL(file).href)) as { default?: unknown }).default;
  } catch (error) {
    throw broken(file, "cannot be loaded", error);
  }
}

export type Define = (hp: Holdpoint) => Promise<void>;

export async function loadDefinitions(path: string): Promise<Define> {
  const file = resolve(path);
  const define = await importDefault(file);
  if (typeof define !== "function")
    throw new CommandError("usage", `The file ${file} declares nothing.`, SHAPE);
  return async (hp) => {
    try {
      await (define as (hp: Holdpoint) => unknown)(hp);
    } catch (error) {
      if (isHoldpointError(error)) throw error;
      throw broken(file, "failed", error);
    }
  };
}

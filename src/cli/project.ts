/** `holdpoint.json`: what a project says about itself, found upward from the working directory. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isJsonObject, parseJson } from "../kernel/json.ts";

import { CommandError, fileError } from "./failure.ts";

export const PROJECT_FILE = "holdpoint.json";

export type Project = {
  readonly folder: string;
  /** The file that `holdpoint run` takes unless another is named. */
  readonly workflow: string;
};

function readProject(file: string): Project {
  let value: unknown;
  try {
    value = parseJson(readFileSync(file, "utf8"));
  } catch (error) {
    throw fileError(file, error);
  }
  const workflow = isJsonObject(value as never) ? (value as { workflow?: unknown }).workflow : undefined;
  if (typeof workflow !== "string" || workflow === "")
    throw new CommandError(
      "usage",
      `The file ${file} names no workflow.`,
      'It looks like { "workflow": "workflow.ts" }.',
    );
  const folder = dirname(file);
  return { folder, workflow: resolve(folder, workflow) };
}

export function findProject(from: string): Project | undefined {
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    const file = join(folder, PROJECT_FILE);
    if (existsSync(file)) return readProject(file);
    if (dirname(folder) === folder) return undefined;
  }
}

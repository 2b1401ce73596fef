/**
 * Makes the fixtures of a released version: `npm run upgrade -- --make-fixture <version> --commit <commit>`. Done once for each
 * release, from a clone with history. A fixture that is there is never written again.
 */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pack, programAt } from "./archive.ts";

export function makeProgram(version: string, commit: string): string {
  const file = join(import.meta.dirname, version, "source.br");
  if (existsSync(file)) throw new Error(`${file} is there. It was left as it is; remove it first.`);
  writeFileSync(file, pack(programAt(commit)));
  return file;
}

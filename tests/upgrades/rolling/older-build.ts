/**
 * The version before this one, as a copy of the sources: it says so, writes older rows of two views, and does not know the
 * event that a definition's log lines are.
 */
import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "../../..");
export const OLDER = "0.0.9";

const PATCHES: { readonly [file: string]: readonly (readonly [RegExp, string])[] } = {
  "package.json": [[/"version": "[^"]*"/, `"version": "${OLDER}"`]],
  "src/core/workflow/events.ts": [[/\n {2}"log\.written",/, ""]],
  "src/views/workflows.ts": [
    [/version: 3,\n {2}oldest: 2,/, "version: 2,"],
    [/version: 7,\n {2}oldest: 6,/, "version: 6,"],
  ],
};

/** Answers its command line. */
export function makeOlder(folder: string): string {
  for (const name of ["src", "bin", "package.json"])
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  for (const [name, changes] of Object.entries(PATCHES)) {
    let text = readFileSync(join(folder, name), "utf8");
    for (const [what, instead] of changes) {
      if (!what.test(text)) throw new Error(`${name} has no ${what}`);
      text = text.replace(what, instead);
    }
    writeFileSync(join(folder, name), text);
  }
  return join(folder, "bin/holdpoint.mjs");
}

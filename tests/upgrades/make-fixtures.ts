/**
 * Makes the fixtures of a released version: its program from the commit, then a store that this program writes. Done once for
 * each release, from a clone with history: `npm run upgrade -- --make-fixture 0.1.0 --commit e65d94c`. A fixture that exists
 * is never written again.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installProgram, pack, programAt } from "./archive.ts";

/** Nobody listens there: what is to be sent to it stays undelivered. */
const NOBODY = "http://127.0.0.1:9/";

function makeProgram(version: string, commit: string): string {
  const file = join(import.meta.dirname, version, "source.br");
  if (!existsSync(file)) writeFileSync(file, pack(programAt(commit)));
  return file;
}

function makeStore(version: string): string {
  const file = join(import.meta.dirname, version, "store.br");
  if (existsSync(file)) return file;
  const root = mkdtempSync(join(tmpdir(), "holdpoint-fixture-"));
  try {
    const program = installProgram(version, join(root, "program"));
    const [keyFile, log, folder] = [join(root, "key.json"), join(root, "ran.log"), join(root, "data")];
    const options = JSON.stringify({ store: { folder }, keyFile, log, receiver: NOBODY, dies: false });
    const writer = join(import.meta.dirname, version, "write.ts");
    const said = execFileSync(process.execPath, [writer, program, options], { encoding: "utf8" });
    const left = Buffer.from(/^waiting (.*)$/m.exec(said)?.[1] ?? "");
    const names = ["data/journal.db", "key.json", "ran.log"];
    const files = names.map((name) => [name, readFileSync(join(root, name))] as const);
    writeFileSync(file, pack(new Map([...files, ["left.json", left]])));
    return file;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** Answers the files that the version has now. */
export const makeFixtures = (version: string, commit: string): readonly string[] => [
  makeProgram(version, commit),
  makeStore(version),
];

/**
 * Files in one compressed file, as fixtures keep the program and a store of an earlier version: a line of JSON with the path
 * and the length of each, then their bytes, all of it compressed with brotli.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";

export type Files = ReadonlyMap<string, Uint8Array>;

const ROOT = join(import.meta.dirname, "../..");
/** What a program of that version needs in order to start. Its dependencies are those of the present tree. */
const PROGRAM = ["src", "bin", "package.json"];
const NEWLINE = 0x0a;

export function pack(files: Files): Buffer {
  const index = JSON.stringify([...files].map(([path, bytes]) => [path, bytes.length]));
  return brotliCompressSync(Buffer.concat([Buffer.from(`${index}\n`), ...files.values()]), {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    },
  });
}

export function unpack(archive: string, folder: string): void {
  const bytes = brotliDecompressSync(readFileSync(archive));
  const end = bytes.indexOf(NEWLINE);
  const index = JSON.parse(bytes.toString("utf8", 0, end)) as readonly (readonly [string, number])[];
  let at = end + 1;
  for (const [path, length] of index) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, bytes.subarray(at, at + length));
    at += length;
  }
}

/** The program of a commit, without its tests and what only tests use. */
export function programAt(commit: string): Files {
  const git = (args: readonly string[], input?: string) =>
    execFileSync("git", args, { cwd: ROOT, maxBuffer: 1e9, ...(input === undefined ? {} : { input }) });
  const names = git(["ls-tree", "-r", "--name-only", commit, ...PROGRAM])
    .toString()
    .trim()
    .split("\n")
    .filter((name) => !name.endsWith(".test.ts") && !name.startsWith("src/testing/"));
  const bytes = git(["cat-file", "--batch"], names.map((name) => `${commit}:${name}\n`).join(""));
  const files = new Map<string, Uint8Array>();
  let at = 0;
  for (const name of names) {
    const end = bytes.indexOf(NEWLINE, at);
    const length = Number(bytes.toString("utf8", at, end).split(" ")[2]);
    files.set(name, bytes.subarray(end + 1, end + 1 + length));
    at = end + 1 + length + 1;
  }
  return files;
}

/** Puts the program of an earlier version into a folder, with the dependencies of this tree; answers the folder. */
export function installProgram(version: string, folder: string): string {
  unpack(join(import.meta.dirname, version, "source.br"), folder);
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"), "junction");
  return folder;
}

/**
 * Files in one compressed file, as fixtures keep the program and a store of an earlier version: a line of JSON with the path
 * and the length of each, then their bytes, all of it compressed with brotli.
 */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";

export type Files = ReadonlyMap<string, Uint8Array>;

const ROOT = join(import.meta.dirname, "../..");
/** What a program of that version needs in order to start. Its dependencies are those of the present tree. */
const PROGRAM = ["src", "bin", "package.json"];
/** What leaves everything waiting, and what it imports beside the program. */
const WRITER = ["tests/upgrades/present", "tests/fixtures/until.ts"];
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

function putFiles(files: Files, folder: string): void {
  for (const [path, bytes] of files) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, bytes);
  }
}

export function unpack(archive: string, folder: string): void {
  const bytes = brotliDecompressSync(readFileSync(archive));
  const files = new Map<string, Uint8Array>();
  const end = bytes.indexOf(NEWLINE);
  const index = JSON.parse(bytes.toString("utf8", 0, end)) as readonly (readonly [string, number])[];
  let at = end + 1;
  for (const [path, length] of index) {
    files.set(path, bytes.subarray(at, at + length));
    at += length;
  }
  putFiles(files, folder);
}

const git = (args: readonly string[], input?: string): Buffer =>
  execFileSync("git", args, {
    ...{ cwd: ROOT, maxBuffer: 1e9, stdio: ["pipe", "pipe", "ignore"] },
    ...(input === undefined ? {} : { input }),
  });

/** The id of a commit; undefined where this tree has no history of its own, or not that commit. */
export function findCommit(name: string): string | undefined {
  try {
    if (git(["rev-parse", "--show-prefix"]).toString().trim() !== "") return undefined;
    return git(["rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`])
      .toString()
      .trim();
  } catch {
    return undefined;
  }
}

/** The last release: its program is kept here. It cannot read the rows of entries that the present sources write. */
export const RELEASE = {
  name: "0.1.0",
  install: (folder: string) => installProgram("0.1.0", folder),
  stopsAll: true,
};

/** The program of a commit, without its tests and what only tests use. */
export function programAt(commit: string, paths: readonly string[] = PROGRAM): Files {
  const names = git(["ls-tree", "-r", "--name-only", commit, ...paths])
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

/**
 * Puts the program of a commit into a folder, with its own writer, which speaks its names; or with the present one, if it
 * has none. Answers the writer's file.
 */
export function installCommit(commit: string, folder: string): string {
  putFiles(programAt(commit, [...PROGRAM, ...WRITER]), folder);
  const writer = join(folder, "tests/upgrades/present/write.ts");
  if (!existsSync(writer))
    for (const path of WRITER) cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"), "junction");
  return writer;
}

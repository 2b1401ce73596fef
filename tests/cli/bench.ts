/** The real command line in other processes, beside programs that run in the test itself. */
import { type ChildProcess, spawn } from "node:child_process";
import { join, resolve } from "node:path";
import type { Folder } from "../fixtures/folder.ts";
import { hosted } from "./hosted.ts";

const ROOT = resolve(import.meta.dirname, "../..");
export const BIN = join(ROOT, "bin/holdpoint.mjs");

export type Ran = { readonly code: number | null; readonly out: string; readonly err: string };
export type Place = Pick<Folder, "path" | "keyFile">;
type Options = {
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  readonly uid?: number;
  readonly stdio?: ["pipe" | "ignore", "pipe", "pipe"];
};

export function environment(place: Place): NodeJS.ProcessEnv {
  const { NO_COLOR: _plain, DEBUG: _loud, NODE_EXTRA_CA_CERTS: _slow, ...env } = process.env;
  return {
    ...env,
    HOLDPOINT_DATA: place.path,
    HOLDPOINT_KEY_FILE: place.keyFile,
    NODE_COMPILE_CACHE: join(ROOT, "node_modules/.cache/node"),
  };
}

export function start(place: Place, args: readonly string[], options: Options = {}): ChildProcess {
  return spawn(process.execPath, [BIN, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    ...options,
    env: { ...environment(place), ...options.env },
  });
}

export function finished(child: ChildProcess): Promise<Ran> {
  const text = { out: "", err: "" };
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
    text.out += chunk;
  });
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    text.err += chunk;
  });
  return new Promise((done, fail) => {
    child.once("error", fail);
    child.once("close", (code) => done({ code, ...text }));
  });
}

/** In a process of its own, from its start to its end. */
export function runAlone(place: Place, args: readonly string[], options: Options = {}): Promise<Ran> {
  return finished(start(place, args, options));
}

/** A module is loaded once in the life of a process, whatever is in its file later. */
const isProgram = (arg: string): boolean => /\.m?[jt]s$/.test(arg);

export function runCli(place: Place, args: readonly string[], options: Options = {}): Promise<Ran> {
  const { env, cwd = process.cwd(), uid, stdio } = options;
  if (uid !== undefined || stdio !== undefined || args.some(isProgram)) return runAlone(place, args, options);
  return hosted({ args, cwd, env: { ...environment(place), ...env } });
}

/** Standard error as JSON: `{ error: … }`. */
export function errorOf({ err }: Ran): Readonly<Record<string, string>> {
  return (JSON.parse(err) as { error: Record<string, string> }).error;
}

export function linesOf(text: string): readonly string[] {
  return text.split("\n").filter((line) => line !== "");
}

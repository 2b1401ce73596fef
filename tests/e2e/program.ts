/** Runs programs and the CLI as a user would, in a folder of their own. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

export const ROOT = resolve(import.meta.dirname, "../..");

export type Place = { readonly folder: string; readonly env: NodeJS.ProcessEnv; remove(): void };

export function makePlace(): Place {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-e2e-"));
  const env = {
    ...process.env,
    HOLDPOINT_KEY_FILE: join(folder, "key.json"),
    NODE_EXTRA_CA_CERTS: "",
    NODE_COMPILE_CACHE: join(ROOT, "node_modules/.cache/node"),
    NO_COLOR: "1",
  };
  return { folder, env, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

export type Ran = { readonly code: number | null; readonly out: string; readonly err: string };

export function run(place: Place, program: string, ...args: readonly string[]): Ran {
  const done = spawnSync(process.execPath, ["--disable-warning=ExperimentalWarning", program, ...args], {
    cwd: place.folder,
    env: place.env,
    encoding: "utf8",
    timeout: 60_000,
  });
  return { code: done.status, out: done.stdout, err: done.stderr };
}

export const cli = (place: Place, ...args: readonly string[]): Ran =>
  run(place, join(ROOT, "bin/holdpoint.mjs"), ...args);

/** Starts a program and answers once its standard error matches. */
export function startUntil(
  place: Place,
  program: string,
  sign: RegExp,
  ...args: readonly string[]
): Promise<{ child: ChildProcess; match: RegExpExecArray }> {
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", program, ...args], {
    cwd: place.folder,
    env: place.env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  return new Promise((done, fail) => {
    let text = "";
    child.stderr?.on("data", (bytes: Buffer) => {
      text += bytes.toString();
      const match = sign.exec(text);
      if (match !== null) done({ child, match });
    });
    child.once("exit", (code) => fail(new Error(`it ended with ${code} before it said so:\n${text}`)));
  });
}

export async function killHard(child: ChildProcess): Promise<void> {
  const gone = new Promise((done) => child.once("exit", done));
  child.kill("SIGKILL");
  await gone;
}

export function linesOf(place: Place, file: string): readonly string[] {
  const path = join(place.folder, file);
  return existsSync(path)
    ? readFileSync(path, "utf8")
        .split("\n")
        .filter((line) => line !== "")
    : [];
}

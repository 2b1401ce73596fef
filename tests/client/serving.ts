/** The real server as a process that can be stopped, killed and started again at the same address. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join, resolve } from "node:path";
import type { TestContext } from "node:test";
import { type Folder, temporaryFolder } from "../fixtures/folder.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const BIN = join(ROOT, "bin/holdpoint.mjs");

export type Serving = {
  readonly folder: Folder;
  readonly url: () => string;
  start(): Promise<void>;
  /** By a signal; resolves when it is gone. */
  end(signal: "SIGTERM" | "SIGKILL"): Promise<void>;
};

function environmentOf({ path, keyFile }: Folder): NodeJS.ProcessEnv {
  const cache = { NODE_COMPILE_CACHE: join(ROOT, "node_modules/.cache/node"), NODE_EXTRA_CA_CERTS: "" };
  return {
    ...process.env,
    ...{ HOLDPOINT_DATA: path, HOLDPOINT_KEY_FILE: keyFile, HOLDPOINT_DATABASE: "", DATABASE_URL: "" },
    ...cache,
  };
}

async function listening(child: ChildProcess): Promise<string> {
  let out = "";
  let err = "";
  child.stderr?.on("data", (chunk) => {
    err += String(chunk);
  });
  return new Promise((done, fail) => {
    child.stdout?.on("data", (chunk) => {
      out += String(chunk);
      const url = /listens on (http:\/\/\S+)/.exec(out)?.[1];
      if (url !== undefined) done(url);
    });
    child.once("exit", () => fail(new Error(`the server ended:\n${out}${err}`)));
  });
}

/** `flags` beside the address; without authentication unless they say otherwise. */
export function serving(
  context: Pick<TestContext, "after">,
  flags: readonly string[] = ["--no-auth"],
): Serving {
  const folder = temporaryFolder(context);
  let child: ChildProcess | undefined;
  let url = "";
  context.after(() => void child?.kill("SIGKILL"));
  return {
    folder,
    url: () => url,
    async start() {
      const port = url === "" ? "0" : new URL(url).port;
      const definitions = join(import.meta.dirname, "programs/definitions.ts");
      const args = [BIN, "serve", "--port", port, "--definitions", definitions, ...flags];
      child = spawn(process.execPath, args, { env: environmentOf(folder) });
      url = await listening(child);
    },
    async end(signal) {
      const ended = child === undefined ? undefined : once(child, "exit");
      child?.kill(signal);
      await ended;
    },
  };
}

/** Another program that waits. */
export function waiter(url: string, kind: string, id: string): ChildProcess {
  const program = join(import.meta.dirname, "programs/waiter.ts");
  return spawn(process.execPath, ["--disable-warning=ExperimentalWarning", program, url, kind, id], {
    env: { ...process.env, NODE_EXTRA_CA_CERTS: "" },
    stdio: ["ignore", "pipe", "inherit"],
  });
}

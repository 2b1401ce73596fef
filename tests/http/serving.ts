/** `holdpoint serve` as a process of its own, and requests that only curl makes. */
import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { promisify } from "node:util";

const BIN = join(import.meta.dirname, "../../bin/holdpoint.mjs");
const run = promisify(execFile);

/** Where there is no curl, the same bytes are sent by node:http; the test then says so. */
export const HAS_CURL = spawnSync("curl", ["--version"]).status === 0;

export type Said = { readonly status: number; readonly body: Record<string, unknown> };
export type Call = (method: "GET" | "POST", path: string, body?: unknown) => Promise<Said>;

export type Serving = {
  readonly url: string;
  readonly child: ChildProcess;
  /** With a key, or without one. */
  as(key?: string): Call;
  cli(...args: readonly string[]): Promise<string>;
};

function environment(folder: string) {
  const own = { HOLDPOINT_KEY_FILE: join(folder, "key.json"), HOLDPOINT_DATABASE: "", DATABASE_URL: "" };
  return { ...process.env, ...own, HOLDPOINT_PERSON: "root" };
}

async function urlOf(child: ChildProcess): Promise<string> {
  let out = "";
  let err = "";
  child.stdout?.on("data", (chunk) => {
    out += String(chunk);
  });
  child.stderr?.on("data", (chunk) => {
    err += String(chunk);
  });
  for (;;) {
    const url = /listens on (http:\/\/\S+)/.exec(out)?.[1];
    if (url !== undefined && out.includes("reference")) return url;
    if (child.exitCode !== null) throw new Error(err);
    await new Promise<void>((resolve) => setTimeout(resolve, 20));
  }
}

async function byCurl(url: string, method: string, headers: readonly string[], body: string | undefined) {
  const shown = headers.flatMap((header) => ["-H", header]);
  const sent = body === undefined ? [] : ["--data-binary", body];
  const args = ["-sS", "-X", method, ...shown, ...sent, "-w", "\n%{http_code}", url];
  const { stdout } = await run("curl", args, { maxBuffer: 1e8 });
  const at = stdout.lastIndexOf("\n");
  return { status: Number(stdout.slice(at + 1)), text: stdout.slice(0, at) };
}

async function byNode(url: string, method: string, headers: readonly string[], body: string | undefined) {
  const pairs = headers.map((header) => header.split(": ") as [string, string]);
  const sending = request(url, { method, headers: Object.fromEntries(pairs) });
  sending.end(body);
  const [answer] = await once(sending, "response");
  let text = "";
  for await (const chunk of answer) text += String(chunk);
  return { status: Number(answer.statusCode), text };
}

function callTo(url: string, key: string | undefined): Call {
  const ask = HAS_CURL ? byCurl : byNode;
  return async (method, path, body) => {
    const sent = body === undefined ? undefined : JSON.stringify(body);
    const headers = [
      ...(key === undefined ? [] : [`Authorization: Bearer ${key}`]),
      ...(sent === undefined ? [] : ["Content-Type: application/json"]),
    ];
    const { status, text } = await ask(`${url}${path}`, method, headers, sent);
    return { status, body: JSON.parse(text) as Record<string, unknown> };
  };
}

export function serving(t: Pick<TestContext, "after">, ...flags: readonly string[]): Promise<Serving> {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-curl-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return servingIn(t, folder, ...flags);
}

/** On a folder that may hold what another one left. */
export async function servingIn(
  t: Pick<TestContext, "after">,
  folder: string,
  ...flags: readonly string[]
): Promise<Serving> {
  const env = environment(folder);
  const data = ["--data", join(folder, "data")];
  const child = spawn(process.execPath, [BIN, "serve", "--port", "0", ...data, ...flags], {
    env,
    cwd: folder,
  });
  t.after(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGTERM");
    await once(child, "exit");
  });
  const url = await urlOf(child);
  return {
    url,
    child,
    as: (key) => callTo(url, key),
    async cli(...args) {
      const { stdout } = await run(process.execPath, [BIN, ...args, ...data], { env, cwd: folder });
      return stdout.trim();
    },
  };
}

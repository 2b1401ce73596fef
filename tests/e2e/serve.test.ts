import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "./program.ts";

const BIN = join(ROOT, "bin/holdpoint.mjs");
const DEFINITIONS = `export default (hp) => {
  const pay = hp.gate({ name: "pay", run: () => "paid" });
  pay({ amount: 1 }, { requestId: "pay-1", waitMs: 0 }).catch(() => undefined);
};`;

function start(folder: string, ...flags: readonly string[]) {
  const env = {
    ...process.env,
    HOLDPOINT_KEY_FILE: join(folder, "key.json"),
    HOLDPOINT_DATABASE: "",
    DATABASE_URL: "",
  };
  const args = [BIN, "serve", "--port", "0", "--data", join(folder, "data"), ...flags];
  const child = spawn(process.execPath, args, { env, cwd: folder });
  let out = "";
  let err = "";
  child.stdout.on("data", (chunk) => {
    out += String(chunk);
  });
  child.stderr.on("data", (chunk) => {
    err += String(chunk);
  });
  return { child, out: () => out, err: () => err };
}

async function urlOf({ child, out, err }: ReturnType<typeof start>): Promise<string> {
  for (;;) {
    const url = /listens on (http:\/\/\S+)/.exec(out())?.[1];
    if (url !== undefined && out().includes("reference")) return url;
    if (child.exitCode !== null) throw new Error(err());
    await new Promise<void>((resolve) => setTimeout(resolve, 20));
  }
}

test("holdpoint serve runs what is defined, answers, keeps no port and no process after SIGTERM", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-serve-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "definitions.ts"), DEFINITIONS);
  const running = start(folder, "--no-auth", "--definitions", "definitions.ts");
  t.after(() => running.child.kill("SIGKILL"));
  const url = await urlOf(running);
  const health = (await (await fetch(`${url}/api/health`)).json()) as { service: string };
  assert.equal(health.service, "Holdpoint");
  const { approvals } = (await (await fetch(`${url}/api/approvals`)).json()) as {
    approvals: { tool: string }[];
  };
  assert.deepEqual(
    approvals.map(({ tool }) => tool),
    ["pay"],
  );
  const stream = await fetch(`${url}/api/events`);
  running.child.kill("SIGTERM");
  const [code] = await once(running.child, "exit");
  assert.equal(code, 0, running.err());
  assert.match(await stream.text(), /event: closing/);
  await assert.rejects(fetch(`${url}/api/health`));
  for (const line of running
    .err()
    .split("\n")
    .filter((text) => text.startsWith("{")))
    JSON.parse(line);
});

test("settings that cannot be used are named all at once, and nothing is started", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-serve-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const running = start(folder, "--log", "loud", "--allow-host", "a b");
  const [code] = await once(running.child, "exit");
  assert.equal(code, 2);
  for (const flag of ["--log", "--allow-host"]) assert.ok(running.err().includes(flag), running.err());
  const exposed = start(folder, "--no-auth", "--host", "0.0.0.0");
  const [refused] = await once(exposed.child, "exit");
  assert.equal(refused, 2);
  assert.match(exposed.err(), /loopback/);
});

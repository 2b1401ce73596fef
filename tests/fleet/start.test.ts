/** A server without definitions, a worker that has them, and a terminal with neither: work posted by its name. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { createClient } from "../../src/client/client.ts";
import { until } from "../fixtures/until.ts";
import { type Fleet, openFleet } from "./nodes.ts";

const CLI = join(import.meta.dirname, "../../bin/holdpoint.mjs");

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}

async function serverOf(fleet: Fleet): Promise<string> {
  const port = await freePort();
  const node = fleet.start(CLI, "serve", "--database", fleet.server.url, "--port", String(port), "--no-auth");
  const url = `http://127.0.0.1:${port}`;
  const isUp = async () => (await fetch(`${url}/api/ready`).catch(() => undefined))?.ok || undefined;
  await until(isUp, `the server: ${node.said()}`);
  return url;
}

async function cli(fleet: Fleet, ...args: readonly string[]) {
  const env = { ...process.env, HOLDPOINT_KEY_FILE: fleet.keyFile };
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [CLI, ...args], {
      cwd: fleet.folder,
      env,
    });
    return { code: 0, out: stdout, err: stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, out: stdout, err: stderr };
  }
}

test("what a server has no definition of is posted there by its name, and run by whoever has it", {
  timeout: 120_000,
}, async (t) => {
  const fleet = await openFleet(t);
  const url = await serverOf(fleet);
  const client = createClient({ server: url });
  const input = { n: 1, folder: fleet.folder };
  const early = await client.workflows.startByName("errand", {
    by: "person:ann",
    input,
    request_id: "early",
  });
  assert.partialDeepStrictEqual(early, { status: "initialized", is_new: true, nodes: 0 });

  const worker = await fleet.worker();
  await client.workflows.wait(early.workflow_id, { hold_seconds: 25 });
  const done = await client.workflows.get(early.workflow_id);
  assert.partialDeepStrictEqual(done, { status: "completed", result: { n: 1 }, agent: "agent:server" });
  assert.partialDeepStrictEqual(done.parties, { poster: "person:ann" });

  const again = await client.workflows.startByName("errand", {
    by: "person:ann",
    input,
    request_id: "early",
  });
  assert.partialDeepStrictEqual(again, { workflow_id: early.workflow_id, is_new: false, nodes: 1 });

  writeFileSync(join(fleet.folder, "input.json"), JSON.stringify({ n: 2, folder: fleet.folder }));
  const there = await cli(fleet, "start", "errand", "--input", "@input.json", "--wait", "--server", url);
  assert.equal(there.code, 0, there.err);
  assert.deepEqual(JSON.parse(there.out), { n: 2 });
  assert.match(
    there.err,
    /Started: wf_\w+, "errand"\.\nA node that has the definition takes it up: 1 is there now\./,
  );
  const here = await cli(
    fleet,
    "start",
    "errand",
    "--input",
    "@input.json",
    "--wait",
    "--database",
    fleet.server.url,
  );
  assert.deepEqual(JSON.parse(here.out), { n: 2 });

  const { nodes } = await client.nodes.list();
  const kinds = nodes.map(({ kind, status, definitions }) => [kind, status, definitions]);
  assert.deepEqual(kinds.toSorted(), [
    ["server", "live", []],
    ["worker", "live", ["errand"]],
  ]);
  worker.signal("SIGKILL");
  await worker.ended();
  await until(async () => {
    const { out } = await cli(fleet, "nodes", "--database", fleet.server.url);
    return /\tlapsed\tworker\t/.test(out) ? true : undefined;
  }, "the dead worker to be lapsed");
});

// A tenant that is closed while servers and workers run: they leave it, and nothing goes on in it.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { approvalStream } from "../../src/kernel/stream.ts";
import { readState } from "../../src/runtime/store-access.ts";
import { startWorker } from "../../src/work.ts";
import { addPerson, issueApiKey } from "../fixtures/people.ts";
import { type Answered, type Bench, SETTINGS, serverBench } from "../fixtures/server.ts";

const by = "person:root";
const ok = ({ status, body, text }: Answered): Record<string, unknown> => {
  assert.ok(status < 300, text);
  return body;
};

type Post = (path: string, body: object) => Promise<Record<string, unknown>>;

const posting =
  ({ ask }: Bench, headers: Record<string, string>): Post =>
  async (path, body) =>
    ok(await ask(path, { method: "POST", headers, body }));

const bearer = (text: string) => ({ authorization: `Bearer ${text}` });

async function until(what: string, look: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 3_000; tries++) {
    if (await look()) return;
    await new Promise<void>((resolve) => setTimeout(resolve, 10));
  }
  assert.fail(`${what} does not come`);
}

/** A workflow of the tenant that waits for people until its time is over. */
async function asking(bench: Bench, tenant: string, seconds: number) {
  const { runtime } = await bench.server.office(tenant);
  const agent = { principal: "agent:driver", name: "k", roles: ["executor", "poster"] as const, by };
  const headers = bearer((await issueApiKey(runtime, agent)).text);
  const post = posting(bench, headers);
  const checkpoints = [{ name: "look", timeout_seconds: seconds }];
  const { workflow_id } = await post("/api/workflows", { name: "flow", checkpoints });
  await post(`/api/workflows/${String(workflow_id)}/start`, {});
  const stood = await post(`/api/workflows/${String(workflow_id)}/checkpoints`, {
    checkpoint_id: "look",
    summary: "s",
  });
  return { headers, approval: String(stood["approval_id"]) };
}

test("servers and workers leave a tenant that was closed: its approvals do not expire, its held requests are answered 401", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-closed-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const bench = await serverBench(t, { noAuth: false, folder });
  const { runtime: home } = await bench.server.office();
  await addPerson(home, { person: by, roles: ["admin"], by });
  const admin = bearer((await issueApiKey(home, { principal: by, name: "root", by })).text);
  const root = posting(bench, admin);
  await root("/api/tenants", { name: "acme", admin: "person:zoe" });
  const worker = await startWorker({
    settings: { ...SETTINGS, data: join(folder, "data"), log: "off" },
    ...{ version: "9.9.9", log: () => undefined, keyFile: join(folder, "key.json") },
  });
  t.after(() => worker.close());
  const offices = [await bench.server.office("acme"), await worker.tenants.of("acme")];
  const { headers, approval } = await asking(bench, "acme", 8);
  const due = Date.now() + 8_000;
  const held = bench.ask(`/api/approvals/${approval}/wait?hold_seconds=25`, { headers });
  await until("the request that waits", async () => {
    const { text } = await bench.ask("/metrics", { headers: admin });
    return /^holdpoint_held_requests 1$/m.test(text);
  });

  await root("/api/tenants/acme/close", { reason: "moved away" });
  for (const { runtime } of offices) await until("the end of an office", () => runtime.closing.aborted);
  assert.equal((await held).status, 401);
  assert.equal((await bench.ask("/api/session", { headers })).status, 401);
  for (const tenants of [bench.server.office, worker.tenants.of])
    await assert.rejects(tenants("acme"), { code: "tenant_closed" });
  assert.ok(!home.closing.aborted, "home is not left");

  await until("the end of its time", () => Date.now() > due + 2_000);
  const { status } = await readState({ store: home.store, tenant: "acme" }, approvalStream(approval));
  assert.equal(status, "pending");
});

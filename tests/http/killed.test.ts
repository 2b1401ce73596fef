// The server is killed while a workflow goes back: its agent is asked once, by whichever server is there.
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { type Call, type Said, servingIn } from "./serving.ts";

const DEFINITIONS = `export default (hp) => hp.remote.tool({ name: "book", policy: "approve", undo: true });`;
const FLAGS = ["--no-auth", "--definitions", "definitions.ts"];

const ok = ({ status, body }: Said): Record<string, unknown> => {
  assert.ok(status < 300, JSON.stringify(body));
  return body;
};

async function sentBack(call: Call): Promise<string> {
  const creation = { name: "Trip", checkpoint_names: ["Plan"], poster_id: "ann", executor_id: "travel" };
  const id = String(ok(await call("POST", "/api/workflows", creation))["workflow_id"]);
  ok(await call("POST", `/api/workflows/${id}/start`));
  for (const hotel of [1, 2]) {
    const proposal = { tool: "book", args: { hotel } };
    const permit = ok(await call("POST", `/api/workflows/${id}/actions`, proposal));
    ok(await call("POST", `/api/actions/${String(permit["action_id"])}/outcome`, { status: "applied" }));
  }
  const stood = ok(await call("POST", `/api/workflows/${id}/checkpoints`, { checkpoint_id: "Plan" }));
  const request = {
    request_id: stood["approval_id"],
    decision: "REJECTED",
    rationale: "no",
    approved_by: "bob",
  };
  ok(await call("POST", "/api/approvals/submit", request));
  return id;
}

async function intentsOf(call: Call): Promise<readonly Record<string, unknown>[]> {
  const { intents } = ok(await call("GET", "/api/intents?to=agent:travel&order=oldest"));
  return intents as readonly Record<string, unknown>[];
}

async function asked(call: Call, count: number): Promise<readonly Record<string, unknown>[]> {
  for (let look = 0; look < 1_000; look++) {
    const found = await intentsOf(call);
    if (found.length >= count) return found;
    await new Promise<void>((resolve) => setTimeout(resolve, 20));
  }
  return assert.fail("the agent is not asked");
}

/** Takes back what is to be taken back now. */
async function takeBack(call: Call, id: string): Promise<void> {
  const { compensations } = ok(await call("GET", `/api/workflows/${id}/compensations`));
  const [first] = compensations as { undoes: string }[];
  const permit = ok(await call("POST", `/api/workflows/${id}/compensations/${first?.undoes}/start`));
  ok(await call("POST", `/api/actions/${String(permit["action_id"])}/outcome`, { status: "applied" }));
}

test("a server that is killed on the way back leaves nothing unasked, and nothing asked twice", {
  timeout: 240_000,
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-killed-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "definitions.ts"), DEFINITIONS);
  const kill = async ({ child }: Awaited<ReturnType<typeof servingIn>>) => {
    child.kill("SIGKILL");
    await once(child, "exit");
  };
  const first = await servingIn(t, folder, ...FLAGS);
  const id = await sentBack(first.as());
  await kill(first);
  const second = await servingIn(t, folder, ...FLAGS);
  assert.equal((await asked(second.as(), 1)).length, 1);
  await kill(second);
  const third = await servingIn(t, folder, ...FLAGS);
  await asked(third.as(), 1);
  await takeBack(third.as(), id);
  await kill(third);
  const last = await servingIn(t, folder, ...FLAGS);
  await asked(last.as(), 2);
  await takeBack(last.as(), id);
  const workflow = ok(await last.as()("GET", `/api/workflows/${id}`));
  assert.deepEqual([workflow["status"], workflow["attempt"]], ["executing", 2]);
  assert.deepEqual(
    (await intentsOf(last.as())).map(({ lifecycle_status: status }) => status),
    ["COMPLETED", "COMPLETED"],
  );
});

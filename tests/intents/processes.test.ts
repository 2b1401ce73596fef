/** Intents between processes on the real store: restarted, and killed where they stand. */
import assert from "node:assert/strict";
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { describe, test } from "node:test";
import { type Folder, temporaryFolder } from "../fixtures/folder.ts";

type Child = { readonly process: ChildProcessByStdio<null, Readable, null>; next(): Promise<string> };

function start(folder: Folder, program: string, ...more: readonly string[]): Child {
  const path = new URL(`./${program}.ts`, import.meta.url).pathname;
  const child = spawn(process.execPath, [path, folder.path, folder.keyFile, ...more], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { process: child, next: async () => String((await lines.next()).value) };
}

async function kill({ process: child }: Child): Promise<void> {
  child.kill("SIGKILL");
  await once(child, "exit");
}

describe("an intent between two processes", () => {
  test("that are both killed is sent once, handed over again, and answered", async (context) => {
    const folder = temporaryFolder(context);
    const sender = start(folder, "sender");
    const id = await sender.next();
    const recipient = start(folder, "recipient", "listen");
    assert.equal(await recipient.next(), id);
    await kill(sender);
    await kill(recipient);
    const again = start(folder, "sender");
    assert.equal(await again.next(), id);
    const answering = start(folder, "recipient", "answer");
    assert.equal(await answering.next(), id);
    assert.deepEqual(JSON.parse(await again.next()), {
      status: "completed",
      intent: id,
      data: { sorted: 12 },
    });
    const hp = folder.open();
    const types = (await hp.journal.read(id)).map(({ type }) => type);
    assert.deepEqual(types, ["intent.sent", "intent.delivered", "intent.acknowledged", "intent.completed"]);
    assert.equal((await hp.intents.list()).items.length, 1);
    assert.equal((await hp.journal.verify()).ok, true);
  });

  test("is decided by a person while nobody runs, and seen at once by whoever waits then", async (context) => {
    const folder = temporaryFolder(context);
    const first = folder.open({ agent: "deployer" });
    const sent = await first.intents.send({
      intentType: "human_approval",
      toAgent: "agent://approver",
      payload: { task: "Deploy", secret: "x".repeat(100_000) },
      withinMs: 604_800_000,
    });
    await first.close();
    const desk = folder.open({ agent: "desk" });
    await desk.approvals.approve(sent.approval ?? "", { by: "person:ann", edit: { task: "Deploy half" } });
    await desk.close();
    const after = folder.open({ agent: "deployer" });
    const waited = await after.intents.waitFor(sent.id, { timeoutSeconds: 0 });
    const data = waited.status === "completed" ? waited.data : assert.fail();
    assert.partialDeepStrictEqual(data, {
      approved: true,
      decision: "modified",
      modifications: { task: "Deploy half", secret: "x".repeat(100_000) },
    });
    await after.journal.rebuildViews();
    assert.equal((await after.intents.list({ status: "completed" })).items.length, 1);
  });

  test("two who answer at the same time: one stands, on the real store", async (context) => {
    const folder = temporaryFolder(context);
    const [one, two] = [folder.open({ agent: "doer" }), folder.open({ agent: "doer" })];
    for (let round = 0; round < 5; round++) {
      const { id } = await one.intents.send({
        intentType: "task",
        toAgent: "agent://doer",
        payload: { round },
      });
      const ended = await Promise.allSettled([
        one.intents.answer(id, { data: 1 }),
        two.intents.answer(id, { failed: "no" }),
      ]);
      assert.deepEqual(ended.map(({ status }) => status).toSorted(), ["fulfilled", "rejected"]);
      assert.notEqual((await one.intents.get(id)).end, null);
    }
  });
});

/** The same on the real store, by processes that are killed. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync } from "node:fs";
import path from "node:path";
import { describe, type TestContext, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { admin } from "../../src/admin.ts";
import type { Holdpoint } from "../../src/index.ts";
import { type Folder, temporaryFolder } from "../fixtures/folder.ts";
import { startReceiver } from "./receiver.ts";
import { readMail, startMailServer } from "./smtp-receiver.ts";

const PROGRAM = path.join(import.meta.dirname, `delivers${path.extname(import.meta.filename)}`);
const ANN = { by: "person:ann" };

function startProgram(
  context: TestContext,
  { path: folder, keyFile }: Folder,
  timeoutMs = 15_000,
): ChildProcess {
  const child = spawn(process.execPath, ["--no-warnings", PROGRAM, folder, keyFile, String(timeoutMs)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  context.after(() => void child.kill("SIGKILL"));
  return child;
}

async function until(look: () => Promise<boolean>): Promise<void> {
  for (let round = 0; round < 3_000; round++) {
    if (await look()) return;
    await setTimeout(10);
  }
  throw new Error("it did not come about");
}

const asker = (hp: Holdpoint) => {
  const tool = hp.gate({ name: "payments.refund", policy: "escalate", run: (_: { n: number }) => "done" });
  return (n: number) => tool({ n }, { waitMs: 0, requestId: `r${n}` });
};

describe("on SQLite", () => {
  test("a process killed between sending and writing it down: sent again by the next, with the same id", async (context) => {
    const folder = temporaryFolder(context);
    const hp = folder.open();
    const receiver = await startReceiver(context);
    await admin(hp).endpoints.add({ url: receiver.url, events: ["approval.requested"], ...ANN });
    await asker(hp)(1);
    const dying = startProgram(context, folder, 500);
    receiver.answer = () => {
      if (receiver.got.length === 1) dying.kill("SIGKILL");
      return 200;
    };
    await once(dying, "exit");
    assert.equal(receiver.got.length, 1);
    assert.equal(await admin(hp).messages.count("waiting"), 1);
    startProgram(context, folder, 500);
    await until(async () => (await admin(hp).messages.count("delivered")) === 1);
    const [first, second] = receiver.got;
    assert.equal(receiver.got.length, 2);
    assert.equal(second?.id, first?.id);
    assert.equal(second?.body, first?.body);
    assert.equal((await hp.journal.verify()).ok, true);
  });

  test("two processes, one of them killed over and over: everything arrives, and nothing is with both", async (context) => {
    const folder = temporaryFolder(context);
    const hp = folder.open();
    const receiver = await startReceiver(context);
    const open = new Map<string, number>();
    let most = 0;
    receiver.answer = async ({ id }) => {
      open.set(id, (open.get(id) ?? 0) + 1);
      most = Math.max(most, open.get(id) ?? 0);
      await setTimeout(5);
      open.set(id, (open.get(id) ?? 0) - 1);
      return 200;
    };
    await admin(hp).endpoints.add({ url: receiver.url, events: ["approval.requested"], ...ANN });
    const ask = asker(hp);
    startProgram(context, folder, 500);
    for (let n = 0; n < 24; n++) {
      if (n % 8 === 0) {
        const dying = startProgram(context, folder, 500);
        await receiver.reached(n);
        dying.kill("SIGKILL");
      }
      await ask(n);
    }
    await until(async () => (await admin(hp).messages.count("delivered")) === 24);
    assert.equal(new Set(receiver.got.map(({ id }) => id)).size, 24);
    assert.equal(most, 1);
  });

  test("what was approved with changes is told with the changed arguments, what was asked with its own", async (context) => {
    const folder = temporaryFolder(context);
    const hp = folder.open();
    const receiver = await startReceiver(context);
    await admin(hp).endpoints.add({ url: receiver.url, events: ["approval.*"], ...ANN });
    await asker(hp)(900);
    const [asked] = (await hp.approvals.list()).items;
    await hp.approvals.approve(asked?.id ?? "", { ...ANN, edit: { n: 9 } });
    startProgram(context, folder);
    await until(async () => receiver.got.length >= 3);
    const told = receiver.got.map(({ payload: { type, data } }) => [type, data["arguments"]]);
    assert.deepEqual(new Map(told as [string, unknown][]).get("approval.requested"), { n: 900 });
    assert.deepEqual(new Map(told as [string, unknown][]).get("approval.modified"), { n: 9 });
    const revised = receiver.got.find(({ payload }) => payload.type === "approval.revised")?.payload.data;
    const { binding } = await hp.approvals.get(asked?.id ?? "");
    assert.partialDeepStrictEqual(revised, { arguments: { n: 9 }, by: ANN.by, binding });
    const digests = receiver.got.map(({ payload }) => payload.data["arguments_digest"]);
    assert.equal(new Set(digests).size, 2);
  });

  test("a copy of a store tells nobody anything", async (context) => {
    const folder = temporaryFolder(context);
    const hp = folder.open();
    const receiver = await startReceiver(context);
    receiver.answer = () => 500;
    await admin(hp).endpoints.add({ url: receiver.url, events: ["approval.requested"], ...ANN });
    const over = new AbortController();
    const delivering = admin(hp).deliver(over.signal, { allowPrivate: true });
    await asker(hp)(1);
    await receiver.reached(1);
    over.abort();
    await delivering;
    await hp.close();
    const copy = `${folder.path}-copy`;
    cpSync(folder.path, copy, { recursive: true });
    const other = folder.open({ folder: copy });
    await assert.rejects(admin(other).deliver(AbortSignal.timeout(60_000), { allowPrivate: true }), {
      code: "store_restored",
    });
    await setTimeout(100);
    assert.equal(receiver.got.length, 1);
  });

  test("mails of checkpoints and questions show their cards", async (context) => {
    const folder = temporaryFolder(context);
    const hp = folder.open();
    const server = await startMailServer(context);
    await admin(hp).endpoints.add({
      to: ["ann@example.com"],
      events: ["approval.requested", "workflow.*"],
      ...ANN,
    });
    const over = new AbortController();
    const options = {
      smtpUrl: server.url,
      mailFrom: "holdpoint@example.com",
      publicUrl: "https://hp.example/x/",
    };
    const delivering = admin(hp).deliver(over.signal, options);
    const flow = hp.workflow("trip", async (ctx, _: object) => {
      await ctx.checkpoint("book it", { outputs: { price: 7 } });
      return ctx.ask("how many\u202e", "How many seats?");
    });
    const run = await flow.start({});
    await until(async () => server.got.length === 1);
    const first = readMail(server.got[0] ?? assert.fail());
    assert.match(first.text, /Checkpoint "book it" of the workflow "trip"/);
    assert.match(first.text, /price: 7/);
    assert.doesNotMatch(first.text, /npx/);
    const { items } = await hp.approvals.list();
    assert.ok(first.text.includes(`Open: https://hp.example/x/approvals/${items[0]?.id}\n`));
    await hp.approvals.approve(String(items[0]?.id), ANN);
    await until(async () => server.got.length === 2);
    const second = readMail(server.got[1] ?? assert.fail());
    assert.equal(second.headers.get("subject"), "[Holdpoint] Approval needed: how many\\u202e");
    assert.match(second.text, /A question of the workflow "trip"/);
    const [question] = (await hp.approvals.list()).items;
    await hp.approvals.approve(String(question?.id), { ...ANN, edit: 3 });
    await run.result();
    await until(async () => server.got.length === 3);
    assert.match(server.got[2]?.raw ?? "", /Workflow completed: trip/);
    over.abort();
    await delivering;
  });
});

/**
 * Stores that 0.1.0 wrote, opened by this version: everything that waits is carried on. The program of 0.1.0 itself writes
 * them, from its archived sources; one more was written when 0.1.0 was released.
 */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { type Holdpoint, holdpoint, type Notice } from "../../src/index.ts";
import { openConfiguredStore } from "../../src/open.ts";
import { startPostgres } from "../fixtures/postgres-server.ts";
import { serverBench } from "../fixtures/server.ts";
import { type Receiver, startReceiver } from "../messages/receiver.ts";
import { installProgram, unpack } from "./archive.ts";
import {
  ANN,
  carryOnApprovals,
  carryOnCopy,
  carryOnEffects,
  carryOnErrands,
  carryOnIdentities,
  carryOnMessages,
  carryOnRunning,
  checkEffects,
  checkEnd,
  checkViews,
  type Hands,
  type Left,
} from "./carry-on.ts";
import { carryOnOutside } from "./carry-on-outside.ts";
import { definePresent } from "./present.ts";

const WRITER = join(import.meta.dirname, "0.1.0/write.ts");
type Where = { readonly folder: string } | { readonly database: string };

type Site = {
  readonly root: string;
  readonly keyFile: string;
  readonly log: string;
  readonly receiver: Receiver;
};

async function site(t: TestContext): Promise<Site> {
  const root = mkdtempSync(join(tmpdir(), "holdpoint-upgrade-"));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const receiver = await startReceiver(t);
  receiver.answer = () => 503;
  return { root, keyFile: join(root, "key.json"), log: join(root, "ran.log"), receiver };
}

async function heard(child: ChildProcess): Promise<Left> {
  let said = "";
  let wrong = "";
  child.stderr?.on("data", (part: Buffer) => {
    wrong += part.toString();
  });
  for await (const part of child.stdout ?? []) {
    said += String(part);
    const line = /^waiting (.*)$/m.exec(said)?.[1];
    if (line !== undefined && said.endsWith("\n")) return JSON.parse(line) as Left;
  }
  throw new Error(`the program of 0.1.0 ended: ${said}${wrong}`);
}

/** Written by 0.1.0 in a process of its own, which is killed while effects are under way. */
async function writeAndDie({ root, keyFile, log, receiver }: Site, store: Where): Promise<Left> {
  const program = installProgram("0.1.0", join(root, "program"));
  const options = { store, keyFile, log, receiver: receiver.url, dies: true };
  const child = spawn(process.execPath, [WRITER, program, JSON.stringify(options)], { stdio: "pipe" });
  const gone = once(child, "exit");
  try {
    return await heard(child);
  } finally {
    child.kill("SIGKILL");
    await gone;
  }
}

async function carryOnAll(hands: Hands): Promise<void> {
  await carryOnApprovals(hands);
  await carryOnEffects(hands);
  await carryOnOutside(hands);
  await carryOnErrands(hands);
  await carryOnMessages(hands);
  await carryOnRunning(hands);
}

async function carryOnTenant(hp: Holdpoint, { acme }: Left, ran: (line: string) => void): Promise<void> {
  const { pay } = definePresent(hp, () => ran("pay of acme"));
  await hp.approvals.approve(acme, ANN);
  assert.equal((await pay({ requestId: "of acme" }, { requestId: "of acme" })).status, "done");
  await hp.close();
}

async function carryOn({ root, keyFile, log, receiver }: Site, where: Where, left: Left): Promise<void> {
  receiver.answer = () => 204;
  const ran = (line: string) => appendFileSync(log, `${line}\n`);
  const notices: Notice[] = [];
  const notify = (notice: Notice) => void notices.push(notice);
  const common = { ...where, keyFile, agent: "writer", notify };
  const hp = holdpoint(common);
  const ends: (() => Promise<void>)[] = [() => hp.close()];
  try {
    assert.equal((await hp.restored()).why, null);
    await carryOnAll({ hp, tools: definePresent(hp, ran), left });
    await carryOnTenant(holdpoint({ ...common, tenant: "acme" }), left, ran);
    const settings = "folder" in where ? {} : { database: where.database };
    const after = (end: () => unknown) => void ends.unshift(async () => void (await end()));
    await carryOnIdentities(await serverBench({ after }, { ...settings, folder: root, noAuth: false }), left);
    await checkEnd(hp, root, notices);
  } finally {
    for (const end of ends) await end();
  }
  checkEffects(log, "in place");
  const store = await openConfiguredStore(where);
  for (const tenant of ["default", "acme"]) await checkViews(store, tenant);
  await store.close();
}

describe("a store of 0.1.0", { concurrency: 2 }, () => {
  test("everything that 0.1.0 left waiting in a file is carried on in place, once", {
    timeout: 120_000,
  }, async (t) => {
    const place = await site(t);
    const where = { folder: join(place.root, "data") };
    await carryOn(place, where, await writeAndDie(place, where));
  });

  test("everything that 0.1.0 left waiting in PostgreSQL is carried on, once", {
    timeout: 120_000,
  }, async (t) => {
    const server = await startPostgres();
    t.after(() => server.stop());
    const place = await site(t);
    const where = { database: server.url };
    await carryOn(place, where, await writeAndDie(place, where));
  });

  /** A copy counts as restored: what was open is settled, and questions that nobody had decided stay. */
  test("a copy of a store that 0.1.0 wrote is read whole, taken on as a restored one, and goes on", {
    timeout: 120_000,
  }, async (t) => {
    const { root, keyFile, log } = await site(t);
    unpack(join(import.meta.dirname, "0.1.0/store.br"), root);
    const left = JSON.parse(readFileSync(join(root, "left.json"), "utf8")) as Left;
    const notices: Notice[] = [];
    const notify = (notice: Notice) => void notices.push(notice);
    const hp = holdpoint({ folder: join(root, "data"), keyFile, agent: "writer", notify });
    try {
      const tools = definePresent(hp, (line) => appendFileSync(log, `${line}\n`));
      await assert.rejects(tools.pay({ requestId: "pending" }, { requestId: "pending", waitMs: 0 }), {
        code: "store_restored",
      });
      assert.deepEqual((await hp.journal.verify()).findings, []);
      const { incarnation: _, ...settled } = await hp.acknowledgeRestore({ ...ANN, reason: "a copy" });
      const counts = { epochs: 0, workflows: 6, inDoubt: 1, refused: 3, waiting: 9, grants: 1 };
      assert.deepEqual(settled, counts);
      await carryOnCopy({ hp, tools, left });
      await checkEnd(hp, root, notices);
    } finally {
      await hp.close();
    }
    checkEffects(log, "in a copy");
    const store = await openConfiguredStore({ folder: join(root, "data") });
    for (const tenant of ["default", "acme"]) await checkViews(store, tenant);
    await store.close();
  });
});

/**
 * Stores that 0.1.0 wrote, opened by this version: everything that waits is carried on. The program of 0.1.0 itself writes
 * them, from its archived sources; one more was written when 0.1.0 was released.
 */
import assert from "node:assert/strict";
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { holdpoint, type Notice } from "../../src/index.ts";
import { openConfiguredStore } from "../../src/open.ts";
import { startPostgres } from "../fixtures/postgres-server.ts";
import { installProgram, unpack } from "./archive.ts";
import { ANN, carryOnCopy, checkEffects, checkEnd } from "./carry-on.ts";
import type { Left } from "./left.ts";
import { checkRebuiltLists } from "./lists.ts";
import { definePresent } from "./present/definitions.ts";
import { carryOn, type Site, site, type Where, writeAndDie } from "./upgrade.ts";

const WRITER = join(import.meta.dirname, "0.1.0/write.ts");

const leave = (place: Site, where: Where): Promise<Left> =>
  writeAndDie(place, where, [WRITER, installProgram("0.1.0", join(place.root, "program"))]);

describe("a store of 0.1.0", { concurrency: 2 }, () => {
  test("everything that 0.1.0 left waiting in a file is carried on in place, once", {
    timeout: 120_000,
  }, async (t) => {
    const place = await site(t);
    const where = { folder: join(place.root, "data") };
    await carryOn(place, where, await leave(place, where));
  });

  test("everything that 0.1.0 left waiting in PostgreSQL is carried on, once", {
    timeout: 120_000,
  }, async (t) => {
    const server = await startPostgres();
    t.after(() => server.stop());
    const place = await site(t);
    const where = { database: server.url };
    await carryOn(place, where, await leave(place, where));
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
      await checkEnd({ hp, left }, root, notices);
    } finally {
      await hp.close();
    }
    checkEffects(log, "in a copy", left);
    const store = await openConfiguredStore({ folder: join(root, "data") });
    await checkRebuiltLists(store);
    await store.close();
  });
});

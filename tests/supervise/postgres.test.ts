/** Supervised runs of several processes on PostgreSQL: one budget, one grant, one approval whose preview has moved. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { type Holdpoint, holdpoint } from "../../src/index.ts";
import { pendingApproval } from "../fixtures/folder.ts";
import { type PostgresServer, startPostgres } from "../fixtures/postgres-server.ts";
import { atStep, FINAL } from "./refund.ts";

const home = mkdtempSync(join(tmpdir(), "holdpoint-supervise-"));
const opened: Holdpoint[] = [];
let server: PostgresServer;
before(async () => {
  server = await startPostgres();
});
after(async () => {
  for (const hp of opened) await hp.close();
  await server.stop();
  rmSync(home, { recursive: true, force: true });
});

function open(agent: string): Holdpoint {
  const hp = holdpoint({
    ...{ database: server.url, keyFile: join(home, "key.json"), agent },
    notify: () => undefined,
  });
  opened.push(hp);
  return hp;
}

const call = (name: string) => ({ kind: "tool", name, args: {} });
const usd = (micros: bigint) => ({ currency: "USD", micros });

describe("supervised runs in several processes on PostgreSQL", () => {
  test("take what a budget and a grant have room for, and no more", async () => {
    const places = ["a", "b", "c"].map(open);
    const [first] = places;
    assert.ok(first !== undefined);
    await first.budgets.limit("b", usd(100n));
    const done: string[] = [];
    const run = (hp: Holdpoint) => {
      const pay = hp.gate({
        name: "pay",
        policy: "approve",
        cost: () => ({ budget: "b", amount: usd(40n) }),
        run: () => void done.push("paid"),
      });
      const send = hp.gate({ name: "send", policy: "escalate", run: () => void done.push("sent") });
      const model = atStep(call("pay"), call("send"), FINAL);
      return () => hp.supervise({ goal: "g", tools: [pay, send], model, onRefusal: "continue" });
    };
    const runs = places.map(run);
    const offer = { tool: "send", uses: 1, forMs: 3_600_000, by: "person:ann", reason: "one is fine" };
    const { id } = await first.grants.give(offer);
    const ended = Promise.all(runs.map((begin) => begin()));
    for (const index of [0, 1]) await pendingApproval(first, index);
    for (const item of (await first.approvals.list()).items)
      await first.approvals.reject(item.id, { by: "person:bob", reason: "one was enough" });
    const results = await ended;
    const oks = (tool: string) =>
      results.flatMap(({ trace }) => trace).filter((row) => row.tool === tool && row.ok).length;
    assert.deepEqual([oks("pay"), oks("send"), done.toSorted()], [2, 1, ["paid", "paid", "sent"]]);
    const { spent, reserved } = await first.budgets.get("b");
    assert.deepEqual([spent, reserved, (await first.grants.get(id)).used], [80n, 0n, 1]);
    assert.equal((await first.journal.verify()).ok, true);
  });

  test("go back to people where the process that goes on sees something else than they did", async () => {
    const done: string[] = [];
    const begin = (hp: Holdpoint, shows: string) =>
      hp.supervise({
        goal: "g",
        id: "moved",
        tools: [{ name: "move", policy: "escalate", preview: () => shows, run: () => void done.push(shows) }],
        model: atStep(call("move"), FINAL),
      });
    const first = open("d");
    const left = begin(first, "as it was");
    left.catch(() => undefined);
    const old = await pendingApproval(first);
    await first.close();
    const second = open("d");
    await second.approvals.approve(old, { by: "person:ann" });
    const running = begin(second, "as it is");
    const asked = await pendingApproval(second);
    assert.notEqual(asked, old);
    assert.equal((await second.approvals.get(asked)).preview?.value, "as it is");
    assert.deepEqual(done, []);
    await second.approvals.approve(asked, { by: "person:ann" });
    assert.equal((await running).stop_reason, "success");
    assert.deepEqual(done, ["as it is"]);
  });
});

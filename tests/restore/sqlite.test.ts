import assert from "node:assert/strict";
import { cpSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { admin } from "../../src/admin.ts";
import type { GatedTool, Holdpoint } from "../../src/index.ts";
import { openWitness } from "../../src/runtime/restore-guard.ts";
import { type Folder, pendingApproval, temporaryFolder } from "../fixtures/folder.ts";
import { backUp, putBack, WAYS } from "./backup.ts";

const SAID = { by: "person:ann", reason: "compared with the bank" };

type Send = GatedTool<{ to: string }, string>;
type Tools = { readonly approve: Send; readonly escalate: Send };

/** Tools that say how often they really ran, whichever instance calls them. */
function senders(ran: string[]): (hp: Holdpoint, policy?: keyof Tools) => Send {
  const made = new WeakMap<Holdpoint, Tools>();
  return (hp, policy = "approve") => {
    const make = (name: keyof Tools): Send =>
      hp.gate({
        name,
        policy: name,
        run: async (args) => {
          ran.push(args.to);
          return args.to;
        },
      });
    const tools = made.get(hp) ?? { approve: make("approve"), escalate: make("escalate") };
    made.set(hp, tools);
    return tools[policy];
  };
}

async function used(
  context: TestContext,
): Promise<{ folder: Folder; ran: string[]; gate: ReturnType<typeof senders> }> {
  const folder = temporaryFolder(context);
  const ran: string[] = [];
  const gate = senders(ran);
  const hp = folder.open();
  await gate(hp)({ to: "a" }, { requestId: "a" });
  await hp.close();
  return { folder, ran, gate };
}

test("a store that was moved is the same store", async (t) => {
  const { folder, gate, ran } = await used(t);
  const elsewhere = `${folder.path}-moved`;
  renameSync(folder.path, elsewhere);
  const hp = folder.open({ folder: elsewhere });
  assert.equal((await hp.restored()).why, null);
  assert.equal((await gate(hp)({ to: "b" }, { requestId: "b" })).status, "done");
  assert.deepEqual(ran, ["a", "b"]);
});

test("a copied folder lets nothing start and is read all the same; the original goes on", async (t) => {
  const { folder, gate, ran } = await used(t);
  const copy = `${folder.path}-copy`;
  cpSync(folder.path, copy, { recursive: true });
  const hp = folder.open({ folder: copy });
  const files = () => readdirSync(copy).toSorted();
  const before = files();
  await assert.rejects(
    gate(hp)({ to: "b" }, { requestId: "b" }),
    (error: Error & { what?: string; code?: string }) => {
      assert.equal(error.code, "store_restored");
      assert.match(error.what ?? "", /not where it was last used \(its inode is \d+ and was \d+/);
      assert.match(
        error.message,
        /Nothing was started, and nothing was changed.*holdpoint restored --acknowledge/,
      );
      return true;
    },
  );
  await assert.rejects(hp.recover(), { code: "store_restored" });
  await assert.rejects(admin(hp).seals.create(), { code: "store_restored" });
  assert.equal(await hp.actions.count("applied"), 1);
  assert.equal((await hp.journal.verify()).ok, true);
  assert.match((await hp.restored()).why ?? "", /not where it was/);
  await hp.close();
  assert.deepEqual(
    files(),
    before.filter((name) => !/-(wal|shm)$/.test(name)),
  );
  const original = folder.open();
  assert.equal((await gate(original)({ to: "c" }, { requestId: "c" })).status, "done");
  assert.deepEqual(ran, ["a", "c"]);
});

for (const way of WAYS)
  test(`an older backup, put back by ${way}, is recognised and taken on once`, async (t) => {
    const { folder, gate, ran } = await used(t);
    const backup = `${folder.path}-backup`;
    backUp(folder.path, backup);
    const inode = () => statSync(join(folder.path, "journal.db")).ino;
    const before = inode();
    const later = folder.open();
    await gate(later)({ to: "later" }, { requestId: "later" });
    await later.close();
    const place = putBack(way, folder.path, backup);
    if (way === "overwrite") assert.equal(inode(), before);

    const hp = folder.open({ folder: place });
    await assert.rejects(gate(hp)({ to: "later" }, { requestId: "later" }), { code: "store_restored" });
    await assert.rejects(gate(hp)({ to: "later" }, { requestId: "later" }), { code: "store_restored" });
    const found = await hp.restored();
    assert.notEqual(found.why, null);
    assert.equal(typeof found.lastEntryAt, "number");
    const done = await hp.acknowledgeRestore(SAID);
    assert.notEqual(done.incarnation, found.incarnation);
    assert.equal((await hp.restored()).why, null);
    assert.equal((await gate(hp)({ to: "a" }, { requestId: "a" })).status, "done");
    assert.equal((await gate(hp)({ to: "d" }, { requestId: "d" })).status, "done");
    assert.deepEqual(ran, ["a", "later", "d"]);
    const texts = (await hp.journal.verify()).findings;
    assert.deepEqual(texts, []);
    await hp.close();

    putBack("overwrite", place, backup);
    const again = folder.open({ folder: place });
    await assert.rejects(gate(again)({ to: "e" }, { requestId: "e" }), { code: "store_restored" });
  });

test("what was open when the backup was made does not happen again by itself", async (t) => {
  const { folder, gate, ran } = await used(t);
  const hp = folder.open();
  const gone = Promise.withResolvers<string>();
  const sent = {
    once: Promise.withResolvers<void>(),
    keyed: Promise.withResolvers<void>(),
    idempotent: Promise.withResolvers<void>(),
  };
  const slow = (from: Holdpoint, effect: "once" | "keyed" | "idempotent") =>
    from.gate({
      name: `slow-${effect}`,
      effect,
      policy: "approve",
      run: async () => {
        ran.push(effect);
        sent[effect].resolve();
        return gone.promise;
      },
    });
  const classes = ["once", "keyed", "idempotent"] as const;
  const running = classes.map((effect) => slow(hp, effect)({}, { requestId: effect }));
  await Promise.all(classes.map((effect) => sent[effect].promise));
  const ask = gate(hp, "escalate");
  await ask({ to: "given" }, { requestId: "given", waitMs: 0 });
  await hp.approvals.approve(await pendingApproval(hp), { by: "person:bob" });
  await ask({ to: "asked" }, { requestId: "asked", waitMs: 0 });
  await hp.pause({ ...SAID, agent: "tester" });
  await gate(hp)({ to: "held" }, { requestId: "held" });
  const backup = `${folder.path}-backup`;
  backUp(folder.path, backup);

  await hp.resume({ ...SAID, agent: "tester" });
  gone.resolve("done");
  await Promise.all(running);
  await ask({ to: "given" }, { requestId: "given" });
  await gate(hp)({ to: "held" }, { requestId: "held" });
  await hp.approvals.approve(await pendingApproval(hp), { by: "person:bob" });
  await ask({ to: "asked" }, { requestId: "asked" });
  await hp.close();
  const happened = [...ran];

  putBack("overwrite", folder.path, backup);
  const back = folder.open();
  assert.deepEqual((await back.restored()).open, { running: 3, approved: 1, open: 1, waiting: 1 });
  const done = await back.acknowledgeRestore(SAID);
  assert.deepEqual(
    { ...done, incarnation: "" },
    { incarnation: "", epochs: 1, workflows: 0, inDoubt: 3, refused: 2, waiting: 1, grants: 0 },
  );
  await back.resume({ ...SAID, agent: "tester" });
  for (const effect of classes)
    assert.equal((await slow(back, effect)({}, { requestId: effect })).status, "in_doubt");
  const askAgain = gate(back, "escalate");
  const codes: unknown[] = [];
  for (const [tool, to] of [
    [askAgain, "given"],
    [gate(back), "held"],
    [askAgain, "asked"],
  ] as const) {
    const answer = await tool({ to }, { requestId: to, waitMs: 0 });
    codes.push("code" in answer ? answer.code : answer.status);
  }
  assert.deepEqual(codes, ["lapsed", "lapsed", "pending"]);
  assert.deepEqual(await back.recover(), { retried: 0, inDoubt: 0, left: 0 });
  assert.deepEqual(ran, happened);
  assert.equal((await back.journal.verify()).ok, true);
});

test("a store of which nothing tells that it was restored is acknowledged only by who knows it", async (t) => {
  const { folder } = await used(t);
  const hp = folder.open();
  await assert.rejects(hp.acknowledgeRestore(SAID), { code: "wrong_state" });
  await assert.rejects(hp.acknowledgeRestore({ by: "agent:x", reason: "no" }), { code: "invalid_input" });
  assert.equal((await hp.acknowledgeRestore({ ...SAID, anyway: true })).epochs, 0);
});

test("a machine that never saw the store accepts it where it is; one without a witness cannot tell", async (t) => {
  const { folder, gate, ran } = await used(t);
  const backup = `${folder.path}-backup`;
  backUp(folder.path, backup);
  const later = folder.open();
  await gate(later)({ to: "later" }, { requestId: "later" });
  await later.close();
  putBack("overwrite", folder.path, backup);
  rmSync(join(folder.path, "../witness"), { recursive: true });
  const hp = folder.open();
  assert.equal((await gate(hp)({ to: "b" }, { requestId: "b" })).status, "done");
  assert.deepEqual(ran, ["a", "later", "b"]);
});

test("a store that goes back in time under a program is noticed at the next seal, and nothing starts any more", async (t) => {
  const { folder, gate, ran } = await used(t);
  const hp = folder.open();
  await gate(hp)({ to: "b" }, { requestId: "b" });
  await admin(hp).seals.create();
  // As if another process of this machine had seen what is no longer there.
  const [incarnation = ""] = readdirSync(join(folder.path, "../witness"));
  const witness = openWitness(join(folder.path, "../witness"));
  const saw = witness.last(incarnation, "default");
  assert.ok(saw);
  witness.saw(incarnation, "default", { ...saw, n: saw.n + 5 });
  await hp.pause({ ...SAID, agent: "somebody else" });
  await assert.rejects(admin(hp).seals.create(), { code: "store_restored" });
  await assert.rejects(gate(hp)({ to: "d" }, { requestId: "d" }), { code: "store_restored" });
  assert.deepEqual(ran, ["a", "b"]);
  await hp.close();
});

test("a workflow that went on since the backup does not go on from there by itself; one at a checkpoint waits", async (t) => {
  const { folder, ran } = await used(t);
  const gone = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  const declare = (hp: Holdpoint) => {
    const pay = hp.gate({
      name: "pay",
      policy: "approve",
      run: async (args: { to: string }) => {
        ran.push(args.to);
      },
    });
    const flow = hp.workflow("flow", async (ctx, input: { look: boolean }) => {
      if (input.look) await ctx.checkpoint("Look", { summary: "before it is paid", outputs: {} });
      else
        await ctx.step("slow", async () => {
          reached.resolve();
          await gone.promise;
        });
      await ctx.call(pay, { to: input.look ? "looked at" : "paid" });
    });
    return flow;
  };
  const hp = folder.open();
  const flow = declare(hp);
  const slow = flow.run({ look: false }, { requestId: "slow" });
  const looked = flow.run({ look: true }, { requestId: "looked" });
  await reached.promise;
  await pendingApproval(hp);
  const backup = `${folder.path}-backup`;
  backUp(folder.path, backup);
  gone.resolve();
  assert.equal((await slow).status, "completed");
  await hp.approvals.approve(await pendingApproval(hp), { by: "person:bob" });
  assert.equal((await looked).status, "completed");
  await hp.close();
  const happened = [...ran];

  putBack("overwrite", folder.path, backup);
  const back = folder.open();
  const again = declare(back);
  await assert.rejects(again.run({ look: false }, { requestId: "slow" }), { code: "store_restored" });
  assert.equal((await back.acknowledgeRestore(SAID)).workflows, 1);
  assert.equal((await again.run({ look: false }, { requestId: "slow" })).status, "failed");
  const still = again.run({ look: true }, { requestId: "looked" }).catch(() => undefined);
  await pendingApproval(back);
  await back.recover();
  assert.deepEqual(ran, happened);
  await back.close();
  await still;
});

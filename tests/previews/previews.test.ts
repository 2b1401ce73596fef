// Previews through the engine: what people are shown, and what happens when it has moved.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { secret } from "../../src/runtime/secrets.ts";
import { journalText, machine, type Process, pendingOf, settled } from "../fixtures/runtime.ts";

type Move = { readonly to: string; readonly key?: string };
const ANN = { by: "person:ann" };
const MOVED = "what the preview showed has moved";

/** A tool whose preview says what the test has put there. */
function mover(process: Process, shows: (args: Move) => unknown, more: object = {}) {
  const ran: Move[] = [];
  const move = process.gate<Move, string>({
    name: "move",
    preview: (args: Move) => shows(args),
    run: (args: Move) => {
      ran.push(args);
      return "moved";
    },
    ...more,
  });
  return { move, ran };
}

async function otherThan(process: Pick<Process, "approvals">, before: string): Promise<string> {
  for (let round = 0; round < 200; round++) {
    const { items } = await process.approvals.list();
    const other = items.find(({ id }) => id !== before);
    if (other !== undefined) return other.id;
    await settled(1);
  }
  throw new Error("nobody is asked anew");
}

describe("a tool with a preview", () => {
  test("shows it to people, and runs when it shows the same before the start", async () => {
    const process = machine().process();
    let looks = 0;
    const { move, ran } = mover(process, ({ to }) => ({ to, files: 3, looks: looks++ > 99 }));
    const call = move({ to: "b" }, { requestId: "r-1" });
    const id = await pendingOf(process);
    const { preview } = await process.approvals.get(id);
    assert.deepEqual(preview?.value, { to: "b", files: 3, looks: false });
    assert.equal(
      (await process.approvals.list()).items[0]?.["preview"],
      '{"files":3,"looks":false,"to":"b"}',
    );
    assert.equal(looks, 1);
    await process.approvals.approve(id, ANN);
    assert.equal((await call).status, "done");
    assert.deepEqual([ran.length, looks], [1, 2]);
    await process.close();
  });

  test("goes back to people when it has moved, as often as it does, and runs what they saw last", async () => {
    const process = machine().process();
    let files = 3;
    const { move, ran } = mover(process, () => ({ files }));
    const call = move({ to: "b" }, { requestId: "r-1" });
    let id = await pendingOf(process);
    for (const next of [4, 5]) {
      files = next;
      await process.approvals.approve(id, ANN);
      const before = id;
      id = await otherThan(process, before);
      const { status, ended } = await process.approvals.get(before);
      assert.deepEqual([status, ended?.reason], ["lapsed", MOVED]);
      assert.deepEqual((await process.approvals.get(id)).preview?.value, { files: next });
      assert.equal(ran.length, 0);
    }
    await process.approvals.approve(id, ANN);
    assert.equal((await call).status, "done");
    assert.equal(ran.length, 1);
    await process.close();
  });

  test("that has moved is not run because the policy, asked again, would let it run by now", async () => {
    const process = machine().process();
    let [files, isNight] = [3, true];
    const policy = () => ({ verdict: isNight ? "escalate" : "approve" });
    const { move, ran } = mover(process, () => ({ files }), { policy });
    const call = () => move({ to: "b" }, { requestId: "r-1", waitMs: 0 });
    await call();
    const id = await pendingOf(process);
    await process.approvals.approve(id, ANN);
    [files, isNight] = [9_000, false];
    assert.partialDeepStrictEqual(await call(), { status: "pending", code: "pending" });
    assert.deepEqual([ran, (await process.approvals.get(id)).status], [[], "lapsed"]);
    const second = await pendingOf(process);
    assert.deepEqual((await process.approvals.get(second)).preview?.value, { files: 9_000 });
    await process.approvals.approve(second, ANN);
    assert.equal((await call()).status, "done");
    await process.close();
  });

  test("shows why it failed; a failure before the start sends the action back", async () => {
    const process = machine().process();
    let down = false;
    const { move, ran } = mover(process, () => {
      if (down) throw new Error("no such host");
      return "one file";
    });
    const call = move({ to: "b" }, { requestId: "r-1" });
    const id = await pendingOf(process);
    down = true;
    await process.approvals.approve(id, ANN);
    const second = await otherThan(process, id);
    const { preview } = await process.approvals.get(second);
    assert.deepEqual([preview?.failed, preview?.value], [true, "no such host"]);
    await process.approvals.approve(second, ANN);
    assert.equal((await call).status, "done", "people were shown the failure and agreed");
    assert.equal(ran.length, 1);
    await process.close();
  });

  test("that never answers is given up at the tool's time-out, which aborts its signal", async () => {
    const { process: open, clock } = machine();
    const process = open();
    let signal: AbortSignal | undefined;
    const hangs = (_: Move, context: { readonly signal: AbortSignal }) => {
      signal = context.signal;
      return new Promise(() => undefined);
    };
    const { move } = mover(process, () => null, { preview: hangs, timeoutMs: 500 });
    const call = move({ to: "b" }, { requestId: "r-1", waitMs: 0 });
    await settled();
    await clock.advance(500);
    const answer = await call;
    assert.ok(answer.status === "pending" && answer.approval !== null);
    const { preview } = await process.approvals.get(answer.approval);
    assert.deepEqual([preview?.failed, preview?.value], [true, "no answer within 500 ms"]);
    assert.equal(signal?.aborted, true);
    await process.close();
  });

  test("sees secrets as its function does, and no secret stands in what it shows", async () => {
    const process = machine().process({ environment: { TOKEN: "hunter2-hunter2" } });
    const seen: unknown[] = [];
    const { move } = mover(process, ({ key, to }) => {
      seen.push(key);
      if (to === "c") throw new Error(`bad key ${key}`);
      return { [`with ${key}`]: key };
    });
    for (const to of ["b", "c"]) {
      const answer = await move({ to, key: secret("env:TOKEN") }, { requestId: to, waitMs: 0 });
      assert.ok(answer.status === "pending" && answer.approval !== null);
      const { preview } = await process.approvals.get(answer.approval);
      assert.match(JSON.stringify(preview?.value), /\[secret env:TOKEN\]/);
    }
    assert.deepEqual(seen, ["hunter2-hunter2", "hunter2-hunter2"]);
    assert.ok(!(await journalText(process)).includes("hunter2"));
    await process.close();
  });

  test("without the secret that it needs shows that it is missing", async () => {
    const { process: open } = machine();
    const asking = open({ environment: { TOKEN: "hunter2-hunter2" } });
    const { move } = mover(asking, () => "fine");
    const args = { to: "b", key: secret("env:TOKEN") };
    const answer = await move(args, { requestId: "r-1", waitMs: 0 });
    assert.ok(answer.status === "pending" && answer.approval !== null);
    await asking.approvals.approve(answer.approval, ANN);
    await asking.close();
    const other = open();
    const { move: again, ran } = mover(other, () => "fine");
    const later = await again(args, { requestId: "r-1", waitMs: 0 });
    assert.ok(later.status === "pending" && later.approval !== null && later.approval !== answer.approval);
    assert.match(String((await other.approvals.get(later.approval)).preview?.value), /TOKEN is not set/);
    assert.equal(ran.length, 0);
    await other.close();
  });

  test("shows large values whole, and what no JSON holds as text", async () => {
    const process = machine().process();
    const { move } = mover(process, ({ to }) => (to === "b" ? "x".repeat(100_000) : { n: 10n ** 20n }));
    const shown = async (to: string) => {
      const answer = await move({ to }, { requestId: to, waitMs: 0 });
      assert.ok(answer.status === "pending" && answer.approval !== null);
      return (await process.approvals.get(answer.approval)).preview?.value;
    };
    assert.equal(String(await shown("b")).length, 100_000);
    assert.deepEqual(await shown("c"), { n: "100000000000000000000" });
    await process.close();
  });

  test("cannot change what will run", async () => {
    const process = machine().process();
    const { move, ran } = mover(process, (args) => {
      (args as { to: string }).to = "elsewhere";
      return args;
    });
    const call = move({ to: "b" }, { requestId: "r-1" });
    await process.approvals.approve(await pendingOf(process), ANN);
    assert.equal((await call).status, "done");
    assert.deepEqual(ran, [{ to: "b" }]);
    await process.close();
  });

  for (const effect of ["read", "keyed"] as const)
    test(`of class ${effect} goes back too`, async () => {
      const process = machine().process();
      let files = 1;
      const { move, ran } = mover(process, () => files, { effect });
      const call = move({ to: "b" }, { requestId: "r-1" });
      const id = await pendingOf(process);
      files = 2;
      await process.approvals.approve(id, ANN);
      await process.approvals.approve(await otherThan(process, id), ANN);
      assert.equal((await call).status, "done");
      assert.equal(ran.length, 1);
      await process.close();
    });

  test("is not asked for one where a standing grant covers the call", async () => {
    const process = machine().process();
    const { move } = mover(process, () => assert.fail("nobody looks"));
    const terms = { tool: "move", uses: 1, forMs: 1_000, reason: "routine" };
    await process.grants.give({ ...terms, ...ANN });
    assert.equal((await move({ to: "b" }, { requestId: "r-1", waitMs: 0 })).status, "done");
    await process.close();
  });

  test("has a function for it, or says so when it is declared", () => {
    const process = machine().process();
    assert.throws(
      () => mover(process, () => null, { preview: "all of it" }),
      /preview that is not a function/,
    );
  });
});

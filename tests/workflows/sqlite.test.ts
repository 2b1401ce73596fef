/** The same on the real store: instances that close and open again on one folder. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Holdpoint } from "../../src/index.ts";
import { pendingApproval, temporaryFolder } from "../fixtures/folder.ts";

const ANN = { by: "person:ann" };

function deployment(hp: Holdpoint, done: string[]) {
  const migrate = hp.gate({
    name: "migrate",
    policy: "approve",
    effect: "idempotent",
    undo: ({ to }: { to: number }) => void done.push(`undo ${to}`),
    run: ({ to }: { to: number }) => {
      done.push(`migrate ${to}`);
      return { to };
    },
  });
  const checkpoints = [{ name: "Plan" }, { name: "Result" }];
  return hp.workflow("deploy", { checkpoints }, async (ctx, { to }: { to: number }) => {
    const { outputs } = await ctx.checkpoint("Plan", { outputs: { to }, summary: `to ${to}` });
    await ctx.call(migrate, { to: outputs.to });
    await ctx.sleep(120);
    const healthy = await ctx.step("look", () => ctx.attempt > 1);
    await ctx.checkpoint("Result", { outputs: { healthy }, summary: ctx.sentBack?.reason ?? "first try" });
    return { attempt: ctx.attempt, to: outputs.to, restored: ctx.sentBack?.restored ?? null };
  });
}

async function untilOver(hp: Holdpoint, id: string) {
  const result = await hp.workflows.result(id);
  assert.equal(result.status, "completed");
  return result.status === "completed" ? result.result : null;
}

/** Until nobody runs it and nothing is to be done. */
async function rest(hp: Holdpoint, id: string): Promise<void> {
  for (let look = 0; look < 1_000; look++) {
    const { runner, isReady, wakeAt } = await hp.workflows.get(id);
    const isDue = isReady || (wakeAt !== null && wakeAt <= Date.now());
    if (runner === null && !isDue) return;
    await new Promise<void>((resolve) => setTimeout(resolve, 5));
  }
  assert.fail("it never rests");
}

describe("on SQLite", () => {
  test("a deployment that is closed wherever it waits, edited, rejected and approved, ends as it should", async (context) => {
    const folder = temporaryFolder(context);
    const done: string[] = [];
    /** A person decides in an instance that knows no definition; the next one goes on. */
    const decide = async (choose: (hp: Holdpoint, id: string) => Promise<unknown>) => {
      const people = folder.open({ agent: "people" });
      await choose(people, await pendingApproval(people));
      await people.close();
    };
    const goOn = async (id: string) => {
      const hp = folder.open();
      deployment(hp, done);
      const over = new AbortController();
      const working = hp.work(over.signal);
      await rest(hp, id);
      over.abort();
      await working;
      await hp.close();
    };
    const first = folder.open();
    const { id } = await deployment(first, done).start({ to: 2 }, { requestId: "d" });
    await rest(first, id);
    await first.close();
    await decide((hp, one) => hp.approvals.approve(one, { ...ANN, edit: { to: 3 } }));
    await goOn(id);
    assert.deepEqual(done, ["migrate 3"]);
    for (let sleeping = true; sleeping; ) {
      await goOn(id);
      const look = folder.open({ agent: "people" });
      sleeping = (await look.workflows.get(id)).pending === null;
      await look.close();
    }
    await decide((hp, one) => hp.approvals.reject(one, { ...ANN, reason: "the tests are red" }));
    const last = folder.open();
    const flow = deployment(last, done);
    const handle = await flow.start({ to: 2 }, { requestId: "d" });
    assert.equal(handle.id, id);
    await last.approvals.approve(await pendingApproval(last), ANN);
    const result = (await untilOver(last, id)) as { restored: { outputs: unknown } };
    assert.partialDeepStrictEqual(result, { attempt: 2, to: 3, restored: { outputs: { to: 2 } } });
    assert.deepEqual(done, ["migrate 3", "undo 3", "migrate 3"]);
    const report = await last.journal.verify();
    assert.deepEqual(report.findings, []);
    await last.close();
  });

  test("a hundred workflows at once end once each, also with two instances on the folder", async (context) => {
    const folder = temporaryFolder(context);
    const ran = new Map<string, number>();
    const setUp = (hp: Holdpoint) =>
      hp.workflow("small", async (ctx, { n }: { n: number }) => {
        const key = await ctx.step("key", () => `k${n}`);
        await ctx.sleep(60 + (n % 7) * 10);
        await ctx.step("mark", { effect: "idempotent" }, () => {
          ran.set(key, (ran.get(key) ?? 0) + 1);
          return n;
        });
        return n;
      });
    const [one, two] = [folder.open(), folder.open({ agent: "other" })];
    const flow = setUp(one);
    setUp(two);
    const over = new AbortController();
    const working = two.work(over.signal);
    const handles = await Promise.all(Array.from({ length: 100 }, (_, n) => flow.start({ n })));
    const results = await Promise.all(handles.map((handle) => handle.result()));
    assert.deepEqual(
      results.map((result) => (result.status === "completed" ? result.result : null)),
      Array.from({ length: 100 }, (_, n) => n),
    );
    assert.equal(ran.size, 100);
    assert.ok([...ran.values()].every((times) => times === 1));
    over.abort();
    await working;
    await Promise.all([one.close(), two.close()]);
  });
});

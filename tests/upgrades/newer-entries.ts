/** What an older program does with a stream in which a newer one has written: it leaves it alone, and nothing else. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { admin } from "../../src/admin.ts";
import { type Holdpoint, holdpoint, type Notice } from "../../src/index.ts";
import { approvalStream, epochStream, NOTIFIER, ROSTER, workflowStream } from "../../src/kernel/stream.ts";
import { readState } from "../../src/runtime/store-access.ts";
import type { Store } from "../../src/stores/store.ts";
import { startReceiver } from "../messages/receiver.ts";
import { annotate, caseStream } from "./newer-program.ts";

const ANN = { by: "person:ann" };

export type Place = {
  readonly keyFile: string;
  older(): Promise<Store>;
  newer(): Promise<Store>;
};

async function until<Value>(what: string, look: () => Promise<Value | undefined | false>): Promise<Value> {
  for (let round = 0; round < 3_000; round++) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await sleep(10);
  }
  throw new Error(`it did not come to that: ${what}`);
}

async function program(t: TestContext, store: Store, keyFile: string) {
  const notices: Notice[] = [];
  const notify = (notice: Notice) => void notices.push(notice);
  const hp = holdpoint({ store, keyFile, agent: "tester", notify });
  t.after(() => hp.close());
  const trip = hp.workflow("trip", async (ctx) => {
    const { answered } = await ctx.ask("go", "Shall we?");
    return answered;
  });
  const refund = hp.gate({ name: "refund", policy: "escalate", run: (_: { n: number }) => "done" });
  const ask = async (n: number) => {
    const answer = await refund({ n }, { waitMs: 0, requestId: `refund ${n}` });
    return answer.status === "pending" ? String(answer.approval) : assert.fail("nobody was asked");
  };
  return { hp, notices, trip, ask };
}

const questionOf = (hp: Holdpoint, id: string) =>
  until("a question", async () => {
    const { waits, runner } = await hp.workflows.get(id);
    return runner === null && waits[0]?.kind === "question" && waits[0].on;
  });

const failures = (notices: readonly Notice[]) => notices.filter(({ kind }) => kind === "maintenance_failed");

export function newerEntries(place: (t: TestContext) => Promise<Place>): void {
  test("one workflow that a newer node has written to is left alone, which is said once; the others go on", {
    timeout: 60_000,
  }, async (t) => {
    const { keyFile, older, newer } = await place(t);
    const old = await program(t, await older(), keyFile);
    const { id } = await old.trip.start({});
    const other = await old.trip.start({});
    const [asked, otherAsked] = [await questionOf(old.hp, id), await questionOf(old.hp, other.id)];
    const young = await newer();
    const beside = await program(t, young, keyFile);
    // Read once, so that it is not only unknown but known in an older state.
    await old.hp.workflows.get(id);
    await annotate(young, workflowStream(id));
    await assert.rejects(old.hp.workflows.get(id), { code: "unknown_event", status: 503 });
    await assert.rejects(old.hp.approvals.approve(asked, ANN), { code: "unknown_event" });
    await old.hp.approvals.approve(otherAsked, ANN);
    assert.partialDeepStrictEqual(await other.result(), { status: "completed", result: true });
    for (let n = 0; n < 3; n++) await annotate(young, workflowStream(id));
    const third = await old.trip.start({});
    await old.hp.approvals.approve(await questionOf(old.hp, third.id), ANN);
    assert.partialDeepStrictEqual(await third.result(), { status: "completed" });
    assert.ok(failures(old.notices).length <= 1, JSON.stringify(failures(old.notices)));
    await beside.hp.approvals.approve(asked, ANN);
    assert.equal((await beside.hp.approvals.get(asked)).status, "consumed");
    assert.deepEqual((await old.hp.journal.verify()).findings, []);
  });

  test("an event of a newer version, and a kind of stream that is not known, keep nobody from anything", {
    timeout: 60_000,
  }, async (t) => {
    const { keyFile, older, newer } = await place(t);
    const old = await program(t, await older(), keyFile);
    const { id } = await old.trip.start({});
    const asked = await questionOf(old.hp, id);
    const young = await newer();
    t.after(() => young.close());
    const apart = await old.ask(1);
    await annotate(young, approvalStream(apart), { type: "approval.cancelled", tv: 2 });
    await annotate(young, caseStream("17"), { type: "case.opened" });
    await annotate(young, caseStream("17"), { type: "case.closed" });
    await assert.rejects(old.hp.approvals.get(apart), { code: "unknown_event" });
    // The list is as it was: rows are written by whoever can.
    assert.ok((await old.hp.approvals.list({ status: "any" })).items.length >= 2);
    await old.hp.approvals.approve(asked, ANN);
    assert.partialDeepStrictEqual(await old.hp.workflows.result(id), { status: "completed" });
    const seen = old.hp.approvals.follow(AbortSignal.timeout(30_000));
    await seen.next();
    const last = await old.ask(2);
    assert.deepEqual((await seen.next()).value, [last]);
    const again = await older();
    t.after(() => again.close());
    assert.equal((await again.rebuildViews()).left, 2);
    assert.deepEqual((await old.hp.journal.verify()).findings, []);
  });

  test("deadlines and messages of the others come, although one cannot be read; what is not known is left for a newer node to tell", {
    timeout: 60_000,
  }, async (t) => {
    const { keyFile, older, newer } = await place(t);
    const receiver = await startReceiver(t);
    const old = await program(t, await older(), keyFile);
    const young = await newer();
    t.after(() => young.close());
    const late = old.hp.gate({
      name: "late",
      policy: () => ({ verdict: "escalate", decideWithinMs: 300 }),
      run: (_: { n: number }) => "done",
    });
    const first = await late({ n: 1 }, { waitMs: 0, requestId: "late 1" });
    const second = await late({ n: 2 }, { waitMs: 0, requestId: "late 2" });
    assert.ok("code" in first && "code" in second);
    await annotate(young, approvalStream(String(first.approval)));
    await admin(old.hp).endpoints.add({ url: receiver.url, by: "person:ann", events: ["approval.*"] });
    const over = new AbortController();
    const delivering = admin(old.hp).deliver(over.signal, { allowPrivate: true });
    await until("the second to expire", async () => {
      const { status } = await old.hp.approvals.get(String(second.approval));
      return status === "expired";
    });
    await annotate(young, approvalStream(await old.ask(3)));
    await old.ask(4);
    await until("messages", async () => receiver.got.length >= 3);
    over.abort();
    await delivering;
    const kept = await readState({ store: young, tenant: "default" }, NOTIFIER);
    const log = await young.log("default", 0, 1_000);
    const strange = log.filter(({ header }) => header.includes("stream.annotated"));
    assert.equal(strange.length, 2);
    assert.ok((kept.position ?? 0) < (strange[1]?.position ?? 0), `${kept.position}`);
    assert.ok(failures(old.notices).length <= 2, JSON.stringify(failures(old.notices)));
  });

  test("a node that cannot read the list of people decides nothing by it, and the epoch of another nothing either", {
    timeout: 60_000,
  }, async (t) => {
    const { keyFile, older, newer } = await place(t);
    const old = await program(t, await older(), keyFile);
    const asked = await old.ask(1);
    const young = await newer();
    const beside = await program(t, young, keyFile);
    await beside.trip.start({});
    await annotate(young, ROSTER);
    await assert.rejects(old.hp.approvals.approve(asked, ANN), { code: "unknown_event" });
    assert.equal((await beside.hp.approvals.get(asked)).status, "pending");
    await beside.hp.approvals.approve(asked, ANN);
    assert.equal((await beside.hp.approvals.get(asked)).status, "approved");
    await annotate(young, epochStream("epo_01ARZ3NDEKTSV4RRFFQ69G5FAV"));
    assert.deepEqual((await old.hp.journal.verify()).findings, []);
  });
}

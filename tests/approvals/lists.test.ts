/** Lists of approvals through the library: whose they are, what is left out, and rows that an older process wrote. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { attentionOf } from "../../src/approvals/lists.ts";
import { type Machine, machine, type Process, START } from "../fixtures/runtime.ts";

const [ANN, BOB] = ["person:ann", "person:bob"] as const;

async function ask(hp: Process, name: string, from: readonly string[], amount = 1): Promise<string> {
  const terms = { approvers: { from, quorum: from.length }, decideWithinMs: 60_000 };
  const policy = { verdict: "escalate", ...terms } as const;
  const tool = hp.gate({ name, policy, run: (_: { amount: number }) => 1 });
  const answer = await tool({ amount }, { requestId: name, waitMs: 0 });
  assert.ok(answer.status === "pending" && answer.approval !== null);
  return answer.approval;
}

const idsOf = ({ items }: { readonly items: readonly { readonly id: string }[] }) =>
  items.map(({ id }) => id);

/** What a process of before wrote has none of the newer fields. */
function age({ database }: Machine): void {
  for (const tenant of database.data.tenants.values()) {
    const rows = tenant.views.get("approvals");
    for (const [name, row] of rows ?? []) {
      const { waiting, workflow, effectClass, risk, decidedAt, ...data } = JSON.parse(row.data);
      rows?.set(name, { ...row, data: JSON.stringify(data) });
    }
  }
}

/** So many more rows like that of one approval, all older than it. */
function crowd({ database }: Machine, id: string, count: number): void {
  for (const { views, streams } of database.data.tenants.values()) {
    const [rows, stream] = [views.get("approvals"), streams.get(`approval/${id}`)];
    const row = rows?.get(`approval/${id}`);
    assert.ok(rows && row && stream);
    for (let number = 0; number < count; number++) {
      const name = `approval/crowd-${number}`;
      rows.set(name, {
        ...row,
        stream: { kind: "approval", id: `crowd-${number}` },
        at: row.at - 1 - number,
      });
      streams.set(name, stream);
    }
  }
}

async function furnished(): Promise<{
  readonly place: Machine;
  readonly hp: Process;
  readonly ids: readonly string[];
}> {
  const place = machine();
  const hp = place.process({ agent: "payer" });
  const ids = [
    await ask(hp, "payments.refund", [ANN]),
    await ask(hp, "payments.wire", [BOB], 4_711),
    await ask(hp, "mail.send", [ANN, BOB]),
  ];
  return { place, hp, ids };
}

describe("a list of approvals", () => {
  test("says of each whether it waits for whoever looks, and leaves the others out where that is asked", async () => {
    const { hp, ids } = await furnished();
    const [refund = "", , mail = ""] = ids;
    const all = await hp.approvals.list({ person: ANN });
    assert.deepEqual(
      all.items.map((item) => item["isMine"]),
      [true, false, true],
    );
    assert.deepEqual(idsOf(await hp.approvals.list({ person: ANN, mine: true })), [refund, mail]);
    await hp.approvals.approve(mail, { by: ANN });
    assert.deepEqual(idsOf(await hp.approvals.list({ person: ANN, mine: true })), [refund]);
    assert.deepEqual(idsOf(await hp.approvals.list({ person: "person:zoe", mine: true })), []);
    assert.ok((await hp.approvals.list()).items.every(({ isMine }) => isMine));
    assert.ok(!("waiting" in (all.items[0] ?? {})));
    await hp.close();
  });

  test("is searched by text, name, agent and what it is about, in pages", async () => {
    const { hp, ids } = await furnished();
    const [refund = "", wire = "", mail = ""] = ids;
    const found = async (page: Parameters<typeof hp.approvals.list>[0]) =>
      idsOf(await hp.approvals.list(page));
    assert.deepEqual(await found({ text: "PAYMENTS" }), [refund, wire]);
    assert.deepEqual(await found({ text: "4711" }), [wire]);
    assert.deepEqual(await found({ text: mail.slice(-6).toLowerCase() }), [mail]);
    assert.deepEqual(await found({ name: "payments.wire" }), [wire]);
    assert.deepEqual(await found({ name: "payments" }), []);
    assert.deepEqual(await found({ agent: "payer" }), ids);
    assert.deepEqual(await found({ agent: "agent:payer", about: "action" }), ids);
    assert.deepEqual(await found({ about: "checkpoint" }), []);
    const first = await hp.approvals.list({ text: "payments", limit: 1 });
    const after = { after: String(first.next) };
    const second = await hp.approvals.list({ text: "payments", limit: 1, ...after });
    assert.deepEqual([idsOf(first), idsOf(second), second.next], [[refund], [wire], null]);
    await hp.close();
  });

  test("is ordered by deadline, the soonest first and last what has none, in pages, as deadlines move and people decide", async () => {
    const place = machine();
    const hp = place.process();
    const asks = async (name: string, decideWithinMs?: number): Promise<string> => {
      const terms = decideWithinMs === undefined ? {} : { decideWithinMs };
      const tool = hp.gate({ name, policy: { verdict: "escalate", ...terms }, run: () => 1 });
      const answer = await tool({}, { requestId: name, waitMs: 0 });
      assert.ok(answer.status === "pending" && answer.approval !== null);
      return answer.approval;
    };
    const never = await asks("never");
    const late = await asks("late", 9_000_000);
    const ever = await asks("ever");
    const soon = await asks("soon", 60_000);
    const ordered = async (page: object = {}) => {
      const met: string[] = [];
      for (let after = {}; ; ) {
        const { items, next } = await hp.approvals.list({ ...page, ...after, order: "deadline", limit: 1 });
        met.push(...items.map(({ id }) => id));
        if (next === null) return met;
        after = { after: next };
      }
    };
    assert.deepEqual(await ordered(), [soon, late, never, ever]);
    assert.deepEqual(await ordered({ person: ANN, mine: true }), [soon, late, never, ever]);
    assert.deepEqual(await ordered({ text: "ever" }), [never, ever]);
    await hp.approvals.extend(soon, { by: ANN, byMs: 99_000_000 });
    assert.deepEqual(await ordered(), [late, soon, never, ever]);
    await hp.approvals.reject(late, { by: ANN, reason: "no" });
    await hp.approvals.approve(never, { by: ANN });
    assert.deepEqual(await ordered(), [soon, ever]);
    const byDeadline = (status: string) => hp.approvals.list({ status, order: "deadline" } as never);
    for (const status of ["decided", "any", "rejected"])
      await assert.rejects(byDeadline(status), { code: "invalid_input" });
    await hp.close();
  });

  test("has what was decided, the latest decision first, in pages, whatever became of it since", async () => {
    const { place, hp, ids } = await furnished();
    const [refund = "", wire = "", mail = ""] = ids;
    await place.clock.advance(1_000);
    await hp.approvals.reject(wire, { by: BOB, reason: "no" });
    await place.clock.advance(1_000);
    await hp.approvals.approve(refund, { by: ANN });
    await place.clock.advance(1_000);
    await hp.approvals.cancel(mail, { by: ANN, reason: "not needed" });
    const ordered = async (page: object) => {
      const met: string[] = [];
      for (let after = {}; ; ) {
        const { items, next } = await hp.approvals.list({ ...page, ...after, order: "decided", limit: 1 });
        met.push(...items.map(({ id }) => id));
        if (next === null) return met;
        after = { after: next };
      }
    };
    assert.deepEqual(await ordered({ status: "decided" }), [mail, refund, wire]);
    await hp.approvals.revoke(refund, { by: ANN, reason: "too late" });
    assert.deepEqual(await ordered({ status: "decided" }), [mail, refund, wire]);
    assert.deepEqual(await ordered({ status: "decided", text: "payments" }), [refund, wire]);
    assert.deepEqual(await ordered({ status: "revoked" }), [refund]);
    for (const status of ["pending", "any"])
      await assert.rejects(ordered({ status }), { code: "invalid_input" });
    await hp.close();
  });

  test("has what was decided, and when", async () => {
    const { place, hp, ids } = await furnished();
    const [refund = "", wire = ""] = ids;
    await place.clock.advance(5_000);
    await hp.approvals.reject(wire, { by: BOB, reason: "no" });
    const { items } = await hp.approvals.list({ status: "decided" });
    assert.partialDeepStrictEqual(items, [{ id: wire, status: "rejected", decidedAt: START + 5_000 }]);
    assert.deepEqual(idsOf(await hp.approvals.list({ status: "decided", name: "mail.send" })), []);
    assert.partialDeepStrictEqual((await hp.approvals.list()).items[0], {
      ...{ id: refund, effectClass: "once", risk: null, decidedAt: null, workflow: null },
    });
    await hp.close();
  });

  test("reads what an older process left out from the approvals themselves", async () => {
    const { place, hp } = await furnished();
    const look = () => hp.approvals.list({ person: ANN, mine: true });
    const before = await look();
    age(place);
    assert.deepEqual(await look(), before);
    assert.equal((await attentionOf(hp.runtime, ANN)).mine, 2);
    await hp.close();
  });

  test("is not asked for what there is not", async () => {
    const hp = machine().process();
    for (const page of [
      { mine: true },
      { person: "agent:payer" },
      { mine: "yes", person: ANN },
      { about: "grant" },
      { status: "done" },
      { order: "sideways" },
      { text: 7 },
      { q: "x" },
    ])
      await assert.rejects(hp.approvals.list(page as never), { name: "HoldpointError" });
    await hp.close();
  });
});

describe("what wants somebody", () => {
  test("is counted, with the oldest and the first deadline of one's own", async () => {
    const place = machine();
    const hp = place.process();
    const nothing = await attentionOf(hp.runtime, ANN);
    assert.deepEqual(nothing, {
      ...{ pending: 0, mine: 0, oldestAt: null, nextDeadline: null, lookedAt: 0, isAll: true },
      ...{ inDoubt: 0, alerts: 0, deadMessages: 0, stopped: 0, isEmpty: true },
    });
    await ask(hp, "wire", [BOB]);
    await place.clock.advance(1_000);
    await ask(hp, "refund", [ANN]);
    const lost = hp.gate({
      name: "lost",
      policy: "approve",
      run: () => {
        throw new Error("gone");
      },
    });
    await lost({}, { requestId: "lost" }).catch(() => undefined);
    assert.deepEqual(await attentionOf(hp.runtime, ANN), {
      ...{ pending: 2, mine: 1, oldestAt: START + 1_000, nextDeadline: START + 61_000 },
      ...{ lookedAt: 2, isAll: true },
      ...{ inDoubt: 1, alerts: 0, deadMessages: 0, stopped: 0, isEmpty: false },
    });
    assert.equal((await attentionOf(hp.runtime, null)).mine, 2);
    assert.equal((await attentionOf(hp.runtime, "agent:tester")).mine, 0);
    await hp.close();
  });

  test("is looked for until the first of one's own is found, however many others wait longer", async () => {
    const place = machine();
    const hp = place.process();
    const wire = await ask(hp, "wire", [BOB]);
    await place.clock.advance(1_000);
    await ask(hp, "refund", [ANN]);
    crowd(place, wire, 1_000);
    assert.partialDeepStrictEqual(await attentionOf(hp.runtime, ANN), {
      ...{ pending: 1_002, mine: 1, oldestAt: START + 1_000, lookedAt: 1_002, isAll: true },
    });
    assert.partialDeepStrictEqual(await attentionOf(hp.runtime, BOB), {
      ...{ mine: 1_000, lookedAt: 1_000, isAll: false },
    });
    crowd(place, wire, 10_000);
    assert.partialDeepStrictEqual(await attentionOf(hp.runtime, ANN), {
      ...{ pending: 10_002, mine: 0, lookedAt: 10_000, isAll: false },
    });
    await hp.close();
  });
});

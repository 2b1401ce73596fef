/** Routing, reminders and delegation through the instance, under a clock that the test moves. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { DelegationRequest, Verdict } from "../../src/index.ts";
import { isHoldpointError } from "../../src/kernel/errors.ts";
import { joins } from "../fixtures/people.ts";
import { journalText, machine, type Process, pendingOf } from "../fixtures/runtime.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const [ANN, BOB, CAT, DAN] = ["person:ann", "person:bob", "person:cat", "person:dan"] as const;
type Terms = Omit<Extract<Verdict, { verdict: "escalate" }>, "verdict">;

function asking(terms: Terms) {
  const computer = machine();
  const hp = computer.process();
  const runs: string[][] = [];
  const tool = hp.gate({
    name: "pay",
    policy: { verdict: "escalate", ...terms },
    run: (_: { readonly amount: number }, { notes }) => runs.push([...notes]),
  });
  return { computer, hp, runs, ask: () => tool({ amount: 1 }, { requestId: "r", waitMs: 0 }) };
}

const codeOf = (error: unknown) => (isHoldpointError(error) ? error.code : String(error));
const refusedAs = (code: string) => (error: unknown) => codeOf(error) === code;
const typesOf = async (hp: Process, id: string) =>
  (await hp.journal.read(id)).map(({ type }) => type).filter((type) => type.startsWith("approval."));

describe("approvals that are routed by group and role", () => {
  test("are decided by whoever is in the group then, and counted again when the effect starts", async () => {
    const { hp, ask, runs } = asking({ approvers: { from: ["group:finance"] } });
    await joins(hp.runtime, ANN, { groups: ["finance"] });
    await joins(hp.runtime, BOB, { groups: ["finance"] });
    await ask();
    const id = await pendingOf(hp);
    await assert.rejects(hp.approvals.approve(id, { by: CAT }), refusedAs("not_eligible"));
    await hp.approvals.approve(id, { by: ANN });
    await joins(hp.runtime, ANN, {});
    assert.equal((await ask()).status, "pending");
    assert.deepEqual(runs, []);
    assert.equal((await hp.approvals.get(id)).status, "lapsed");
    const again = await pendingOf(hp);
    assert.notEqual(again, id);
    await hp.approvals.approve(again, { by: BOB });
    assert.equal((await ask()).status, "done");
    await hp.close();
  });

  test("are refused where the group is empty, with the group's name, and nobody is asked", async () => {
    const { hp, ask } = asking({ approvers: { from: ["group:finance"] } });
    const answer = await ask();
    assert.ok("code" in answer && answer.code === "blocked");
    assert.match(answer.reason, /group:finance has no members/);
    assert.equal(await hp.approvals.count("any"), 0);
    await hp.close();
  });
});

describe("reminders", () => {
  test("come at half time and before the end, to the program and into the journal, and decide nothing", async () => {
    const { hp, ask, computer } = asking({
      decideWithinMs: HOUR,
      approvers: { escalateAtHalf: [CAT], from: [ANN] },
    });
    await ask();
    const id = await pendingOf(hp);
    await computer.clock.advance(29 * MINUTE);
    assert.deepEqual(await typesOf(hp, id), ["approval.requested"]);
    await computer.clock.advance(30 * MINUTE);
    assert.deepEqual(await typesOf(hp, id), [
      "approval.requested",
      "approval.widened",
      "approval.reminded",
      "approval.reminded",
    ]);
    const told = hp.notices.flatMap((one) => (one.kind === "reminder" ? [one] : []));
    assert.deepEqual(
      told.map(({ why, approval, tool }) => [why, approval, tool]),
      [
        ["half_time", id, "pay"],
        ["last_call", id, "pay"],
      ],
    );
    assert.equal((await hp.approvals.get(id)).status, "pending");
    await hp.approvals.approve(id, { by: CAT });
    assert.equal((await ask()).status, "done");
    await hp.close();
  });

  test("of several processes one says it", async () => {
    const { hp, ask, computer } = asking({ decideWithinMs: HOUR });
    const others = [computer.process({ agent: "b" }), computer.process({ agent: "c" })];
    for (const other of others)
      await other.gate({ name: "free", policy: "approve", run: () => 1 })(
        {},
        { requestId: other.runtime.agent },
      );
    await ask();
    const id = await pendingOf(hp);
    await computer.clock.advance(HOUR - 1);
    const types = await typesOf(hp, id);
    assert.deepEqual(types, ["approval.requested", "approval.reminded", "approval.reminded"]);
    const told = [hp, ...others].flatMap(({ notices }) => notices.filter(({ kind }) => kind === "reminder"));
    assert.equal(told.length, 2);
    for (const one of [hp, ...others]) await one.close();
  });

  test("every so often, of a question that never expires, until it is decided", async () => {
    const { hp, ask, computer } = asking({ approvers: { remindEveryMs: HOUR } });
    await ask();
    const id = await pendingOf(hp);
    for (let hour = 0; hour < 5; hour++) await computer.clock.advance(HOUR + 2_000);
    const said = hp.notices.filter(({ kind }) => kind === "reminder").length;
    assert.equal(said, 5);
    await hp.approvals.approve(id, { by: ANN });
    await computer.clock.advance(3 * HOUR);
    assert.equal(hp.notices.filter(({ kind }) => kind === "reminder").length, said);
    await hp.close();
  });
});

describe("delegation", () => {
  test("through the instance: the delegate decides, the delegator does not, and it can be taken back", async () => {
    const { hp, ask } = asking({ approvers: { from: [ANN, BOB] } });
    await ask();
    const id = await pendingOf(hp);
    await hp.approvals.delegate(id, { by: ANN, to: DAN, reason: "on leave" });
    await assert.rejects(hp.approvals.approve(id, { by: ANN }), refusedAs("not_eligible"));
    await hp.approvals.takeBack(id, { by: ANN, reason: "back early" });
    await assert.rejects(hp.approvals.approve(id, { by: DAN }), refusedAs("not_eligible"));
    await hp.approvals.delegate(id, { by: ANN, to: DAN, reason: "on leave" });
    await hp.approvals.approve(id, { by: DAN });
    const answer = await ask();
    assert.ok(answer.status === "done");
    assert.deepEqual(answer.receipt.approvedBy, [DAN]);
    await hp.close();
  });

  test("says what is wrong, and records what was refused", async () => {
    const { hp, ask } = asking({ approvers: { from: [ANN, BOB] } });
    await ask();
    const id = await pendingOf(hp);
    const handing = { by: ANN, to: DAN, reason: "r" };
    for (const [odd, code] of [
      [{ ...handing, to: "ann" }, "invalid_input"],
      [{ ...handing, to: "agent:x" }, "not_eligible"],
      [{ ...handing, to: "service:x" }, "not_eligible"],
      [{ ...handing, by: "ann" }, "invalid_input"],
      [{ ...handing, reason: " " }, "invalid_input"],
      [{ ...handing, via: "A b" }, "invalid_input"],
      [{ ...handing, until: 5 }, "invalid_input"],
      [{ ...handing, by: CAT }, "not_eligible"],
      [{ ...handing, to: ANN }, "not_eligible"],
    ] as const)
      await assert.rejects(
        hp.approvals.delegate(id, odd as DelegationRequest),
        refusedAs(code),
        JSON.stringify(odd),
      );
    await assert.rejects(hp.approvals.delegate("apr_0", handing), refusedAs("unknown_id"));
    await assert.rejects(hp.approvals.takeBack(id, { by: ANN, reason: "r" }), refusedAs("wrong_state"));
    const refused = (await typesOf(hp, id)).filter((type) => type === "approval.delegate_refused");
    assert.equal(refused.length, 4);
    await hp.close();
  });

  test("keeps no secret of the action in its reason", async () => {
    const { hp } = asking({});
    const handle = await hp.putSecret("hunter2-canary");
    const tool = hp.gate({ name: "login", run: (_: { readonly key: unknown }) => 1 });
    await tool({ key: handle }, { requestId: "s", waitMs: 0 });
    const id = await pendingOf(hp);
    await hp.approvals.delegate(id, { by: ANN, to: DAN, reason: "with hunter2-canary" });
    assert.ok(!(await journalText(hp)).includes("hunter2-canary"));
    await hp.close();
  });
});

describe("separation of duties for a whole instance", () => {
  test("stands in every question, and a changed setting asks anew", async () => {
    const computer = machine();
    const hp = computer.process({ separate: true });
    const free = computer.process({ agent: "tester" });
    const tools = [hp, free].map((one) => one.gate({ name: "pay", policy: "escalate", run: () => 1 }));
    await tools[0]?.({}, { requestId: "r", waitMs: 0 });
    const id = await pendingOf(hp);
    assert.equal((await hp.approvals.get(id)).approvers.separate, true);
    await hp.approvals.approve(id, { by: ANN });
    assert.equal((await tools[1]?.({}, { requestId: "r", waitMs: 0 }))?.status, "pending");
    assert.equal((await hp.approvals.get(id)).status, "lapsed");
    for (const one of [hp, free]) await one.close();
  });
});

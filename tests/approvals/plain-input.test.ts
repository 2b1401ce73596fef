/** What `hp.approvals` takes is plain data: nothing comes from a prototype, and nothing that is changed after the call counts. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isHoldpointError } from "../../src/index.ts";
import { machine, pendingOf } from "../fixtures/runtime.ts";

const ANN = "person:ann";
const isRefused = (error: unknown): boolean => isHoldpointError(error, "invalid_input");

async function asking() {
  const hp = machine().process();
  const tool = hp.gate({
    name: "pay",
    policy: { verdict: "escalate" },
    run: (_: { amount: number }) => "done",
  });
  const answer = tool({ amount: 5 }, { requestId: "r" });
  const id = await pendingOf(hp);
  const end = async () => {
    await hp.approvals.reject(id, { by: ANN, reason: "no" });
    await answer;
    await hp.close();
  };
  return { hp, id, answer, end };
}

test("fields of a prototype are not read: nobody votes by an inherited name", async () => {
  const { hp, id, end } = await asking();
  const inherited = Object.create({ by: ANN, reason: "no", text: "?", to: "person:bob" });
  const { binding } = await hp.approvals.get(id);
  const item = Object.create({ id, binding, decision: "approve" });
  for (const call of [
    () => hp.approvals.approve(id, inherited),
    () => hp.approvals.reject(id, inherited),
    () => hp.approvals.comment(id, inherited),
    () => hp.approvals.delegate(id, inherited),
    () => hp.approvals.decideAll([item], { by: ANN }),
    () => hp.approvals.list(new Map() as object),
    () => hp.approvals.list(new Date() as object),
    () => hp.approvals.decideAll(Buffer.alloc(3) as never, { by: ANN }),
    () => hp.approvals.decideAll([], "x".repeat(100_000) as never),
    () => hp.approvals.decideAll([], { by: ANN, decisions: [] } as never),
  ])
    await assert.rejects(call, isRefused);
  const { votes, comments } = await hp.approvals.get(id);
  assert.deepEqual([votes, comments], [[], []]);
  await end();
});

test("a misspelt field is named before the field that is missing because of it", async () => {
  const { hp, id, end } = await asking();
  const misspelt = { by: ANN, resaon: "x" } as never;
  await assert.rejects(hp.approvals.reject(id, misspelt), /resaon.*reason/);
  await end();
});

test("an edit in a batch is the edit of the moment of the call", async () => {
  const { hp, id, answer } = await asking();
  const { binding } = await hp.approvals.get(id);
  const edit = { amount: 7 };
  const deciding = hp.approvals.decideAll([{ id, binding, decision: "approve", edit }], { by: ANN });
  edit.amount = 999;
  assert.equal((await deciding)[0]?.ok, true);
  await answer;
  assert.deepEqual((await hp.approvals.get(id)).args, { amount: 7 });
  await hp.close();
});

test("an input that does not fit is called by what was given, and not by the approval", async () => {
  const { hp, id, end } = await asking();
  const { approvals } = hp;
  const odd = (value: object) => value as never;
  const said: readonly (readonly [string, () => Promise<unknown>])[] = [
    ["A decision", () => approvals.approve(id, odd({ by: ANN, nte: "x" }))],
    ["A rejection", () => approvals.reject(id, odd({ by: ANN, reson: "x" }))],
    ["An extension", () => approvals.extend(id, odd({ by: ANN, untill: 1 }))],
    ["A revocation", () => approvals.revoke(id, odd({ by: ANN, reson: "x" }))],
    ["A cancellation", () => approvals.cancel(id, odd({ by: ANN, reson: "x" }))],
    ["A delegation", () => approvals.delegate(id, odd({ by: ANN, too: "person:bob" }))],
    ["A return of a seat", () => approvals.takeBack(id, odd({ by: ANN, reson: "x" }))],
    ["A batch", () => approvals.decideAll([], odd({ by: ANN, vai: "cli" }))],
    ["A comment", () => approvals.comment(id, odd({ by: ANN, txt: "x" }))],
    ["A page", () => approvals.list(odd({ statu: "any" }))],
    ["A statement", () => hp.actions.resolve(id, odd({ by: ANN, reson: "x" }))],
  ];
  for (const [noun, call] of said)
    await assert.rejects(call, ({ message }: Error) => message.startsWith(`${noun} has no field`), noun);
  await end();
});

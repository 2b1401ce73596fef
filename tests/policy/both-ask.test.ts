/** Two policies over one call that both ask people: neither's people are left out. */
import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { type Holdpoint, isHoldpointError } from "../../src/index.ts";
import { pendingApproval, temporaryFolder } from "../fixtures/folder.ts";

const MANAGERS = { quorum: 2, from: ["person:m1", "person:m2", "person:m3"] };
const TWO = { verdict: "escalate", reason: "two managers", approvers: MANAGERS } as const;
const rule = (more: object = {}) => ({ id: "asks", tool: "pay", verdict: "escalate", ...more });
const documentOf = (more?: object) => ({ policy: "p", default: "block", rules: [rule(more)] }) as never;

function paying(hp: Holdpoint, policy: typeof TWO | "escalate") {
  const paid: number[] = [];
  const run = (args: { readonly amount: number }) => paid.push(args.amount);
  return { pay: hp.gate({ name: "pay", policy, run }), paid };
}

async function opened(context: TestContext, policy?: never): Promise<Holdpoint> {
  return temporaryFolder(context).open(policy === undefined ? {} : { policy });
}

const approve = (hp: Holdpoint, id: string, by: string) => hp.approvals.approve(id, { by });
const refuses = (hp: Holdpoint, id: string, by: string) =>
  assert.rejects(approve(hp, id, by), (error) => isHoldpointError(error, "not_eligible"));

describe("two managers of one policy", () => {
  for (const [what, document, own] of [
    ["the tool's own, any one person of the document", documentOf(), TWO],
    ["the document, any one person of the tool's own", documentOf({ approvers: MANAGERS }), "escalate"],
  ] as const)
    test(`are both needed: ${what} is not enough`, async (context) => {
      const hp = await opened(context, document);
      const { pay, paid } = paying(hp, own);
      const call = pay({ amount: 1 }, { requestId: "x" });
      const id = await pendingApproval(hp);
      await refuses(hp, id, "person:intern");
      await approve(hp, id, "person:m1");
      assert.deepEqual(paid, []);
      await approve(hp, id, "person:m2");
      assert.equal((await call).status, "done");
    });

  test("of a workflow are both needed, although its tool asks any one person", async (context) => {
    const hp = await opened(context);
    const { pay, paid } = paying(hp, "escalate");
    const flow = hp.workflow("w", { policy: TWO }, (ctx, _: object) => ctx.call(pay, { amount: 1 }));
    const { id: run } = await flow.start({});
    const id = await pendingApproval(hp);
    await refuses(hp, id, "person:intern");
    await approve(hp, id, "person:m1");
    assert.deepEqual(paid, []);
    await approve(hp, id, "person:m2");
    assert.partialDeepStrictEqual(await hp.workflows.result(run), { result: { status: "done" } });
  });

  test("of a workflow are both needed of its child too, beside those of the tool, and come first", async (context) => {
    const hp = await opened(context);
    const finance = { ...TWO, reason: "finance", approvers: { from: ["person:fin"] } };
    const { pay, paid } = paying(hp, finance as never);
    const child = hp.workflow("child", { policy: TWO }, (ctx, _: object) => ctx.call(pay, { amount: 1 }));
    const parent = hp.workflow("parent", { policy: TWO }, (ctx, _: object) => ctx.spawn(child, {}));
    const { id: run } = await parent.start({});
    const id = await pendingApproval(hp);
    const { stages, reason } = await hp.approvals.get(id);
    assert.deepEqual(
      [stages.map(({ approvers }) => approvers.quorum), reason],
      [[2, 1], "two managers; finance"],
    );
    await refuses(hp, id, "person:fin");
    for (const by of ["person:m1", "person:m3"]) await approve(hp, id, by);
    assert.deepEqual(paid, []);
    await approve(hp, id, "person:fin");
    assert.equal((await hp.workflows.result(run)).status, "completed");
    assert.deepEqual(paid, [1]);
  });

  test("of the document come first, and then those whom the tool asks", async (context) => {
    const hp = await opened(context, documentOf({ approvers: { from: ["person:fin"] }, reason: "finance" }));
    const { pay, paid } = paying(hp, TWO);
    const call = pay({ amount: 1 }, { requestId: "x" });
    const id = await pendingApproval(hp);
    assert.partialDeepStrictEqual(await hp.approvals.get(id), {
      rule: "asks",
      reason: "finance; two managers",
    });
    await refuses(hp, id, "person:m1");
    for (const by of ["person:fin", "person:m1"]) await approve(hp, id, by);
    assert.deepEqual(paid, []);
    await approve(hp, id, "person:m2");
    assert.equal((await call).status, "done");
  });
});

test("two policies that together need one person twice block the call, and say so", async (context) => {
  const hp = await opened(context, documentOf({ approvers: { from: ["person:m1"] } }));
  const own = { ...TWO, approvers: { quorum: 2, from: ["person:m1", "person:m2"] } };
  const { pay } = paying(hp, own as never);
  const answer = await pay({ amount: 1 }, { requestId: "x" });
  assert.partialDeepStrictEqual(answer, { status: "refused", code: "blocked" });
  assert.match(JSON.stringify(answer), /each person decides once/);
});

test("a tool's own policy that answers no verdict blocks, also under a document that approves", async (context) => {
  const hp = await opened(context, { policy: "p", default: "approve" } as never);
  const pay = hp.gate({ name: "pay", policy: () => ({ verdict: "aprove" }) as never, run: () => "paid" });
  assert.partialDeepStrictEqual(await pay({}, { requestId: "x" }), { status: "refused", code: "blocked" });
});

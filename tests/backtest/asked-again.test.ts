/** An action that people are asked about again, because its preview has moved, is one action. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { admin } from "../../src/admin.ts";
import type { Json } from "../../src/kernel/json.ts";
import { pendingApproval, temporaryFolder } from "../fixtures/folder.ts";

const ASK = { policy: "p", default: "escalate" } as const;
const LET = { policy: "p", default: "approve" } as const;

function shop(context: TestContext) {
  const hp = temporaryFolder(context).open({ policy: ASK });
  let world = 0;
  const pay = hp.gate({
    name: "pay",
    preview: () => ({ world }),
    run: ({ amount }: { amount: number }) => amount,
  });
  /** Of an edit whose preview is another one, the same approval has another binding. */
  async function nextQuestion(last: string) {
    for (let look = 0; look < 400; look++) {
      const { id, binding } = await hp.approvals.get(await pendingApproval(hp));
      if (binding !== last) return { id, binding };
      await new Promise<void>((resolve) => setTimeout(resolve, 10));
    }
    return assert.fail("nobody asks again");
  }
  /** As many questions as there are answers; the world moves before each but the last is used. */
  async function paid(amount: number, ...edits: readonly (Json | null)[]) {
    const call = pay({ amount }, { requestId: `${amount}` });
    const by = amount % 2 === 0 ? "person:ann" : "person:bob";
    let last = "";
    for (const [index, edit] of edits.entries()) {
      const { id, binding } = await nextQuestion(last);
      if (index < edits.length - 1) world += 1;
      last = binding;
      await hp.approvals.approve(id, { by, binding, ...(edit === null ? {} : { edit }) });
    }
    return call;
  }
  return { hp, paid };
}

test("its approvals count once, in a back-test and for a grant", async (context) => {
  const { hp, paid } = shop(context);
  for (let amount = 10; amount < 16; amount++) assert.equal((await paid(amount, null, null)).status, "done");
  const { people } = await admin(hp).policies.backtest(LET);
  assert.partialDeepStrictEqual(people, [{ decision: "approved", total: 6, approve: 6 }]);
  assert.equal((await admin(hp).policies.suggest({ min: 7 })).suggestions.length, 0);
  const { suggestions, asked } = await admin(hp).policies.suggest({ min: 6 });
  assert.deepEqual([asked, ...suggestions.map(({ approved }) => approved)], [6, ...suggestions.map(() => 6)]);
  assert.ok(suggestions.length > 0);
});

test("one that a person changed stays changed, however often it is asked about afterwards", async (context) => {
  const { hp, paid } = shop(context);
  const answer = await paid(50, { amount: 5 }, null, null);
  assert.partialDeepStrictEqual(answer, { status: "done", result: 5 });
  const { people, dangers } = await admin(hp).policies.backtest(LET);
  assert.partialDeepStrictEqual(people, [{ decision: "edited", total: 1 }]);
  assert.equal(people.length, 1);
  assert.equal(dangers.length, 1);
});

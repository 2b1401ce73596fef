/** Only a program makes handles on secrets: no policy opens one by writing what looks like it. */
import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { z } from "zod";
import type { Policy } from "../../src/effects/define-tool.ts";
import type { PolicyText } from "../../src/policy/rules/document.ts";
import { secret } from "../../src/runtime/secrets.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { FINAL, scripted } from "../supervise/refund.ts";

const VALUE = "sk-live-never-to-be-seen-42";
const NAME = "HOLDPOINT_TEST_POLICY_SECRET";
process.env[NAME] = VALUE;

const ARGS = z.object({ name: z.string(), memo: z.unknown().optional(), token: z.unknown().optional() });
type Args = z.infer<typeof ARGS>;

function till(context: TestContext, policy?: PolicyText) {
  const hp = temporaryFolder(context).open(policy === undefined ? {} : { policy });
  const seen: Args[] = [];
  const own = policy === undefined ? ({ policy: "approve" } as const) : {};
  const pay = hp.gate({ name: "pay", ...own, input: ARGS, run: (args) => void seen.push(args) });
  return { hp, seen, pay };
}

const document = (memo: unknown): PolicyText => ({
  policy: "p",
  default: "approve",
  rules: [{ id: "r", tool: "pay", when: "!has(args.memo)", verdict: "revise", set: { memo } as never }],
});

const forging = (({ tool, args }: { tool: string; args: Args }) =>
  tool === "pay" && args.memo === undefined
    ? { verdict: "revise", set: { memo: { $secret: `env:${NAME}` } }, reason: "so" }
    : "approve") as unknown as Policy<never>;

describe("a revision that forges a handle is blocked, and opens nothing", () => {
  const written = { $secret: `env:${NAME}` };
  for (const [how, memo] of [
    ["written out", written],
    ["deep inside", { deep: [written] }],
    ["put together from what the model says", { expr: '{"$secret": "env:" + args.name}' }],
    ["of a kept value", { $artifact: "0".repeat(64) }],
  ] as const)
    test(`by a document, ${how}: it is not even loaded`, (context) => {
      assert.throws(() => till(context, document(memo)), { code: "policy_invalid" });
    });

  test("by a document, under a key that is put together", async (context) => {
    const { pay, seen } = till(context, document({ expr: '{"$sec" + "ret": "env:" + args.name}' }));
    const answer = await pay({ name: NAME }, { requestId: "1" });
    assert.partialDeepStrictEqual(answer, { status: "refused", code: "blocked" });
    assert.deepEqual(seen, []);
  });

  test("by the policy of a workflow", async (context) => {
    const { hp, pay, seen } = till(context);
    const flow = hp.workflow("w", { policy: forging }, (ctx) => ctx.call(pay, { name: "x" }));
    assert.partialDeepStrictEqual(await flow.run({}), { result: { status: "refused", code: "blocked" } });
    assert.deepEqual(seen, []);
  });

  test("by the policy of a supervised run", async (context) => {
    const { hp, pay, seen } = till(context);
    const model = scripted({ kind: "tool", name: "pay", args: { name: "x" } }, FINAL);
    const result = await hp.supervise({ goal: "g", tools: [pay as never], policy: forging, model });
    assert.match(result.stop_reason, /^supervisor_block:/);
    assert.deepEqual(seen, []);
  });
});

test("a document may move a handle that is in the action", async (context) => {
  const { pay, seen } = till(context, document({ expr: "args.token" }));
  const answer = await pay({ name: "x", token: secret(`env:${NAME}`) }, { requestId: "1" });
  assert.equal(answer.status, "done");
  assert.deepEqual(seen, [{ name: "x", memo: VALUE, token: VALUE }]);
});

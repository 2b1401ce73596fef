/** What the compiler tells a user. The claims are checked by `tsc`; running them only proves that the file is sound. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import type {
  Answer,
  DoneAnswer,
  FailedAnswer,
  GatedTool,
  InDoubtAnswer,
  PendingAnswer,
  RefusalCode,
  RefusedAnswer,
} from "../../src/index.ts";
import { machine } from "../fixtures/runtime.ts";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const claim = <Claim extends true>(isTrue: Claim = true as Claim): void => assert.equal(isTrue, true);

const input = z.object({ order: z.string(), amount: z.number(), memo: z.string().optional() });
type Refund = { order: string; amount: number; memo?: string | undefined };

test("a tool's arguments are inferred from its schema, and its result from its function", () => {
  const hp = machine().process();
  const refund = hp.gate({ name: "refund", input, run: (args) => ({ id: args.order, of: args.amount }) });
  claim<Same<typeof refund, GatedTool<Refund, { id: string; of: number }>>>();
  claim<Same<Parameters<typeof refund>[0], Refund>>();
  claim<Same<Awaited<ReturnType<typeof refund>>, Answer<{ id: string; of: number }>>>();
});

test("a tool without a schema takes what its function takes, and an async function's result is awaited", () => {
  const hp = machine().process();
  const greet = hp.gate({ name: "greet", run: async (args: { who: string }) => `Hello, ${args.who}` });
  claim<Same<typeof greet, GatedTool<{ who: string }, string>>>();
});

test("policy, cost, dedupe and verify see the same arguments as the tool", () => {
  const hp = machine().process();
  hp.gate({
    name: "typed",
    input,
    effect: "probed",
    policy: ({ args }) => (args.amount > 100 ? "escalate" : "approve"),
    cost: (args) => ({ budget: args.order, amount: { currency: "USD", micros: BigInt(args.amount) } }),
    dedupe: (args) => args.order,
    verify: ({ args }) => ({ answer: args.amount > 0 ? "applied" : "unknown" }),
    run: (args) => args.memo ?? null,
  });
});

test("`status` tells the five answers apart, and the result of one that is done is the function's own", async () => {
  const hp = machine().process();
  const greet = hp.gate({ name: "greet", policy: "approve", run: (args: { who: string }) => args.who });
  const answer = await greet({ who: "Ann" }, { requestId: "1" });
  claim<Same<typeof answer, Answer<string>>>();
  switch (answer.status) {
    case "done":
      claim<Same<typeof answer, DoneAnswer<string>>>();
      claim<Same<typeof answer.result, string>>();
      assert.equal(answer.receipt.status, "applied");
      break;
    case "pending":
      claim<Same<typeof answer, PendingAnswer>>();
      if (answer.waitingFor === "approval") claim<Same<typeof answer.approval, string>>();
      break;
    case "failed":
      claim<Same<typeof answer, FailedAnswer>>();
      break;
    case "refused":
      claim<Same<typeof answer, RefusedAnswer>>();
      claim<Same<typeof answer.code, RefusalCode>>();
      break;
    case "in_doubt":
      claim<Same<typeof answer, InDoubtAnswer>>();
  }
});

test("`run` resolves to what the function returns", async () => {
  const hp = machine().process();
  const greet = hp.gate({ name: "greet", policy: "approve", run: (args: { who: string }) => args.who });
  const result = await greet.run({ who: "Ann" }, { requestId: "1" });
  claim<Same<typeof result, string>>();
  assert.equal(result, "Ann");
});

test("a tool without arguments is called without arguments", async () => {
  const hp = machine().process();
  const ping = hp.gate({ name: "ping", policy: "approve", run: () => "pong" });
  assert.equal(await ping.run(), "pong");
  assert.equal((await ping()).status, "done");
});

test("mistakes are found before the program runs", () => {
  const hp = machine().process();
  const refund = hp.gate({ name: "refund", input, run: () => 1 });
  const never = (): void => {
    // @ts-expect-error an argument is missing
    void refund({ order: "A" });
    // @ts-expect-error an argument has the wrong type
    void refund({ order: "A", amount: "5" });
    // @ts-expect-error there is no such option
    void refund({ order: "A", amount: 5 }, { requestID: "x" });
    // @ts-expect-error a transactional tool works in the transaction
    hp.gate({ name: "t", effect: "transactional", run: () => 1 });
    // @ts-expect-error money is a bigint of micros
    void hp.budgets.limit("daily", { currency: "USD", micros: 5 });
    // @ts-expect-error a rejection has a reason
    void hp.approvals.reject("apr_1", { by: "person:ann" });
  };
  assert.equal(typeof never, "function");
});

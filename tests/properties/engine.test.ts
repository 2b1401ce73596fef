/** Properties of the engine on the memory store: several processes, any order, the same truth. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { isHoldpointError, NotApplied, type Verdict } from "../../src/index.ts";
import { canonicalJson } from "../../src/kernel/canonical-json.ts";
import type { Json } from "../../src/kernel/json.ts";
import { type Machine, machine, type Process, settled } from "../fixtures/runtime.ts";
import { anyJson, anyObject, runs } from "./runs.ts";

const usd = (micros: bigint) => ({ currency: "USD", micros });
const closeAll = (processes: readonly Process[]) => Promise.all(processes.map((process) => process.close()));

/** Every view row as it stands, and as it is after views are folded again from the journal. */
async function viewsAgree(computer: Machine, hp: Process): Promise<void> {
  const rows = async () =>
    JSON.stringify(
      await Promise.all(
        ["approvals", "actions"].map((view) => hp.store.query("acme", { view, limit: 10_000 })),
      ),
    );
  const live = await rows();
  await hp.journal.rebuildViews();
  assert.equal(await rows(), live, "views equal the fold of the journal");
  assert.ok(computer.database.data.moves.length > 0);
}

async function journalHolds(computer: Machine, hp: Process): Promise<void> {
  await hp.seals.create();
  const report = await hp.journal.verify({ requireSealed: true });
  assert.deepEqual([report.ok, report.findings], [true, []]);
  await viewsAgree(computer, hp);
}

test("however many call at once, a request id is one effect, and every call of it has the same answer", () => {
  const call = fc.record({
    id: fc.integer({ min: 1, max: 3 }),
    variant: fc.integer({ min: 1, max: 2 }),
    by: fc.integer({ min: 0, max: 2 }),
    ticks: fc.integer({ min: 0, max: 6 }),
  });
  return fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 12 }), async (calls) => {
      const computer = machine();
      const processes = [computer.process(), computer.process(), computer.process()];
      const ran = new Map<string, number>();
      const tools = processes.map((hp) =>
        hp.gate({
          name: "pay",
          policy: "approve",
          run: async (args: { id: number; variant: number }, { requestId }) => {
            ran.set(String(requestId), (ran.get(String(requestId)) ?? 0) + 1);
            await settled(1);
            return args;
          },
        }),
      );
      const answers = await Promise.all(
        calls.map(async ({ id, variant, by, ticks }) => {
          for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
          return tools[by]?.({ id, variant }, { requestId: `r${id}` }).catch((error: unknown) => {
            assert.ok(isHoldpointError(error, "request_conflict"));
            return "conflict";
          });
        }),
      );
      for (const id of new Set(calls.map((one) => one.id))) {
        const own = answers.filter((_, index) => calls[index]?.id === id);
        const executed = own.filter((answer) => answer !== "conflict");
        assert.equal(ran.get(`r${id}`), 1);
        assert.ok(executed.length >= 1);
        for (const answer of executed) assert.deepEqual(answer, executed[0]);
      }
      await journalHolds(computer, processes[0] as Process);
      await closeAll(processes);
    }),
    runs(60),
  );
});

const LIMITS = { a: 100n, b: 70n } as const;
const purchase = fc.record({
  estimate: fc.bigInt({ min: 0n, max: 60n }),
  share: fc.integer({ min: 0, max: 100 }),
  ends: fc.constantFrom("applied", "not_applied", "in_doubt", "resolved_applied", "resolved_not"),
  budgets: fc.constantFrom<readonly ("a" | "b")[]>(["a"], ["b"], ["a", "b"]),
});
type Purchase = typeof purchase extends fc.Arbitrary<infer Value> ? Value : never;

async function isWithinLimits(hp: Process): Promise<void> {
  for (const [name, limit] of Object.entries(LIMITS)) {
    const { spent, reserved } = await hp.budgets.get(name);
    assert.ok(spent + reserved <= limit && spent >= 0n && reserved >= 0n);
  }
}

/** Buys something; answers what that did to each of its budgets. */
async function buy(hp: Process, name: string, { estimate, share, ends, budgets }: Purchase): Promise<bigint> {
  const spent = (estimate * BigInt(share)) / 100n;
  const tool = hp.gate({
    name,
    policy: "approve",
    cost: () => budgets.map((budget) => ({ budget, amount: usd(estimate) })),
    run: (_: object, context) => {
      if (ends === "not_applied") throw new NotApplied("no");
      if (ends !== "applied") throw new Error("time-out");
      for (const budget of budgets) context.spent(budget, usd(spent));
    },
  });
  const answer = await tool({}, { requestId: name });
  await isWithinLimits(hp);
  if (answer.status !== "in_doubt") return answer.status === "done" ? spent : 0n;
  const status = ends === "resolved_applied" ? "applied" : "not_applied";
  if (ends !== "in_doubt") await hp.actions.resolve(answer.effect, { by: "person:ann", reason: "r", status });
  return ends === "resolved_not" ? 0n : estimate;
}

test("spent and reserved never exceed a budget, and end at what was really spent or is in doubt", () =>
  fc.assert(
    fc.asyncProperty(fc.array(purchase, { maxLength: 12 }), async (purchases) => {
      const computer = machine();
      const [one, two] = [computer.process(), computer.process()];
      for (const [name, limit] of Object.entries(LIMITS)) await one.budgets.limit(name, usd(limit));
      const truth = { a: 0n, b: 0n };
      await Promise.all(
        purchases.map(async (wanted, index) => {
          const taken = await buy(index % 2 === 0 ? one : two, `buy-${index}`, wanted);
          for (const budget of wanted.budgets) truth[budget] += taken;
        }),
      );
      for (const name of ["a", "b"] as const) {
        const { spent, reserved } = await one.budgets.get(name);
        assert.equal(spent + reserved, truth[name]);
      }
      await closeAll([one, two]);
    }),
    runs(60),
  ));

test("nothing starts at or after execute_by, and no decision counts at or after decide_by", () => {
  const times = fc.record({
    decide: fc.option(fc.integer({ min: 1, max: 40 }), { nil: undefined }),
    execute: fc.option(fc.integer({ min: 1, max: 40 }), { nil: undefined }),
    voteAt: fc.integer({ min: 0, max: 60 }),
    runAt: fc.integer({ min: 0, max: 100 }),
  });
  return fc.assert(
    fc.asyncProperty(times, async ({ decide, execute, voteAt, runAt }) => {
      const computer = machine();
      const hp = computer.process();
      const policy: Verdict = {
        verdict: "escalate",
        ...(decide === undefined ? {} : { decideWithinMs: decide }),
        ...(execute === undefined ? {} : { executeWithinMs: execute }),
      };
      let ran = false;
      const run = () => {
        ran = true;
      };
      const tool = hp.gate({ name: "t", policy, run });
      await tool({}, { requestId: "t", waitMs: 0 });
      const id = (await hp.approvals.list({ status: "any" })).items[0]?.id ?? "";
      const begun = computer.clock.now();
      await computer.clock.advance(voteAt);
      const counted = await hp.approvals.approve(id, { by: "person:ann" }).then(
        () => true,
        () => false,
      );
      assert.equal(counted, decide === undefined || voteAt < decide);
      await computer.clock.advance(Math.max(0, runAt - voteAt));
      const elapsed = computer.clock.now() - begun;
      const answer = await tool({}, { requestId: "t", waitMs: 0 });
      const executeBy = execute === undefined ? Number.POSITIVE_INFINITY : (decide ?? 0) + execute;
      assert.equal(ran, counted && elapsed < executeBy);
      if ("code" in answer) assert.equal(answer.code, counted ? "lapsed" : "expired");
      await hp.close();
    }),
    runs(150),
  );
});

test("what the caller, the policy, the schema or the tool does to the arguments changes nothing that is kept or run", () => {
  const spoil = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [key, part] of Object.entries(value)) {
      spoil(part);
      (value as Record<string, unknown>)[key] = "spoilt";
    }
    (value as Record<string, unknown>)["added"] = "spoilt";
    if (Array.isArray(value)) value.length = 0;
  };
  return fc.assert(
    fc.asyncProperty(anyObject, anyJson, async (args, result) => {
      const computer = machine();
      const hp = computer.process();
      const original = canonicalJson(args);
      const seen: string[] = [];
      const returned = { result: JSON.parse(JSON.stringify(result)) as Json };
      const standard = {
        version: 1 as const,
        vendor: "spoiler",
        validate: (value: unknown) => {
          const clean = JSON.parse(canonicalJson(value)) as Json;
          spoil(value);
          return { value: clean };
        },
      };
      const tool = hp.gate({
        name: "t",
        effect: "idempotent",
        attempts: 2,
        input: { "~standard": standard },
        policy: (call) => {
          spoil(call.args);
          return "escalate";
        },
        run: (given, { attempt }) => {
          seen.push(canonicalJson(given));
          spoil(given);
          if (attempt === 1) throw new Error("again");
          return returned;
        },
      });
      const call = tool(args, { requestId: "t" });
      spoil(args);
      await settled(3);
      const id = (await hp.approvals.list()).items[0]?.id ?? "";
      assert.equal(canonicalJson((await hp.approvals.get(id)).args), original);
      const approvalArgs = (await hp.approvals.get(id)).args;
      spoil(approvalArgs);
      await hp.approvals.approve(id, { by: "person:ann" });
      await settled(5);
      await computer.clock.advance(1_000);
      const answer = await call;
      spoil(returned);
      assert.deepEqual(seen, [original, original]);
      assert.ok(answer.status === "done");
      assert.equal(canonicalJson(answer.result), canonicalJson({ result }));
      spoil(answer.result);
      const again = await tool(JSON.parse(original) as typeof args, { requestId: "t" });
      assert.ok(again.status === "done");
      assert.equal(canonicalJson(again.result), canonicalJson({ result }));
      assert.equal(canonicalJson((await hp.actions.get("t")).args), original);
      await hp.close();
    }),
    runs(100),
  );
});

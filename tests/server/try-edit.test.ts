// An edit that is tried: what is said of it is what a vote with it comes to, and nothing is written.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { z } from "zod";
import { type Holdpoint, holdpoint, secret } from "../../src/index.ts";
import type { Clock } from "../../src/kernel/clock.ts";
import type { Json } from "../../src/kernel/json.ts";
import { approvalStream } from "../../src/kernel/stream.ts";
import { addPerson, issueApiKey } from "../fixtures/people.ts";
import { type Answered, type Bench, type BenchOptions, serverSite } from "../fixtures/server.ts";
import { pick, type Random, randomFrom } from "./sample.ts";

type Fields = Record<string, unknown>;

const post = (body: unknown, headers: Record<string, string> = {}) =>
  ({ method: "POST", body, headers }) as const;
const PAY = z.object({
  amount: z.number().max(10_000),
  to: z.object({ name: z.string().min(1), city: z.string().optional() }),
  lines: z.array(z.object({ n: z.number() })).optional(),
  note: z.string().default("none"),
});
const PAID = { amount: 400, to: { name: "Ann" }, lines: [{ n: 1 }, { n: 2 }], note: "none" };
const TWO = { verdict: "escalate", rule: "two", approvers: { quorum: 2 } } as const;

/** Blocks above 5000, wants two people above 1000, changes amounts with a fraction, lets 13 and less through. */
const payOf = (hp: Holdpoint) =>
  hp.gate({
    name: "pay",
    input: PAY,
    policy: ({ args: { amount } }) => {
      if (amount > 5_000) return { verdict: "block", rule: "never", reason: "too much" };
      if (!Number.isInteger(amount))
        return {
          verdict: "revise",
          rule: "whole",
          set: { amount: Math.floor(amount) },
          reason: "whole units",
        };
      if (amount > 1_000) return TWO;
      return amount > 13 ? { verdict: "escalate", rule: "one" } : { verdict: "approve" };
    },
    run: () => "paid",
  });

async function site(t: TestContext, more: Partial<BenchOptions> = {}) {
  const { bench, hp } = await serverSite(t, { rate: 1_000_000, burst: 1_000_000, ...more });
  return { bench, hp, pay: payOf(hp) };
}

const freshFolder = () => mkdtempSync(join(tmpdir(), "holdpoint-try-"));

let count = 0;
async function asked(call: (options: object) => Promise<object>): Promise<string> {
  const answer = (await call({ requestId: `try-${count++}`, waitMs: 0 })) as { approval?: string };
  assert.ok(typeof answer.approval === "string", JSON.stringify(answer));
  return answer.approval;
}

function ok({ status, body, text }: Answered): Fields {
  assert.equal(status, 200, text);
  return body;
}

const tried = async (bench: Bench, id: string, edit: unknown): Promise<Fields> =>
  ok(await bench.ask(`/api/approvals/${id}/try`, post({ edit })));

const cast = (bench: Bench, id: string, edit: unknown, by = "ann"): Promise<Answered> =>
  bench.ask(`/api/approvals/${id}/votes`, post({ decision: "approve", edit, approved_by: by }));

describe("an edit that is tried", () => {
  test("has an outcome for each thing that can become of it, with what changes", async (t) => {
    const { bench, pay } = await site(t);
    const id = await asked((options) => pay(PAID, options));
    const outcome = async (edit: unknown) => (await tried(bench, id, edit))["outcome"];
    assert.equal(await outcome({}), "same");
    assert.equal(await outcome({ amount: 400, note: "none" }), "same");
    assert.equal(await outcome({ amount: 2_000 }), "asks");

    assert.deepEqual(await tried(bench, id, { amount: 300, lines: [{ n: 1 }, { n: 3 }] }), {
      outcome: "stands",
      args: { ...PAID, amount: 300, lines: [{ n: 1 }, { n: 3 }] },
      issues: [],
      verdict: { verdict: "escalate", rule: "one", reason: "", policy: "in code" },
      changes: [
        { path: ["amount"], before: 400, after: 300 },
        { path: ["lines", 1, "n"], before: 2, after: 3 },
      ],
    });
    assert.partialDeepStrictEqual(await tried(bench, id, { amount: 9_000 }), {
      outcome: "blocked",
      verdict: { verdict: "block", rule: "never", reason: "too much" },
    });
    assert.partialDeepStrictEqual(await tried(bench, id, { amount: 20.5 }), {
      outcome: "revised",
      args: { amount: 20 },
      verdict: { verdict: "revise", rule: "whole" },
      changes: [{ path: ["amount"], before: 400, after: 20 }],
    });
    const misfit = await tried(bench, id, { amount: "x", to: { name: "" }, lines: [{ n: 1 }, { n: "y" }] });
    assert.equal(misfit["outcome"], "misfit");
    assert.deepEqual(
      (misfit["issues"] as { path: unknown }[]).map(({ path }) => path),
      [["amount"], ["to", "name"], ["lines", 1, "n"]],
    );
    assert.equal(misfit["verdict"], null);
    const stands = (await bench.ask(`/api/approvals/${id}`)).body;
    assert.deepEqual([stands["status"], stands["args"], stands["votes"]], ["pending", PAID, []]);
  });

  test("of a tool that is not here is unknown, unless the kept schema says that it does not fit", async (t) => {
    const folder = freshFolder();
    const { bench } = await site(t, { folder });
    const place = { folder: join(folder, "data"), keyFile: join(folder, "key.json") };
    const elsewhere = holdpoint({ ...place, notify: () => undefined });
    t.after(async () => {
      await elsewhere.close();
      rmSync(folder, { recursive: true });
    });
    const wire = elsewhere.gate({ name: "wire", input: PAY, policy: "escalate", run: () => 1 });
    const id = await asked((options) => wire(PAID, options));
    assert.partialDeepStrictEqual(await tried(bench, id, { amount: 1 }), {
      ...{ outcome: "unknown", verdict: null, issues: [] },
      changes: [{ path: ["amount"], before: 400, after: 1 }],
    });
    assert.partialDeepStrictEqual(await tried(bench, id, { amount: "1" }), {
      ...{ outcome: "misfit", issues: [{ path: ["amount"] }] },
    });
    assert.equal((await cast(bench, id, { amount: "1" })).status, 400);
    const { kind } = ok(await cast(bench, id, { amount: 1 }));
    assert.equal(kind, "edit_open");
  });

  test("of what an agent outside performs is judged by the policy document that is in force", async (t) => {
    const folder = freshFolder();
    t.after(() => rmSync(folder, { recursive: true }));
    const policy = join(folder, "notes.json");
    const shouting = { id: "shouting", tool: "note.write", when: 'args.t == "AAA"', verdict: "block" };
    const rules = [{ ...shouting, reason: "no" }];
    writeFileSync(policy, JSON.stringify({ policy: "notes", default: "escalate", rules }));
    const { bench } = await site(t, { policy });
    const proposal = { tool: "note.write", args: { t: "hello" }, agent: "agent:far" };
    const { approval_id } = ok(await bench.ask("/api/actions", post(proposal)));
    const id = String(approval_id);
    assert.partialDeepStrictEqual(await tried(bench, id, { t: "AAA" }), {
      ...{ outcome: "blocked", verdict: { verdict: "block", rule: "shouting", policy: "notes" } },
    });
    assert.partialDeepStrictEqual(await tried(bench, id, { t: "hi" }), {
      ...{ outcome: "stands", verdict: { verdict: "escalate", policy: "notes" } },
    });
    const { reviews } = (await bench.ask(`/api/approvals/${id}/card`)).body["card"] as Fields;
    assert.partialDeepStrictEqual(reviews, [{ verdict: "escalate", policy_name: "notes", edited_by: null }]);
  });

  test("asks people anew where the tool shows something else of it, or stages begin again", async (t) => {
    const { bench, hp } = await site(t);
    const ship = hp.gate({
      name: "ship",
      policy: "escalate",
      preview: ({ n }: { n: number }) => `${n > 1 ? "several" : "one"} shipped`,
      run: () => 1,
    });
    const shown = await asked((options) => ship({ n: 2 }, options));
    assert.equal((await tried(bench, shown, { n: 3 }))["outcome"], "stands");
    assert.equal((await tried(bench, shown, { n: 1 }))["outcome"], "asks");
    ok(await cast(bench, shown, { n: 1 }));
    assert.deepEqual((await hp.approvals.get(shown)).votes, []);

    const stages = [{ from: ["person:ann"] }, { from: ["person:bob"] }];
    const wire = hp.gate({ name: "wire", policy: { verdict: "escalate", stages }, run: (_: Json) => 1 });
    const staged = await asked((options) => wire({ n: 1 }, options));
    assert.equal((await tried(bench, staged, { n: 2 }))["outcome"], "stands");
    await hp.approvals.approve(staged, { by: "person:ann" });
    assert.equal((await tried(bench, staged, { n: 2 }))["outcome"], "asks");
    ok(await cast(bench, staged, { n: 2 }, "bob"));
    assert.deepEqual(
      [(await hp.approvals.get(staged)).stage, (await hp.approvals.get(staged)).votes],
      [1, []],
    );
  });

  test("of a checkpoint stands as it is written, and an answer has to fit its question", async (t) => {
    const { bench, hp } = await site(t);
    const flow = hp.workflow("flow", async (ctx, _: object) => {
      await ctx.checkpoint("look", { outputs: { plan: "a", n: 1 } });
      await ctx.ask("count", "How many?", { answer: z.object({ n: z.number() }) });
    });
    await flow.start({});
    const waiting = async () => {
      for (let look = 0; look < 500; look++) {
        const [one] = (await hp.approvals.list()).items;
        if (one !== undefined) return one.id;
        await new Promise<void>((resolve) => setTimeout(resolve, 10));
      }
      return assert.fail("nothing waits");
    };
    const checkpoint = await waiting();
    assert.partialDeepStrictEqual(await tried(bench, checkpoint, { plan: "b" }), {
      ...{ outcome: "stands", args: { plan: "b", n: 1 }, verdict: null },
    });
    ok(await cast(bench, checkpoint, { plan: "b" }));
    const question = await waiting();
    assert.partialDeepStrictEqual(await tried(bench, question, { n: "x" }), {
      ...{ outcome: "misfit", issues: [{ path: ["n"] }] },
    });
    assert.equal((await cast(bench, question, { n: "x" })).status, 400);
    assert.equal((await tried(bench, question, { n: 3 }))["outcome"], "stands");
    ok(await cast(bench, question, { n: 3 }));
  });

  test("is refused to whom a vote would be, on what is over, with secrets in clear and without end", async (t) => {
    process.env["TRY_EDIT_TOKEN"] = "tok-5f1b9c";
    t.after(() => delete process.env["TRY_EDIT_TOKEN"]);
    const { bench, hp } = await site(t, { noAuth: false });
    const call = hp.gate({ name: "call", policy: "escalate", run: (_: Json) => 1 });
    const args = { token: secret("env:TRY_EDIT_TOKEN"), n: 1 };
    const id = await asked((options) => call(args as never, options));
    const { runtime } = await bench.server.office();
    const key = async (name: string, role: "supervisor" | "auditor") => {
      await addPerson(runtime, { person: `person:${name}`, roles: [role], by: "person:root" });
      const { text } = await issueApiKey(runtime, { principal: `person:${name}`, name, by: "person:root" });
      return { authorization: `Bearer ${text}` };
    };
    const [ann, bob] = [await key("ann", "supervisor"), await key("bob", "auditor")];
    const ask = (edit: unknown, headers: Record<string, string>, more: object = {}) =>
      bench.ask(`/api/approvals/${id}/try`, post({ edit, ...more }, headers));
    const kept = ok(await ask({ n: 2 }, ann));
    assert.deepEqual(kept["args"], { token: { $secret: "env:TRY_EDIT_TOKEN" }, n: 2 });
    const clear = await ask({ n: "tok-5f1b9c" }, ann);
    assert.deepEqual([clear.status < 500, clear.body["code"]], [true, "secret_transformed"]);
    assert.ok(!clear.text.includes("tok-5f1b9c"));
    const forged = await ask({ n: { $secret: "env:HOME" } }, ann);
    assert.equal(forged.body["code"], "reserved_key");
    assert.equal((await ask({ n: 2 }, bob)).status, 403);
    assert.equal((await ask({ n: 2 }, ann, { approved_by: "person:bob" })).status, 403);
    let deep: unknown = 1;
    for (let level = 0; level < 80; level++) deep = [deep];
    assert.equal((await ask({ n: deep }, ann)).status, 400);
    await hp.approvals.reject(id, { by: "person:ann", reason: "no" });
    const over = await ask({ n: 2 }, ann);
    assert.deepEqual([over.status, over.body["code"]], [409, "decision_conflict"]);
    assert.match(over.text, /would be refused.*Nothing was written/);
  });
});

test("an approver reads no secret by moving its handle into a field that is told to others", async (t) => {
  process.env["TRY_EDIT_MOVED"] = "tok-77aa0191";
  t.after(() => delete process.env["TRY_EDIT_MOVED"]);
  const { bench, hp } = await site(t);
  const ran: unknown[] = [];
  const input = z.object({ channel: z.string(), text: z.string(), tokens: z.array(z.string()) });
  const call = hp.gate({ name: "post", input, policy: "escalate", run: (args) => void ran.push(args) });
  const handle = { $secret: "env:TRY_EDIT_MOVED" };
  const args = { channel: "ops", text: "deployed", tokens: ["none", secret("env:TRY_EDIT_MOVED")] };
  const requestId = "moved";
  const id = await asked((options) => call(args, { ...options, requestId }));
  const { binding } = await hp.approvals.get(id);
  const submit = { request_id: id, decision: "MODIFIED", rationale: "so", approved_by: "ann" };
  const one = { request_id: id, binding, decision: "approve" };
  const doors = (edit: object) => [
    () => bench.ask(`/api/approvals/${id}/try`, post({ edit })),
    () => cast(bench, id, edit),
    () => bench.ask("/api/approvals/submit", post({ ...submit, modifications: edit })),
    () => bench.ask("/api/approvals/batch", post({ approved_by: "ann", decisions: [{ ...one, edit }] })),
  ];
  for (const edit of [{ channel: "mallorys", text: handle }, { tokens: [handle, "none"] }])
    for (const door of doors(edit)) assert.match((await door()).text, /"reserved_key"/);
  const stays = { channel: "dev", tokens: ["some", handle] };
  assert.equal(ok(await bench.ask(`/api/approvals/${id}/try`, post({ edit: stays })))["outcome"], "stands");
  ok(await cast(bench, id, stays));
  await call(args, { requestId });
  assert.deepEqual(ran, [{ channel: "dev", text: "deployed", tokens: ["some", "tok-77aa0191"] }]);
});

test("whether a secret's value stands in an edit is said only to who may decide, recorded, and not often", async (t) => {
  process.env["TRY_EDIT_PIN"] = "483920";
  t.after(() => delete process.env["TRY_EDIT_PIN"]);
  const { bench, hp } = await site(t);
  const policy = { verdict: "escalate", approvers: { from: ["person:ann"] } } as const;
  const call = hp.gate({
    name: "call",
    input: z.object({ pin: z.string(), to: z.string() }),
    policy,
    run: () => 1,
  });
  const args = { pin: secret("env:TRY_EDIT_PIN"), to: "x" };
  const id = await asked((options) => call(args as never, options));
  const tryAs = (to: unknown, by: string) =>
    bench.ask(`/api/approvals/${id}/try`, post({ edit: { to }, approved_by: by }));
  const said = ({ status, body: { code, detail } }: Answered) => [status, code, detail];
  const wrong = said(await tryAs("483921", "eve"));
  assert.deepEqual(wrong.slice(0, 2), [403, "not_eligible"]);
  assert.deepEqual(said(await tryAs("483920", "eve")), wrong);
  const refused = said(await cast(bench, id, { to: "483921" }, "eve"));
  assert.deepEqual(refused.slice(0, 2), [403, "not_eligible"]);
  assert.deepEqual(said(await cast(bench, id, { to: "483920" }, "eve")), refused);

  const clear = await cast(bench, id, { to: "a 483920" });
  assert.deepEqual([clear.status, clear.body["code"]], [400, "secret_transformed"]);
  assert.match(String(clear.body["data"]), /refused decision was recorded/);
  const { runtime } = await bench.server.office();
  const events = await runtime.store.read(runtime.tenant, approvalStream(id));
  const refusals = events.filter(({ header }) => JSON.parse(header).type === "approval.vote_refused");
  const codes = refusals.map(({ body }) => JSON.parse(body ?? "{}").code);
  assert.deepEqual(codes, ["not_eligible", "not_eligible", "secret_transformed"]);
  assert.ok(!JSON.stringify(events).includes("483920"));

  for (let time = 1; time < 9; time++) assert.equal((await tryAs(`${time} 483920`, "ann")).status, 400);
  for (const to of ["483920", "483921"]) {
    const often = await tryAs(to, "ann");
    assert.equal(often.status, 429, often.text);
    assert.ok(Number(often.headers["retry-after"]) > 0);
  }
  assert.equal((await cast(bench, id, { to: "y" })).status, 429);
  const elapsed = performance.now();
  t.mock.method(runtime.clock as Required<Clock>, "elapsed", () => elapsed + 3_600_000);
  assert.equal((await tryAs("y", "ann")).status, 200);
});

test("an edit that does not fit is said to be so only to who may decide", async (t) => {
  const { bench, hp } = await site(t);
  const flow = hp.workflow("flow", async (ctx, _: object) => {
    await ctx.ask("count", "How many?", {
      answer: z.object({ n: z.number() }),
      approvers: { from: ["person:ann"] },
    });
  });
  await flow.start({});
  let id: string | undefined;
  while (id === undefined) {
    id = (await hp.approvals.list()).items[0]?.id;
    await new Promise<void>((resolve) => setTimeout(resolve, 10));
  }
  const foreign = await cast(bench, id, { n: "x" }, "eve");
  assert.deepEqual([foreign.status, foreign.body["code"]], [403, "not_eligible"]);
  const own = await cast(bench, id, { n: "x" });
  assert.deepEqual([own.status, own.body["code"]], [400, "invalid_args"]);
  assert.match(own.text, /does not fit the question/);
});

const AMOUNTS: readonly unknown[] = [400, 300, 13, 1, 20.5, 2_000, 4_999, 5_001, 20_000, "x", null, [1]];
const OTHERS: readonly Fields[] = [
  {},
  { to: { name: "Bob" } },
  { to: { name: "" } },
  { to: { name: "Ann", city: "Ulm" } },
  { lines: [] },
  { lines: [{ n: 1 }, { n: 2 }, { n: 3 }] },
  { lines: [{ n: "y" }] },
  { lines: null },
  { note: "none" },
  { note: 7 },
  { extra: true },
];

function randomEdit(random: Random): Fields {
  const amount = random() < 0.7 ? { amount: pick(random, AMOUNTS) } : {};
  return { ...amount, ...pick(random, OTHERS), ...(random() < 0.2 ? pick(random, OTHERS) : {}) };
}

test("whatever is said to stand is accepted by a vote with it, and whatever is not is refused", async (t) => {
  const { bench, hp, pay } = await site(t);
  const seed = Number(process.env["TRY_SEED"] ?? 20_261);
  const random = randomFrom(seed);
  const seen = new Set<unknown>();
  for (let round = 0; round < 120; round++) {
    const edit = randomEdit(random);
    const id = await asked((options) => pay(PAID, options));
    const label = `seed ${seed}, round ${round}: ${JSON.stringify(edit)}`;
    const said = await tried(bench, id, edit);
    seen.add(said["outcome"]);
    const answer = await cast(bench, id, edit);
    if (["blocked", "revised", "misfit"].includes(String(said["outcome"]))) {
      assert.ok(answer.status >= 400 && answer.status < 500, `${label}: ${answer.text}`);
      assert.equal((await hp.approvals.get(id)).status, "pending", label);
      continue;
    }
    const { approval_id: counts } = ok(answer);
    const stands = await hp.approvals.get(String(counts));
    assert.deepEqual(stands.args, said["args"], label);
    if (said["outcome"] === "asks") assert.notEqual(counts, id, label);
    else assert.deepEqual([counts, stands.votes[0]?.by], [id, "person:ann"], label);
    assert.equal(stands.edited, said["outcome"] === "stands", label);
  }
  assert.deepEqual([...seen].toSorted(), ["asks", "blocked", "misfit", "revised", "same", "stands"]);
});

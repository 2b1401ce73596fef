// Policies on trial over HTTP: checked, explained, back-tested and suggested, and nothing is put in force by it.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { getTrial } from "../../src/policy/backtest/run.ts";
import { issueApiKey } from "../fixtures/people.ts";
import type { Bench } from "../fixtures/server.ts";
import { approve, POLICY, type Refunds, refundsBench, reject } from "./refunds.ts";

const post = (body: unknown) => ({ method: "POST", body }) as const;
type Body = Record<string, unknown>;

async function asked(bench: Bench, path: string, body?: unknown): Promise<Body> {
  const answer = await bench.ask(path, body === undefined ? {} : post(body));
  assert.ok(answer.status === 200 || answer.status === 202, answer.text);
  return answer.body;
}

/** Followed until it has ended. */
async function tried(bench: Bench, terms: object): Promise<Body> {
  const begun = await asked(bench, "/api/policies/trials", terms);
  assert.equal(begun["state"], "running");
  for (let look = 0; look < 1_000; look++) {
    const trial = await asked(bench, `/api/policies/trials/${String(begun["trial_id"])}`);
    if (trial["state"] !== "running") return trial;
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  return assert.fail("it does not end");
}

/** Everybody is asked about more than before, and about nothing any more. */
const LOOSER = POLICY.replace("args.amount_usd > 100", "args.amount_usd > 1000");

test("a policy's text is checked by line and column, against the tools that the journal knows", async (t) => {
  const { bench, refund } = await refundsBench(t);
  await refund(200);
  const check = (text: string) => asked(bench, "/api/policies/check", { text });
  const fine = await check(POLICY);
  assert.partialDeepStrictEqual(fine, { name: "refunds", is_all: true, unchecked: ["pay"] });
  assert.match(String(fine["digest"]), /^[0-9a-f]{64}$/);
  assert.deepEqual(
    (fine["remarks"] as Body[]).filter(({ severity }) => severity === "fault"),
    [],
  );
  const wrong = await check(POLICY.replace("args.amount_usd > 100", "args.amont_usd > 100"));
  assert.partialDeepStrictEqual(wrong, { name: null, digest: null, is_all: true });
  const [fault] = (wrong["remarks"] as Body[]).filter(({ severity }) => severity === "fault");
  assert.partialDeepStrictEqual(fault, { line: 8, column: 43 });
  assert.match(String(fault?.["message"]), /did you mean amount_usd/);
  const broken = await check("rules: [\n  {");
  assert.equal(broken["is_all"], false);
  assert.ok((broken["remarks"] as Body[]).length > 0);
});

test("no text keeps the server busy: bombs are refused, and so is what is too long", async (t) => {
  const { bench } = await refundsBench(t);
  const bomb = `a: &a [x,x]\n${"bcdefghijklmno".replace(/./g, (name) => `${name}: &${name} [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n`)}`;
  const deep = `policy: ${"[".repeat(5_000)}`;
  for (const text of [bomb, deep]) {
    const { name, remarks } = await asked(bench, "/api/policies/check", { text });
    assert.equal(name, null);
    assert.equal((remarks as Body[])[0]?.["severity"], "fault");
    assert.equal((await bench.ask("/api/policies/trials", post({ text }))).status, 422);
    const about = { action: { tool: "refund", args: {} } };
    assert.equal((await bench.ask("/api/policies/explain", post({ text, ...about }))).status, 422);
  }
  const long = "x".repeat(65_537);
  assert.equal((await bench.ask("/api/policies/check", post({ text: long }))).status, 400);
});

test("a recorded action is explained rule by rule, by what is in force and by another policy", async (t) => {
  const { bench, refund } = await refundsBench(t);
  const id = await refund(600);
  const { explanations } = await asked(bench, "/api/policies/explain", { action_id: id });
  const [one, ...others] = explanations as Body[];
  assert.deepEqual(others, []);
  const said = { verdict: "escalate", rule: "asked", reason: "over 100 USD" };
  assert.partialDeepStrictEqual(one, {
    policy: "refunds",
    final: { ...said, args: { amount_usd: 600 }, changed: false },
    risk: { score: 40, conditions: ["large"] },
    recorded: said,
    rules: [
      { id: "other", state: "other_tool", note: "" },
      { id: "asked", state: "decided", note: "args.amount_usd > 100; args.amount_usd = 600" },
      { id: "tried", verdict: "block", state: "shadow" },
    ],
  });
  const looser = await asked(bench, "/api/policies/explain", { action_id: id, text: LOOSER });
  assert.partialDeepStrictEqual((looser["explanations"] as Body[])[0], {
    final: { verdict: "approve" },
    recorded: said,
  });
});

test("an action that nobody proposed is explained too; one that is nowhere is not found", async (t) => {
  const { bench } = await refundsBench(t);
  const explain = (body: object) => bench.ask("/api/policies/explain", post(body));
  const action = { tool: "refund", args: { amount_usd: 20 }, agent: "anna" };
  const { explanations } = (await explain({ action })).body;
  assert.partialDeepStrictEqual((explanations as Body[])[0], {
    final: { verdict: "approve", rule: "default" },
    recorded: null,
  });
  assert.equal((await explain({ action_id: "act_01ARZ3NDEKTSV4RRFFQ69G5FAV" })).status, 404);
  assert.equal((await explain({})).status, 400);
  assert.equal((await explain({ action, action_id: "x" })).status, 400);
});

test("a back-test is begun, followed, and tells what would change: what people rejected first", async (t) => {
  const { bench, refund } = await refundsBench(t);
  await refund(20);
  const approved = await refund(150, approve("person:ann"));
  const rejected = await refund(900, reject);
  const trial = await tried(bench, { text: LOOSER, amount: "args.amount_usd" });
  assert.partialDeepStrictEqual(trial, {
    state: "done",
    fault: null,
    report: {
      ...{ actions: 3, compared: 3, changed: 2, left_off: { dangers: 0, changes: 0 } },
      transitions: [{ from: "escalate", to: "approve", count: 2 }],
      dangers: [
        {
          ...{ action_id: rejected, tool: "refund", person: { decision: "rejected" } },
          ...{ from: { verdict: "escalate" }, to: { verdict: "approve" } },
        },
      ],
      changes: [
        {
          ...{ action_id: approved, person: { decision: "approved" }, to: { rule: "default" } },
          args: { text: '{"amount_usd":150}', characters: 18 },
        },
        { action_id: rejected },
      ],
    },
  });
  assert.equal(trial["read"], trial["of"]);
  const { transitions } = trial["report"] as { transitions: { sums: string[] }[] };
  assert.deepEqual(transitions[0]?.sums[0], "amount_usd 1050 in 2 actions");
  const { policies } = await asked(bench, "/api/policies");
  assert.equal((policies as Body[]).length, 1, "nothing was put in force");
});

test("of arguments that are long a back-test lists the beginning, short fields first, and says so", async (t) => {
  const { bench, hp } = await refundsBench(t);
  const note = "x".repeat(100_000);
  const pay = hp.gate({ name: "pay", run: (_: object) => "paid" });
  await pay({ note, to: "Ann", amount_usd: 700 }, { requestId: "long" });
  const { report } = await tried(bench, { text: POLICY.replace("verdict: block", "verdict: escalate") });
  const [one] = (report as { changes: { args: { text: string; characters: number } }[] }).changes;
  assert.equal(one?.args.text.length, 2_000);
  assert.ok(one.args.text.startsWith('{"amount_usd":700,"to":"Ann","note":"xxx'));
  assert.equal(one.args.characters, 100_039);
});

test("a back-test that goes wrong says why; one that nobody began is not found", async (t) => {
  const { bench, refund } = await refundsBench(t);
  await refund(20);
  const trial = await tried(bench, { text: LOOSER, amount: "amont_usd" });
  assert.equal(trial["state"], "failed");
  assert.match(String(trial["fault"]), /Did you mean amount_usd/);
  assert.equal(trial["report"], null);
  const unusable = await bench.ask("/api/policies/trials", post({ text: "policy: [" }));
  assert.deepEqual([unusable.status, unusable.body["code"]], [422, "policy_invalid"]);
  assert.match(String(unusable.body["detail"]), /line 1:/);
  assert.equal((await bench.ask("/api/policies/trials/trl_01ARZ3NDEKTSV4RRFFQ69G5FAV")).status, 404);
});

test("one back-test at a time; others are answered meanwhile, and it ends with the server", async (t) => {
  const { bench, refund } = await refundsBench(t);
  await refund(20);
  const { runtime } = await bench.server.office();
  const { promise: goesOn, resolve: goOn } = Promise.withResolvers<void>();
  const read = runtime.store.log;
  t.mock.method(runtime.store, "log", async (...asking: Parameters<typeof read>) => {
    await goesOn;
    return read(...asking);
  });
  const first = await asked(bench, "/api/policies/trials", { text: LOOSER });
  const second = await bench.ask("/api/policies/trials", post({ text: LOOSER }));
  assert.deepEqual([second.status, second.body["code"]], [429, "rate_limited"]);
  assert.equal(second.headers["retry-after"], "5");
  assert.equal((await asked(bench, "/api/actions"))["next_cursor"], null);
  await bench.close();
  goOn();
  const state = () => getTrial(runtime, String(first["trial_id"])).state;
  for (let look = 0; look < 1_000 && state() === "running"; look++)
    await new Promise<void>((resolve) => setImmediate(resolve));
  assert.equal(state(), "failed");
});

test("the latest few back-tests are kept, and for an hour", async (t) => {
  const { bench } = await refundsBench(t);
  const ids: string[] = [];
  for (let number = 0; number < 11; number++)
    ids.push(String((await tried(bench, { text: LOOSER }))["trial_id"]));
  const status = async (id = "") => (await bench.ask(`/api/policies/trials/${id}`)).status;
  assert.equal(await status(ids[0]), 404);
  assert.equal(await status(ids[1]), 200);
  const { runtime } = await bench.server.office();
  const now = runtime.clock.now();
  t.mock.method(runtime.clock, "now", () => now + 3_599_000);
  assert.equal(await status(ids[10]), 200);
  t.mock.method(runtime.clock, "now", () => now + 3_601_000);
  assert.equal(await status(ids[10]), 404);
});

async function habits(t: TestContext): Promise<Refunds> {
  const refunds = await refundsBench(t);
  for (let number = 0; number < 6; number++)
    await refunds.refund(150 + number, approve(number % 2 === 0 ? "person:ann" : "person:bob"));
  await refunds.refund(900, reject);
  return refunds;
}

test("what people's decisions support is suggested, as a rule to paste and a grant that can be given", async (t) => {
  const { bench } = await habits(t);
  const { suggestions, asked: count } = await asked(bench, "/api/policies/suggestions?min=5");
  assert.equal(count, 7);
  const [one, ...others] = suggestions as Body[];
  assert.deepEqual(others, []);
  assert.partialDeepStrictEqual(one, {
    ...{ tool: "refund", approved: 6, people: ["person:ann", "person:bob"], kept_out: 1 },
    let_through: { total: 6 },
    open: [],
  });
  assert.match(String(one?.["headline"]), /^refund by agent:.*: approved 6 of 6, never changed$/);
  const [rule, grant] = [one?.["as_rule"], one?.["as_grant"]] as [Body, Body];
  assert.match(String(rule["text"]), /^- id: suggested_refund_.*\n {2}tool: 'refund'\n/);
  assert.match(String(rule["summary"]), /^As a rule/);
  const given = await bench.ask("/api/grants", post({ ...(grant["offer"] as object), by: "ann" }));
  assert.equal(given.status, 201, given.text);
  assert.partialDeepStrictEqual(given.body, {
    tool: "refund",
    uses: 6,
    limit: { total: { currency: "USD", micros: "915000000" } },
  });
  assert.deepEqual((await asked(bench, "/api/policies/suggestions"))["suggestions"], []);
});

test("suggestions are looked for once while several ask, and again when the journal has moved on", async (t) => {
  const { bench, refund } = await habits(t);
  const { runtime } = await bench.server.office();
  const log = t.mock.method(runtime.store, "log");
  const ask = () => bench.ask("/api/policies/suggestions?min=5");
  const [one, two, other] = await Promise.all([ask(), ask(), bench.ask("/api/policies/suggestions?min=6")]);
  assert.deepEqual([one?.status, two?.status, other?.status], [200, 200, 429]);
  const read = log.mock.callCount();
  await ask();
  assert.equal(log.mock.callCount(), read, "kept for a while");
  await refund(157, approve("person:ann"));
  const { suggestions } = (await ask()).body;
  assert.equal((suggestions as Body[])[0]?.["approved"], 7);
});

test("they show actions: a key without that scope is refused", async (t) => {
  const { bench } = await refundsBench(t, { noAuth: false });
  const { runtime } = await bench.server.office();
  const key = { principal: "agent:a", name: "a", roles: ["executor"], by: "person:ann" } as const;
  const { text } = await issueApiKey(runtime, { ...key, scopes: ["policies:read"] });
  const headers = { authorization: `Bearer ${text}` };
  assert.equal((await bench.ask("/api/policies", { headers })).status, 200);
  assert.equal((await bench.ask("/api/policy-tools", { headers })).status, 200);
  const told = await bench.ask("/api/actions/x/first-review", { headers });
  assert.equal(told.status, 403, "what is told of an action, with its arguments, needs the scope of actions");
  const about = { action: { tool: "refund", args: {} } };
  for (const [path, body] of [
    ["check", { text: POLICY }],
    ["explain", about],
    ["trials", { text: POLICY }],
    ["trials/x", undefined],
    ["suggestions", undefined],
  ] as const) {
    const sent = body === undefined ? {} : post(body);
    const answer = await bench.ask(`/api/policies/${path}`, { ...sent, headers });
    assert.equal(answer.status, 403, path);
    assert.match(String(answer.body["detail"]), /actions:read/);
  }
});

test("a text is people's: an agent and a service have only what is in force explained", async (t) => {
  const { bench } = await refundsBench(t, { noAuth: false });
  const { runtime } = await bench.server.office();
  const about = { action: { tool: "refund", args: {} } };
  for (const principal of ["agent:a", "service:s"]) {
    const key = { principal, name: "a", roles: ["executor"], by: "person:ann" } as const;
    const scopes = ["policies:read", "actions:read"] as const;
    const { text } = await issueApiKey(runtime, { ...key, scopes });
    const headers = { authorization: `Bearer ${text}` };
    const ask = (path: string, body: object) =>
      bench.ask(`/api/policies/${path}`, { ...post(body), headers });
    for (const [path, body] of [
      ["check", { text: POLICY }],
      ["explain", { text: POLICY, ...about }],
      ["trials", { text: POLICY }],
    ] as const) {
      const { status, body: said } = await ask(path, body);
      assert.equal(status, 403, path);
      assert.match(String(said["detail"]), /Only people/);
    }
    assert.equal((await ask("explain", about)).status, 200);
  }
});

test("arguments that every rule would look at for long are not explained", async (t) => {
  const { bench } = await refundsBench(t);
  const explain = async (length: number) => {
    const args = { amount_usd: 1, note: "x".repeat(length) };
    return (await bench.ask("/api/policies/explain", post({ action: { tool: "refund", args } }))).status;
  };
  assert.equal(await explain(65_000), 200);
  assert.equal(await explain(65_536), 413);
});

test("two checks or explanations are under way for somebody, and one more is told to come again", async (t) => {
  const { bench } = await refundsBench(t);
  const all = [1, 2, 3].map(() => bench.ask("/api/policies/check", post({ text: POLICY })));
  const answers = await Promise.all(all);
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 200, 429]);
  assert.equal(answers.find(({ status }) => status === 429)?.headers["retry-after"], "1");
  await asked(bench, "/api/policies/check", { text: POLICY });
});

test("a policy is shown as people would write it, and reads back as the same", async (t) => {
  const { bench } = await refundsBench(t);
  const { text, digest } = await asked(bench, "/api/policies/refunds");
  assert.match(String(text), /^policy: refunds\ndefault: approve\n/);
  const again = await asked(bench, "/api/policies/check", { text });
  assert.equal(again["digest"], digest);
});

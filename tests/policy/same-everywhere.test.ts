// One table of approver rules that nobody may mean: a policy file, a request over HTTP and every place in code refuse each of them.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isHoldpointError } from "../../src/kernel/errors.ts";
import { readPolicy } from "../../src/policy/read.ts";
import type { Verdict } from "../../src/policy/rules/verdict.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { serverBench } from "../fixtures/server.ts";

type Rule = Readonly<Record<string, unknown>>;

/** As code has it, and the same in the words of a file and of a request, where those differ. */
type Bad = { readonly code: Rule; readonly file?: Rule; readonly wire?: Rule };

const LONG = `person:${"x".repeat(300)}`;

/** Of `approvers`. Each is a rule of a stage as well. */
const RULES: Readonly<Record<string, Bad>> = {
  "a misspelt quorum": { code: { quorom: 2 } },
  "a quorum in capitals": { code: { QUORUM: 2 } },
  "a word that nothing reads": { code: { because: "it is late" } },
  "a field of another spelling": {
    code: { escalate_at_half: ["person:ann"] },
    file: { escalateAtHalf: ["person:ann"] },
    wire: { escalateAtHalf: ["person:ann"] },
  },
  "a quorum that is text": { code: { quorum: "2" } },
  "a quorum that is null": { code: { quorum: null } },
  "a quorum of nobody": { code: { quorum: 0 } },
  "a quorum below nobody": { code: { quorum: -1 } },
  "half a person": { code: { quorum: 1.5 } },
  "a quorum of more than anybody has": { code: { quorum: 1_001 } },
  "a quorum that the people named cannot meet": { code: { quorum: 2, from: ["person:ann"] } },
  nobody: { code: { from: [] } },
  "people that are a number": { code: { from: 5 } },
  "a person that is a number": { code: { from: [5] } },
  "a person without person:": { code: { from: ["ann"] } },
  "an agent among the people": { code: { from: ["agent:mailer"] } },
  "a service among the people": { code: { from: ["service:mailer"] } },
  "a role that there is not": { code: { from: ["role:boss"] } },
  "a group without a name": { code: { from: ["group:"] } },
  "a veto that is text": { code: { veto: "no" } },
  "a veto that is null": { code: { veto: null } },
  "separation of duties that is text": {
    code: { separate: "yes" },
    file: { separation_of_duties: "yes" },
  },
  "reminders each second": {
    code: { remindEveryMs: 1_000 },
    file: { remind_every: "1s" },
    wire: { remind_every: "1s" },
  },
  "reminders that are no time": {
    code: { remindEveryMs: "often" },
    file: { remind_every: "often" },
    wire: { remind_every: "often" },
  },
  "half time for a person without person:": {
    code: { from: ["person:ann"], escalateAtHalf: ["bob"] },
    file: { from: ["person:ann"], at_half_time: { also: ["bob"] } },
    wire: { from: ["person:ann"], escalate_at_half: ["bob"] },
  },
  "half time for nobody": {
    code: { from: ["person:ann"], escalateAtHalf: [] },
    file: { from: ["person:ann"], at_half_time: { also: [] } },
    wire: { from: ["person:ann"], escalate_at_half: [] },
  },
  "a name without end": { code: { from: [LONG] } },
};

/** Of everything that is said about who is asked. */
const ASKED: Readonly<Record<string, Bad>> = {
  "misspelt approvers": { code: { aprovers: { quorum: 2 } } },
  "misspelt stages": { code: { stage: [{}, {}] } },
  "approvers that are a list": { code: { approvers: [{ quorum: 2 }] } },
  "approvers that are text": { code: { approvers: "person:ann" } },
  "approvers and stages": { code: { approvers: {}, stages: [{}, {}] } },
  "stages that are none": { code: { stages: [] } },
  "eleven stages": { code: { stages: Array.from({ length: 11 }, () => ({})) } },
  "stages that need one person twice": {
    code: { stages: [{ from: ["person:ann"] }, { from: ["person:ann"] }] },
  },
  "a stage that is text": { code: { stages: ["person:ann"] } },
  "a deadline that it does not have": {
    code: { stages: [{}, { decideWithinMs: 0 }] },
    file: { stages: [{}, { decide_by: "0s" }] },
    wire: { stages: [{}, { timeout_seconds: 0 }] },
  },
  "a deadline that is text": {
    code: { stages: [{}, { decideWithinMs: "soon" }] },
    file: { stages: [{}, { decide_by: "soon" }] },
    wire: { stages: [{}, { timeout_seconds: "soon" }] },
  },
  "an end that there is not": {
    code: { onTimeout: "approve" },
    file: { on_timeout: "approve" },
    wire: { on_timeout: "approve" },
  },
  "handing over to a stage that there is not": {
    code: { onTimeout: "escalate" },
    file: { on_timeout: "escalate" },
    wire: { on_timeout: "escalate" },
  },
};

const over = (wrap: (rule: Rule) => Rule, { code, file = code, wire = code }: Bad): Bad => ({
  code: wrap(code),
  file: wrap(file),
  wire: wrap(wire),
});
const named = (where: string, rules: Readonly<Record<string, Bad>>, wrap: (rule: Rule) => Rule) =>
  Object.entries(rules).map(([name, bad]) => [`${name}${where}`, over(wrap, bad)] as const);

const BAD: readonly (readonly [string, Bad])[] = [
  ...named(", of approvers", RULES, (approvers) => ({ approvers })),
  ...named(", of a stage", RULES, (rule) => ({ stages: [{}, rule] })),
  ...named("", ASKED, (asked) => asked),
];
/** What all of them take, so that a refusal is of the fault and not of the place. */
const GOOD: Bad = {
  code: {
    stages: [
      { quorum: 2, from: ["person:ann", "person:bob"], veto: false, separate: true },
      {
        from: ["person:cat"],
        escalateAtHalf: ["person:dan"],
        remindEveryMs: 60_000,
        decideWithinMs: 5_000,
      },
    ],
    onTimeout: "escalate",
  },
  file: {
    stages: [
      { quorum: 2, from: ["person:ann", "person:bob"], veto: false, separation_of_duties: true },
      {
        from: ["person:cat"],
        at_half_time: { also: ["person:dan"] },
        remind_every: "1m",
        decide_by: "5s",
      },
    ],
    on_timeout: "escalate",
  },
  wire: {
    stages: [
      { quorum: 2, from: ["person:ann", "person:bob"], veto: false, separate: true },
      {
        from: ["person:cat"],
        escalate_at_half: ["person:dan"],
        remind_every: "1m",
        timeout_seconds: 5,
      },
    ],
    on_timeout: "escalate",
  },
};

function inFile(rule: Rule): readonly string[] {
  const text = JSON.stringify({ policy: "p", rules: [{ id: "r", verdict: "escalate", ...rule }] });
  const read = readPolicy(text, null);
  return read.ok ? [] : read.findings.map(({ message }) => message);
}

test("in a policy file", () => {
  assert.deepEqual(inFile(GOOD.file ?? {}), []);
  for (const [name, { file }] of BAD) assert.notDeepEqual(inFile(file ?? {}), [], name);
});

test("over HTTP", async (t) => {
  const bench = await serverBench(t, { rate: 100_000, burst: 100_000 });
  const create = (rule: Rule) =>
    bench.ask("/api/workflows", {
      method: "POST",
      body: { name: "w", executor_id: "a", checkpoints: [{ name: "Pay", ...rule }] },
    });
  const good = await create(GOOD.wire ?? {});
  assert.equal(good.status, 200, good.text);
  for (const [name, { wire }] of BAD) {
    const { status, text } = await create(wire ?? {});
    assert.ok(status === 400 || status === 422, `${name}: ${status} ${text}`);
  }
});

test("in code, where a program declares who is asked", async (t) => {
  const { open } = temporaryFolder(t);
  const hp = open();
  const run = () => "ran";
  let count = 0;
  const places: Readonly<Record<string, (rule: Rule) => unknown>> = {
    "hp.gate": (rule) =>
      hp.gate({ name: `t${count++}`, run, policy: { verdict: "escalate", ...rule } as Verdict }),
    "hp.remote.tool": (rule) =>
      hp.remote.tool({ name: `t${count++}`, policy: { verdict: "escalate", ...rule } as Verdict }),
    "hp.workflow": (rule) =>
      hp.workflow(`t${count++}`, { policy: { verdict: "escalate", ...rule } as Verdict }, run),
    "a checkpoint": (rule) => hp.workflow(`t${count++}`, { checkpoints: [{ name: "Pay", ...rule }] }, run),
    "a workflow from outside": (rule) =>
      hp.remote.workflows.create({ name: "w", by: "agent:a", checkpoints: [{ name: "Pay", ...rule }] }),
  };
  for (const [place, take] of Object.entries(places)) {
    await take(GOOD.code);
    for (const [name, { code }] of BAD)
      await assert.rejects(
        async () => take(code),
        (error) =>
          isHoldpointError(error, "invalid_input") || isHoldpointError(error, "unsatisfiable_quorum"),
        `${place}: ${name}`,
      );
  }
  await hp.close();
});

describe("in code, where a policy function answers", () => {
  test("it blocks, with the fault as the reason, and nobody is asked", async (t) => {
    const { open } = temporaryFolder(t);
    const hp = open();
    let said: unknown;
    const policy = () => said as Verdict;
    const tool = hp.gate({ name: "pay", policy, run: () => "ran" });
    const inFlow = hp.gate({ name: "inFlow", policy: "escalate", run: () => "ran" });
    const flow = hp.workflow("flow", { policy }, (ctx) => ctx.call(inFlow, {}));
    for (const [name, { code }] of BAD) {
      said = { verdict: "escalate", ...code };
      const answer = await tool({}, { waitMs: 0 });
      assert.partialDeepStrictEqual(answer, { status: "refused", code: "blocked" }, name);
      const ended = await flow.run({});
      assert.ok(ended.status === "completed" && "code" in ended.result, name);
      assert.equal(ended.result.code, "blocked", name);
    }
    assert.deepEqual((await hp.approvals.list({ status: "any" })).items, []);
    said = { verdict: "escalate", ...GOOD.code };
    assert.partialDeepStrictEqual(await tool({}, { waitMs: 0 }), { status: "pending", code: "pending" });
    await hp.close();
  });
});

// A misspelt field and a wrong value are refused in every place in which a program hands over an object: no place leaves one out in silence.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { admin } from "../../src/admin.ts";
import { type Holdpoint, holdpoint, isHoldpointError, type WorkflowContext } from "../../src/index.ts";
import { wallClock } from "../../src/kernel/clock.ts";
import { createMemoryDatabase } from "../../src/stores/memory/database.ts";
import { openMemoryStore } from "../../src/stores/memory/open.ts";
import { FOLDS } from "../../src/streams.ts";
import { PROJECTIONS } from "../fixtures/runtime.ts";

const root = mkdtempSync(join(tmpdir(), "holdpoint-strict-"));
const database = createMemoryDatabase({
  folds: FOLDS,
  projections: PROJECTIONS,
  clock: wallClock,
  random: randomBytes,
});
const options = {
  store: openMemoryStore(database),
  keyFile: join(root, "key.json"),
  agent: "tester",
  notify: () => undefined,
};
let hp: Holdpoint;
let pending: string;

const run = () => assert.fail("something ran");
const by = "person:ann";
const said = { by, reason: "test" };
const USD = { currency: "USD", micros: 1n };
/** Anything goes in a test of what must not. */
const never = (value: unknown): never => value as never;
let names = 0;
const fresh = (): string => `t${++names}`;

before(async () => {
  hp = holdpoint(options);
  const pay = hp.gate({ name: "pay", policy: "escalate", run });
  await pay({}, { requestId: "first", waitMs: 0 });
  pending = (await hp.approvals.list()).items[0]?.id ?? "";
});
after(async () => {
  await hp.close();
  rmSync(root, { recursive: true, force: true });
});

/** Hands an object over; `nearest` is the field that `misspelt` stands for. */
type Place = {
  readonly take: (given: object) => unknown;
  readonly misspelt: object;
  readonly nearest: string;
  readonly wrong: object;
};

const gate = (policy: unknown) => hp.gate(never({ name: fresh(), run, policy }));
const declare = (policy: unknown) => hp.remote.tool(never({ name: fresh(), policy }));
const flow = (given: object) => hp.workflow(fresh(), never(given), run);
const checkpoint = (given: object) => flow({ checkpoints: [{ name: "Pay", ...given }] });
const outside = (given: object) => hp.remote.workflows.create(never({ name: "w", by: "agent:a", ...given }));
const supervise = (given: object) =>
  hp.supervise(never({ goal: "g", tools: [], model: { id: "m", propose: run }, ...given }));
const grant = (given: object) => hp.grants.give(never({ ...said, tool: "pay", uses: 1, forMs: 1, ...given }));

const RULE = { misspelt: { quorom: 2 }, nearest: "quorum", wrong: { quorum: "2" } };
const VERDICT = { misspelt: { aprovers: { quorum: 2 } }, nearest: "approvers", wrong: { approvers: 2 } };
const MONEY = { misspelt: { ...USD, microz: 1n }, nearest: "micros", wrong: { currency: "USD", micros: 1 } };

const PLACES: Readonly<Record<string, Place>> = {
  "holdpoint()": {
    take: (given) => holdpoint(never({ ...options, ...given })),
    misspelt: { separationOfDutys: true },
    nearest: "separationOfDuties",
    wrong: { separationOfDuties: "yes" },
  },
  "holdpoint(), node": {
    take: (given) => holdpoint(never({ ...options, node: { kind: "a", version: "1", ...given } })),
    misspelt: { versoin: "1" },
    nearest: "version",
    wrong: { version: 1 },
  },
  "hp.gate": {
    take: (given) => hp.gate(never({ name: fresh(), run, ...given })),
    misspelt: { polcy: "block" },
    nearest: "policy",
    wrong: { policy: "allow" },
  },
  "hp.gate, text fields": {
    take: (given) => hp.gate(never({ name: fresh(), run, ...given })),
    misspelt: { descripton: "x" },
    nearest: "description",
    wrong: { policyVersion: 2 },
  },
  "hp.gate, a verdict": { take: (given) => gate({ verdict: "escalate", ...given }), ...VERDICT },
  "hp.gate, approvers": { take: (approvers) => gate({ verdict: "escalate", approvers }), ...RULE },
  "hp.gate, a stage": { take: (stage) => gate({ verdict: "escalate", stages: [{}, stage] }), ...RULE },
  "hp.gate, a deadline": {
    take: (given) => gate({ verdict: "escalate", ...given }),
    misspelt: { decideWithinMS: 5 },
    nearest: "decideWithinMs",
    wrong: { decideWithinMs: 0 },
  },
  "hp.gate, a stage's deadline": {
    take: (stage) => gate({ verdict: "escalate", stages: [{}, stage] }),
    misspelt: { decideWithinMS: 5 },
    nearest: "decideWithinMs",
    wrong: { decideWithinMs: "1h" },
  },
  "hp.gate, a risk": {
    take: (risk) => gate({ verdict: "approve", risk: { score: 1, level: "low", conditions: [], ...risk } }),
    misspelt: { levle: "high" },
    nearest: "level",
    wrong: { level: "hihg" },
  },
  "hp.gate, an undo": {
    take: (undo) => hp.gate(never({ name: fresh(), run, undo: { run, ...undo } })),
    misspelt: { polcy: "escalate" },
    nearest: "policy",
    wrong: { effect: "read" },
  },
  "hp.gate, approvers of an undo": {
    take: (approvers) =>
      hp.gate(never({ name: fresh(), run, undo: { run, policy: { verdict: "escalate", approvers } } })),
    ...RULE,
  },
  "a call": {
    take: (given) => hp.gate({ name: fresh(), policy: "approve", run })(never({}), never(given)),
    misspelt: { requestID: "x" },
    nearest: "requestId",
    wrong: { waitMs: -1 },
  },
  "hp.execute": {
    take: (given) => hp.execute(never({ requestId: "e", action: fresh(), payload: {}, run, ...given })),
    misspelt: { polcy: "block" },
    nearest: "policy",
    wrong: { policy: { verdict: "escalate", approvers: { quorom: 2 } } },
  },
  "hp.remote.tool": {
    take: (given) => hp.remote.tool(never({ name: fresh(), ...given })),
    misspelt: { efect: "read" },
    nearest: "effect",
    wrong: { effect: "probed" },
  },
  "hp.remote.tool, a verdict": { take: (given) => declare({ verdict: "escalate", ...given }), ...VERDICT },
  "hp.remote.tool, approvers": { take: (approvers) => declare({ verdict: "escalate", approvers }), ...RULE },
  "hp.remote.tool, an undo": {
    take: (undo) => hp.remote.tool(never({ name: fresh(), undo })),
    misspelt: { polcy: "block" },
    nearest: "policy",
    wrong: { policy: { verdict: "escalate", approvers: { quorum: "2" } } },
  },
  "hp.workflow": {
    take: flow,
    misspelt: { rollbackEnabeld: true },
    nearest: "rollbackEnabled",
    wrong: { rollbackEnabled: 1 },
  },
  "hp.workflow, its policy": {
    take: (given) => flow({ policy: { verdict: "escalate", ...given } }),
    ...VERDICT,
  },
  "hp.workflow, its schema": {
    take: flow,
    misspelt: { inptu: {} },
    nearest: "input",
    wrong: { input: { type: "object" } },
  },
  "hp.workflow, parties": {
    take: (parties) => flow({ parties }),
    misspelt: { excutor: "agent:a" },
    nearest: "executor",
    wrong: { executor: 5 },
  },
  "hp.workflow, an escrow": { take: (escrow) => flow({ escrow }), ...MONEY },
  "a checkpoint": {
    take: checkpoint,
    misspelt: { requiresAproval: true },
    nearest: "requiresApproval",
    wrong: { requiresApproval: "yes" },
  },
  "a checkpoint, approvers": { take: (approvers) => checkpoint({ approvers }), ...RULE },
  "a checkpoint, a stage": { take: (stage) => checkpoint({ stages: [{}, stage] }), ...RULE },
  "a checkpoint, conditions": {
    take: (when) => checkpoint({ when }),
    misspelt: { confidenceBellow: 0.5 },
    nearest: "confidenceBelow",
    wrong: { confidenceBelow: 5 },
  },
  "a checkpoint, the cost in its conditions": {
    take: (costAbove) => checkpoint({ when: { costAbove } }),
    misspelt: { currency: "USD", micros: 1n, microz: 1n },
    nearest: "",
    wrong: { currency: "USD", micros: 1 },
  },
  "a checkpoint, its undo": {
    take: (undo) => checkpoint({ undo: { run, ...undo } }),
    misspelt: { polcy: "block" },
    nearest: "policy",
    wrong: { policy: { verdict: "escalate", approvers: { quorom: 2 } } },
  },
  "a set of checkpoints": {
    take: (given) => flow({ checkpoints: { simple: { checkpoints: [], ...given } } }),
    misspelt: { escrw: USD },
    nearest: "escrow",
    wrong: { escrow: { currency: "USD", micros: 1n, period: "day" } },
  },
  "the run of a workflow": {
    take: (given) => hp.workflow(fresh(), run).start(never({}), never(given)),
    misspelt: { approvalRequried: true },
    nearest: "approvalRequired",
    wrong: { approvalRequired: "yes" },
  },
  "hp.workflows.start": {
    take: (given) => hp.workflows.start(fresh(), {}, never(given)),
    misspelt: { approvalRequried: true },
    nearest: "approvalRequired",
    wrong: { approvalRequired: "yes" },
  },
  "hp.workflows.fork": {
    take: (given) => hp.workflows.fork(`wf_${"0".repeat(26)}`, never(given)),
    misspelt: { att: "Pay" },
    nearest: "at",
    wrong: { at: 5 },
  },
  "hp.workflows.list": {
    take: (given) => hp.workflows.list(never(given)),
    misspelt: { statsu: "any" },
    nearest: "status",
    wrong: { status: "nearly" },
  },
  "hp.remote.workflows.create": {
    take: outside,
    misspelt: { executr: "agent:a" },
    nearest: "executor",
    wrong: { attempts: 0 },
  },
  "hp.remote.workflows.create, approvers": {
    take: (approvers) => outside({ checkpoints: [{ name: "Pay", approvers }] }),
    ...RULE,
  },
  "hp.remote.workflows.create, an escrow": { take: (escrow) => outside({ escrow }), ...MONEY },
  "hp.remote.propose": {
    take: (given) => hp.remote.propose(never({ tool: "x", args: {}, agent: "agent:a", ...given })),
    misspelt: { requestID: "x" },
    nearest: "requestId",
    wrong: { requestId: 5 },
  },
  "hp.supervise": {
    take: supervise,
    misspelt: { onRefusl: "continue" },
    nearest: "onRefusal",
    wrong: { onRefusal: "go" },
  },
  "hp.supervise, its id": { take: supervise, misspelt: { idd: "x" }, nearest: "id", wrong: { id: 5 } },
  "hp.supervise, its listener": {
    take: supervise,
    misspelt: { notfy: run },
    nearest: "notify",
    wrong: { notify: "slack" },
  },
  "hp.supervise, its policy": {
    take: (given) => supervise({ policy: { verdict: "escalate", ...given } }),
    ...VERDICT,
  },
  "hp.supervise, approvers": {
    take: (approvers) => supervise({ policy: { verdict: "escalate", approvers } }),
    ...RULE,
  },
  "hp.supervise, limits": {
    take: (limits) => supervise({ limits }),
    misspelt: { stesp: 5 },
    nearest: "steps",
    wrong: { steps: 0 },
  },
  "hp.supervise, a model": {
    take: (given) => supervise({ model: { baseUrl: "http://127.0.0.1:9/v1", model: "x", ...given } }),
    misspelt: { timoutMs: 5 },
    nearest: "timeoutMs",
    wrong: { timeoutMs: 0 },
  },
  "hp.budgets.limit": { take: (limit) => hp.budgets.limit("daily", never(limit)), ...MONEY },
  "hp.budgets.list": {
    take: (given) => hp.budgets.list(never(given)),
    misspelt: { limt: 5 },
    nearest: "limit",
    wrong: { limit: 0 },
  },
  "hp.grants.give": { take: grant, misspelt: { usse: 5 }, nearest: "uses", wrong: { uses: 0 } },
  "hp.grants.give, its total": { take: (total) => grant({ total, amount: "args.n" }), ...MONEY },
  "hp.people.add": {
    take: (given) => admin(hp).people.add(never({ person: "person:eve", by, ...given })),
    misspelt: { rolse: ["admin"] },
    nearest: "roles",
    wrong: { roles: ["boss"] },
  },
  "hp.keys.issue": {
    take: (given) => admin(hp).keys.issue(never({ principal: "agent:a", name: "k", by, ...given })),
    misspelt: { scoeps: ["approvals:read"] },
    nearest: "scopes",
    wrong: { scopes: ["everything"] },
  },
  "hp.endpoints.add": {
    take: (given) => admin(hp).endpoints.add(never({ url: "https://example.com/", by, ...given })),
    misspelt: { evnets: ["*"] },
    nearest: "events",
    wrong: { events: ["nothing.like.it"] },
  },
  "hp.monitor": {
    take: (given) =>
      admin(hp).monitor(never({ name: "m", rules: [{ kind: "silence", name: "s", forMs: 1 }], ...given })),
    misspelt: { agnets: ["a"] },
    nearest: "agents",
    wrong: { agents: "a" },
  },
  "hp.monitor, a rule": {
    take: (rule) =>
      admin(hp).monitor(never({ name: "m", rules: [{ kind: "silence", name: "s", forMs: 1, ...rule }] })),
    misspelt: { rais: "checkpoint" },
    nearest: "raise",
    wrong: { raise: "hell" },
  },
  "hp.intents.send": {
    take: (given) => hp.intents.send(never({ intentType: "x", toAgent: "agent://a", payload: {}, ...given })),
    misspelt: { withinMS: 5 },
    nearest: "withinMs",
    wrong: { withinMs: 0 },
  },
  "hp.tenants.add": {
    take: (given) => admin(hp).tenants.add(never({ name: "acme", admin: "person:root", by, ...given })),
    misspelt: { forMS: 5 },
    nearest: "forMs",
    wrong: { forMs: 0 },
  },
  "hp.approvals.approve": {
    take: (given) => hp.approvals.approve(pending, never({ by, ...given })),
    misspelt: { bindng: "x" },
    nearest: "binding",
    wrong: { binding: 5 },
  },
  "hp.approvals.extend": {
    take: (given) => hp.approvals.extend(pending, never({ by, byMs: 5, ...given })),
    misspelt: { utnil: 5 },
    nearest: "until",
    wrong: { byMs: "5" },
  },
  "hp.approvals.list": {
    take: (given) => hp.approvals.list(never(given)),
    misspelt: { statsu: "pending" },
    nearest: "status",
    wrong: { status: "nearly" },
  },
  "hp.stop": {
    take: (given) => hp.pause(never({ ...said, ...given })),
    misspelt: { agnet: "x" },
    nearest: "agent",
    wrong: { agent: 5 },
  },
  "hp.deliver": {
    take: (given) => admin(hp).deliver(AbortSignal.abort(), never(given)),
    misspelt: { timoutMs: 500 },
    nearest: "timeoutMs",
    wrong: { timeoutMs: 5 },
  },
  "hp.journal.verify": {
    take: (given) => hp.journal.verify(never(given)),
    misspelt: { requireSeald: true },
    nearest: "requireSealed",
    wrong: { requireSealed: "yes" },
  },
  "hp.policies.backtest": {
    take: (given) => admin(hp).policies.backtest({ policy: "p", default: "block" }, never(given)),
    misspelt: { amuont: "args.n" },
    nearest: "amount",
    wrong: { amount: 5 },
  },
};

async function refusal(call: () => unknown): Promise<string> {
  const entries = database.data.moves.length;
  try {
    await call();
  } catch (error) {
    assert.ok(isHoldpointError(error), error instanceof Error ? error.stack : String(error));
    assert.equal(error.code, "invalid_input", error.message);
    assert.equal(database.data.moves.length, entries, "something was written");
    return error.what;
  }
  return assert.fail("it was accepted");
}

describe("every place of the library refuses, before anything is written,", () => {
  for (const [name, { take, misspelt, nearest, wrong }] of Object.entries(PLACES)) {
    const [field = ""] = Object.keys(misspelt).slice(-1);
    test(`a misspelt field: ${name}, ${field}`, async () => {
      const what = await refusal(() => take(misspelt));
      if (nearest !== "") assert.ok(what.includes(`no field "${field}" (did you mean ${nearest}?)`), what);
    });
    test(`a wrong value: ${name}, ${Object.keys(wrong).join(", ")}`, async () => {
      assert.match(await refusal(() => take(wrong)), /./);
    });
  }

  test("a budget with a period, which budgets do not have yet", async () => {
    const what = await refusal(() => hp.budgets.limit("daily", never({ ...USD, period: "day" })));
    assert.match(what, /The limit of a budget has a period, and budgets have none yet/);
  });
});

describe("what a workflow hands over while it runs is refused, and nobody is asked:", () => {
  const OPERATIONS: Readonly<Record<string, readonly [(ctx: WorkflowContext) => unknown, RegExp]>> = {
    "a misspelt approver rule of a question": [
      (ctx) => ctx.ask("q", "?", { approvers: never({ quorom: 2 }) }),
      /approvers has no field "quorom" \(did you mean quorum\?\)/,
    ],
    "a quorum of a question that is text": [
      (ctx) => ctx.ask("q", "?", { approvers: never({ quorum: "2" }) }),
      /approvers\.quorum is not a number/,
    ],
    "a quorum of a question that is undefined": [
      (ctx) => ctx.ask("q", "?", { approvers: never({ quorum: undefined }) }),
      /approvers\.quorum is undefined/,
    ],
    "a quorum of a question that it inherits": [
      (ctx) => ctx.ask("q", "?", { approvers: Object.create({ quorum: 2 }) }),
      /approvers is not an object of plain data/,
    ],
    "a misspelt option of a question": [
      (ctx) => ctx.ask("q", "?", never({ aprovers: { quorum: 2 } })),
      /no field "aprovers" \(did you mean approvers\?\)/,
    ],
    "a misspelt field of a checkpoint": [
      (ctx) => ctx.checkpoint("Pay", never({ sumary: "x" })),
      /no field "sumary" \(did you mean summary\?\)/,
    ],
    "a confidence of a checkpoint that is text": [
      (ctx) => ctx.checkpoint("Pay", never({ confidence: "high" })),
      /"captured.confidence" is a number from 0 to 1/,
    ],
    "a misspelt option of a step": [
      (ctx) => ctx.step("s", never({ approvalRequird: true }), run),
      /no field "approvalRequird" \(did you mean approvalRequired\?\)/,
    ],
    "a misspelt field of a step's retries": [
      (ctx) => ctx.step("s", { retries: never({ atempts: 3 }) }, run),
      /no field "atempts" \(did you mean attempts\?\)/,
    ],
    "a misspelt option of a wait": [
      (ctx) => ctx.waitFor("w", "int_x", never({ timeoutSecond: 5 })),
      /no field "timeoutSecond" \(did you mean timeoutSeconds\?\)/,
    ],
  };
  for (const [name, [operation, expected]] of Object.entries(OPERATIONS))
    test(name, async () => {
      const asked = (await hp.approvals.list({ status: "any" })).items.length;
      const ended = await hp.workflow(fresh(), (ctx) => operation(ctx)).run({});
      assert.equal(ended.status, "failed");
      assert.match(ended.status === "failed" ? ended.reason : "", expected);
      assert.equal((await hp.approvals.list({ status: "any" })).items.length, asked);
    });
});

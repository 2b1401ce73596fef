/** Whatever is handed to the library: an error that says what was wrong, what happened to the data and what to do. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { z } from "zod";
import { admin } from "../../src/admin.ts";
import {
  type Execution,
  type GatedTool,
  type Holdpoint,
  type HoldpointError,
  holdpoint,
  isHoldpointError,
  secret,
  type ToolDefinition,
} from "../../src/index.ts";
import { wallClock } from "../../src/kernel/clock.ts";
import { createMemoryDatabase } from "../../src/stores/memory/database.ts";
import { openMemoryStore } from "../../src/stores/memory/open.ts";
import { FOLDS } from "../../src/streams.ts";
import { PROJECTIONS } from "../fixtures/runtime.ts";

type Bad = () => unknown;
type AnyTool = ToolDefinition<unknown, unknown>;
type AnyExecution = Execution<unknown, unknown>;
const root = mkdtempSync(join(tmpdir(), "holdpoint-bad-"));
const keyFile = join(root, "key.json");
const database = createMemoryDatabase({
  folds: FOLDS,
  projections: PROJECTIONS,
  clock: wallClock,
  random: randomBytes,
});
const store = openMemoryStore(database);
const options = { store, keyFile, agent: "tester", notify: () => undefined };
let hp: Holdpoint;
let pay: GatedTool<{ order: string; amount: number }, unknown>;
let note: GatedTool<unknown, unknown>;
let pending: string;
let runs = 0;

/** Anything goes in a test of what must not. */
const loose = <Value>(value: unknown): Value => value as Value;

before(async () => {
  hp = holdpoint(options);
  const input = z.strictObject({ order: z.string(), amount: z.number().int() });
  pay = hp.gate({ name: "pay", input, policy: "escalate", run: () => runs++ });
  note = loose(hp.gate({ name: "note", policy: "approve", run: () => runs++ }));
  await pay({ order: "A-1", amount: 5 }, { requestId: "first", waitMs: 0 });
  pending = (await hp.approvals.list()).items[0]?.id ?? "";
  assert.match(pending, /^apr_/);
});
after(async () => {
  await hp.close();
  rmSync(root, { recursive: true, force: true });
});

async function failure(call: Bad): Promise<HoldpointError> {
  try {
    const answer = await call();
    assert.fail(`it was accepted: ${JSON.stringify(answer)}`);
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error;
    assert.ok(
      isHoldpointError(error),
      `not a HoldpointError: ${error instanceof Error ? error.stack : String(error)}`,
    );
    return error;
  }
}

/** Says everything it has to, and left the journal as it was. */
async function isRefused(call: Bad, code?: string): Promise<void> {
  const before = database.data.moves.length;
  const ran = runs;
  const error = await failure(call);
  for (const text of [error.what, error.data, error.next]) assert.ok(text.length > 3, error.message);
  assert.equal(typeof error.status, "number");
  if (code !== undefined) assert.equal(error.code, code, error.message);
  if (/nothing was written/i.test(error.data))
    assert.equal(database.data.moves.length, before, "something was written");
  assert.equal(runs, ran, "something ran");
}

function allRefused(title: string, calls: Readonly<Record<string, Bad>>, code?: string): void {
  describe(title, () => {
    for (const [name, call] of Object.entries(calls)) test(name, () => isRefused(call, code));
  });
}

function deep(levels: number): unknown {
  let value: unknown = "x";
  for (let level = 0; level < levels; level++) value = { value };
  return value;
}
const cyclic: { self?: unknown } = {};
cyclic.self = cyclic;
const ODD: Readonly<Record<string, unknown>> = {
  "a Date": { at: new Date(0) },
  "a Map": { map: new Map() },
  "a Set": { set: new Set() },
  "a BigInt": { big: 5n },
  "not a number": { n: Number.NaN },
  infinity: { n: Number.POSITIVE_INFINITY },
  "an integer beyond 2^53": { n: 2 ** 53 },
  "half a surrogate pair": { text: "\ud800" },
  "half a surrogate pair as a key": { "\udc00": 1 },
  "a function": { f: () => 1 },
  "a symbol": { s: Symbol("s") },
  "a getter": Object.defineProperty({}, "x", { get: () => 1, enumerable: true }),
  "a class instance": new (class Order {
    readonly id = 1;
  })(),
  bytes: { bytes: new Uint8Array(3) },
  "a promise": Promise.resolve({}),
  "a value that contains itself": cyclic,
  "65 levels": deep(65),
  "the key __proto__": JSON.parse('{"__proto__":{"x":1}}'),
  "a hole in a list": {
    list: Array.from({ length: 3 }).fill(1, 0, 1) && Object.assign(new Array(2), { 1: 1 }),
  },
  "a proxy that throws": new Proxy(
    {},
    {
      ownKeys: () => {
        throw new Error("no");
      },
    },
  ),
};

const person = { by: "person:ann" };
const said = { by: "person:ann", reason: "test" };
const unknownApproval = `apr_${"0".repeat(26)}`;
const unknownAction = `act_${"0".repeat(26)}`;

describe("arguments that JSON cannot hold exactly are refused", () => {
  for (const [name, args] of Object.entries(ODD)) {
    test(name, () => isRefused(() => note(args), "invalid_json"));
    test(`${name}, in an edit`, () =>
      isRefused(() => hp.approvals.approve(pending, { ...person, edit: args }), "invalid_json"));
  }
  test("64 levels are taken", async () => {
    assert.equal((await note(deep(64))).status, "done");
  });
});

describe("arguments that are too large or use our own keys are refused", () => {
  test("over 8 MiB", () => isRefused(() => note({ text: "x".repeat(8 * 1024 * 1024) }), "payload_too_large"));
  for (const key of ["$artifact", "$secret", "$artifacts", "$secretly"])
    test(key, () => isRefused(() => note({ inside: [{ [key]: "x", more: 1 }] }), "reserved_key"));
  test("$secret with a reference that is none", () =>
    isRefused(() => note({ key: { $secret: "file:/etc/passwd" } }), "reserved_key"));
  test("a secret that is not there", () =>
    isRefused(() => note({ key: secret("env:HOLDPOINT_NO_SUCH_VARIABLE") }), "secret_missing"));
  test("a secret row that is not there", () =>
    isRefused(() => note({ key: secret(`row:sec_${"0".repeat(26)}`) }), "secret_missing"));
});

allRefused(
  "arguments that do not fit the schema are refused",
  {
    missing: () => pay(loose({ order: "A" })),
    extra: () => pay(loose({ order: "A", amount: 1, more: true })),
    "wrong type": () => pay(loose({ order: 5, amount: 1 })),
    none: () => pay(loose(undefined)),
    null: () => pay(loose(null)),
    text: () => pay(loose("A-1")),
    "a list": () => pay(loose([])),
  },
  "invalid_args",
);

allRefused(
  "options of a call are checked",
  {
    "not an object": () => note({}, loose("now")),
    null: () => note({}, loose(null)),
    "an unknown option": () => note({}, loose({ requestID: "x" })),
    "an empty request id": () => note({}, { requestId: "" }),
    "a request id that is a number": () => note({}, loose({ requestId: 5 })),
    "a request id of 501 characters": () => note({}, { requestId: "x".repeat(501) }),
    "a request id with half a character": () => note({}, { requestId: "\ud800" }),
    "words that are not text": () => note({}, loose({ rationale: 5 })),
    "words without end": () => note({}, { rationale: "x".repeat(10_001) }),
    "a negative wait": () => note({}, { waitMs: -1 }),
    "half a millisecond": () => note({}, { waitMs: 0.5 }),
    "a wait without end": () => note({}, { waitMs: Number.POSITIVE_INFINITY }),
  },
  "invalid_input",
);

const run = () => 1;
allRefused(
  "declarations of tools are checked",
  {
    nothing: () => hp.gate(loose<AnyTool>(undefined)),
    null: () => hp.gate(loose<AnyTool>(null)),
    "no name": () => hp.gate(loose<AnyTool>({ run })),
    "a name that is a number": () => hp.gate(loose<AnyTool>({ name: 5, run })),
    "a name with a space": () => hp.gate({ name: "a b", run }),
    "a name of 129 characters": () => hp.gate({ name: "x".repeat(129), run }),
    "no function": () => hp.gate(loose<AnyTool>({ name: "t1" })),
    "a run that is no function": () => hp.gate(loose<AnyTool>({ name: "t2", run: "rm -rf" })),
    "an unknown field": () => hp.gate(loose<AnyTool>({ name: "t3", run, polcy: "block" })),
    "an unknown effect class": () => hp.gate(loose<AnyTool>({ name: "t4", run, effect: "twice" })),
    "a policy that is no verdict": () => hp.gate(loose<AnyTool>({ name: "t5", run, policy: "allow" })),
    "no policy at all": () => hp.gate(loose<AnyTool>({ name: "t6", run, policy: null })),
    "approvers that are a name": () =>
      hp.gate(
        loose<AnyTool>({
          name: "t7",
          run,
          policy: { verdict: "escalate", approvers: { from: "person:ann" } },
        }),
      ),
    "approvers that are not an object": () =>
      hp.gate(loose<AnyTool>({ name: "t8", run, policy: { verdict: "escalate", approvers: "person:ann" } })),
    "a schema that is none": () => hp.gate(loose<AnyTool>({ name: "t9", run, input: { type: "object" } })),
    "a schema that is null": () => hp.gate(loose<AnyTool>({ name: "t10", run, input: null })),
    "no attempts": () => hp.gate({ name: "t11", run, attempts: 0 }),
    "half a time-out": () => hp.gate({ name: "t12", run, timeoutMs: 0.5 }),
    "a probed tool that cannot be probed": () => hp.gate({ name: "t13", run, effect: "probed" }),
    "a transactional tool without its function": () =>
      hp.gate(loose<AnyTool>({ name: "t14", run, effect: "transactional" })),
    "a version that is a number": () => hp.gate(loose<AnyTool>({ name: "t15", run, version: 2n })),
    "a policy with a value JSON cannot hold": () =>
      hp.gate(loose<AnyTool>({ name: "t16", run, policy: { verdict: "block", reason: 5n } })),
    "a revision without values": () =>
      hp.gate(loose<AnyTool>({ name: "t17", run, policy: { verdict: "revise", reason: "x" } })),
  },
  undefined,
);

describe("declarations of tools are checked", () => {
  test("a quorum that its people cannot meet", () =>
    isRefused(
      () =>
        hp.gate({
          name: "q",
          run,
          policy: { verdict: "escalate", approvers: { quorum: 2, from: ["person:ann"] } },
        }),
      "unsatisfiable_quorum",
    ));
  test("a name that is taken", () => isRefused(() => hp.gate({ name: "pay", run }), "tool_conflict"));
  test("a schema that validates asynchronously", async () => {
    const input = z.object({}).refine(async () => true);
    const slow = hp.gate({ name: "slow", input, policy: "approve", run });
    await isRefused(() => slow({}), "async_schema");
  });
  test("a schema that throws lets nothing through", async () => {
    const validate = () => {
      throw new Error("no database");
    };
    const input = { "~standard": { version: 1 as const, vendor: "own", validate } };
    const broken = hp.gate({ name: "broken", input, policy: "approve", run });
    await isRefused(() => broken(loose({})), "invalid_args");
  });
  test("a schema whose output is not JSON lets nothing through", async () => {
    const dated = hp.gate({
      name: "dated",
      input: z.object({}).transform(() => new Date(0)),
      policy: "approve",
      run,
    });
    await isRefused(() => dated(loose({})), "invalid_args");
  });
});

allRefused("executions are checked", {
  nothing: () => hp.execute(loose<AnyExecution>(undefined)),
  null: () => hp.execute(loose<AnyExecution>(null)),
  "no request id": () => hp.execute(loose<AnyExecution>({ action: "x", payload: {}, run })),
  "no action": () => hp.execute(loose<AnyExecution>({ requestId: "x", payload: {}, run })),
  "an unknown tool": () => hp.execute({ requestId: "x", action: "nowhere", payload: {} }),
  "an action that is a number": () =>
    hp.execute(loose<AnyExecution>({ requestId: "x", action: 5, payload: {} })),
  "an unknown field": () =>
    hp.execute(loose<AnyExecution>({ requestId: "x", action: "x", payload: {}, run, fn: run })),
  "a run that is no function": () =>
    hp.execute(loose<AnyExecution>({ requestId: "x", action: "x", payload: {}, run: 5 })),
  "a run for a registered tool": () => hp.execute({ requestId: "x", action: "pay", payload: {}, run }),
  "a policy for a registered tool": () =>
    hp.execute(loose<AnyExecution>({ requestId: "x", action: "pay", payload: {}, policy: "approve" })),
});

allRefused("decisions are checked", {
  "no approval": () => hp.approvals.approve(loose(undefined), person),
  "an approval that is a symbol": () => hp.approvals.approve(loose(Symbol("x")), person),
  "an unknown approval": () => hp.approvals.approve(unknownApproval, person),
  "somebody else's text": () => hp.approvals.approve("please", person),
  "no decision": () => hp.approvals.approve(pending, loose(undefined)),
  "a decision that is null": () => hp.approvals.approve(pending, loose(null)),
  nobody: () => hp.approvals.approve(pending, loose({})),
  "a bare name": () => hp.approvals.approve(pending, { by: "ann" }),
  "an agent": () => hp.approvals.approve(pending, { by: "agent:tester" }),
  "a person that is an object": () =>
    hp.approvals.approve(pending, loose({ by: { toString: () => "person:ann" } })),
  "an empty note": () => hp.approvals.approve(pending, { ...person, note: " " }),
  "a note that is a number": () => hp.approvals.approve(pending, loose({ ...person, note: 5 })),
  "a note with half a character": () => hp.approvals.approve(pending, { ...person, note: "x\ud800" }),
  "a note without end": () => hp.approvals.approve(pending, { ...person, note: "x".repeat(10_001) }),
  "a channel that is a number": () => hp.approvals.approve(pending, loose({ ...person, via: 5 })),
  "a binding that is a number": () => hp.approvals.approve(pending, loose({ ...person, binding: 5 })),
  "an unknown field": () => hp.approvals.approve(pending, loose({ ...person, approved_by: "person:bob" })),
  "a rejection without a reason": () => hp.approvals.reject(pending, loose(person)),
  "a rejection with an empty reason": () => hp.approvals.reject(pending, { ...person, reason: "" }),
  "a rejection of nothing": () => hp.approvals.reject(loose(undefined), said),
  "a rejection by nobody": () => hp.approvals.reject(pending, loose(undefined)),
  "a cancellation of nothing": () => hp.approvals.cancel(loose(undefined), said),
  "a cancellation by nobody": () => hp.approvals.cancel(pending, loose(undefined)),
  "a cancellation of an unknown approval": () => hp.approvals.cancel(unknownApproval, said),
  "a revocation of a pending approval": () => hp.approvals.revoke(pending, said),
  "a revocation by an agent": () => hp.approvals.revoke(pending, { ...said, by: "agent:tester" }),
  "a symbol to cancel": () => hp.approvals.cancel(loose(Symbol("x")), said),
});

allRefused("reading is checked", {
  "an approval that does not exist": () => hp.approvals.get(unknownApproval),
  "an approval that is a number": () => hp.approvals.get(loose(5)),
  "an approval with half a character": () => hp.approvals.get("\ud800"),
  "a page that is null": () => hp.approvals.list(loose(null)),
  "a page of none": () => hp.approvals.list({ limit: 0 }),
  "a page of 1001": () => hp.approvals.list({ limit: 1001 }),
  "a page of text": () => hp.approvals.list(loose({ limit: "5" })),
  "an unknown status": () => hp.approvals.list(loose({ status: "nearly" })),
  "an unknown order": () => hp.approvals.list(loose({ order: "sideways" })),
  "an unknown field": () => hp.approvals.list(loose({ offset: 5 })),
  "a cursor that is none": () => hp.approvals.list({ after: "1-apr_x" }),
  "a cursor that is a number": () => hp.approvals.list(loose({ after: 5 })),
  "a cursor of another list": () => hp.approvals.list({ after: `1-${unknownApproval}` }),
  "a count of an unknown status": () => hp.approvals.count(loose("nearly")),
  "a search for a number": () => hp.approvals.find(loose(5)),
  "a following without a signal": () => hp.approvals.follow(loose(undefined)).next(),
  "an action that does not exist": () => hp.actions.get(unknownAction),
  "an unknown request id": () => hp.actions.get("nobody"),
  "no action": () => hp.actions.get(loose(undefined)),
  "actions of a misspelt field": () => hp.actions.list(loose({ fase: "open" })),
  "actions whose page is a text": () => hp.actions.list(loose("open")),
  "actions of an unknown phase": () => hp.actions.list(loose({ phase: "nearly" })),
  "actions, none of them": () => hp.actions.list({ phase: "open", limit: 0 }),
  "a receipt of nothing": () => hp.receipts.get(loose(undefined)),
  "a receipt of an unknown action": () => hp.receipts.get(unknownAction),
  "a signed receipt of nothing": () => hp.receipts.sign(""),
  "a journal of a number": () => hp.journal.read(loose(5)),
  "a journal of nothing": () => hp.journal.read(""),
  "a journal of an unknown action": () => hp.journal.read(unknownAction),
  "a journal of an unknown approval": () => hp.journal.read(unknownApproval),
  "a verification with keys that are none": () => hp.journal.verify(loose({ keys: 5 })),
  "a verification that is null": () => hp.journal.verify(loose(5)),
  "a rebuilding that reports to a number": () => hp.journal.rebuildViews(loose(5)),
  "a budget that is a number": () => hp.budgets.get(loose(5)),
  "a budget without a name": () => hp.budgets.get(loose(undefined)),
  "the switch of a number": () => hp.paused(loose(5)),
});

allRefused("what operators do is checked", {
  "a resolution of nothing": () => hp.actions.resolve(loose(undefined), { ...said, status: "applied" }),
  "a resolution of what is not there": () =>
    hp.actions.resolve(`eff_${"0".repeat(26)}`, { ...said, status: "applied" }),
  "a resolution as something else": () =>
    hp.actions.resolve(unknownAction, loose({ ...said, status: "maybe" })),
  "a resolution by nobody": () => hp.actions.resolve(unknownAction, loose(undefined)),
  "a resolution of what is not in doubt": async () => {
    const { id } = await hp.actions.get("first");
    return hp.actions.resolve(id, { ...said, status: "applied" });
  },
  "a stop by nobody": () => hp.pause(loose(undefined)),
  "a stop by an agent": () => hp.pause({ ...said, by: "agent:tester" }),
  "a stop without a reason": () => hp.pause(loose(person)),
  "a stop with half a character": () => hp.pause({ ...said, reason: "\ud800" }),
  "a stop of a number": () => hp.pause(loose({ ...said, agent: 5 })),
  "a stop of an agent without a name": () => hp.pause({ ...said, agent: "" }),
  "a stop of a person": () => hp.pause({ ...said, agent: "person:ann" }),
  "a stop with an unknown field": () => hp.pause(loose({ ...said, agnet: "x" })),
  "a go by nobody": () => hp.resume(loose(undefined)),
  "a budget without a limit": () => hp.budgets.limit("daily", loose(undefined)),
  "a budget in floating point": () => hp.budgets.limit("daily", loose({ currency: "USD", micros: 1.5 })),
  "a budget below nothing": () => hp.budgets.limit("daily", { currency: "USD", micros: -1n }),
  "a budget of no currency": () => hp.budgets.limit("daily", { currency: "dollars", micros: 1n }),
  "a budget with a slash": () => hp.budgets.limit("a/b", { currency: "USD", micros: 1n }),
  "a suspension of an agent": () => admin(hp).people.suspend("agent:tester", said),
  "a suspension of nobody": () => admin(hp).people.suspend(loose(undefined), said),
  "a suspension by nobody": () => admin(hp).people.suspend("person:ann", loose(undefined)),
  "a reinstatement by an agent": () => admin(hp).people.reinstate("person:ann", { ...said, by: "agent:x" }),
  "a secret that is a number": () => hp.putSecret(loose(5)),
  "an empty secret": () => hp.putSecret(""),
});

allRefused(
  "options of an instance are checked at once",
  {
    text: () => holdpoint(loose("folder")),
    null: () => holdpoint(loose(null)),
    "an unknown option": () => holdpoint(loose({ dir: "x" })),
    "a folder that is a number": () => holdpoint(loose({ folder: 5 })),
    "a key file that is a number": () => holdpoint(loose({ keyFile: 5 })),
    "a tenant with a slash": () => holdpoint({ tenant: "a/b" }),
    "a tenant that is a number": () => holdpoint(loose({ tenant: 5 })),
    "an agent without a name": () => holdpoint({ agent: "" }),
    "an agent that is a principal": () => holdpoint({ agent: "agent:mailer" }),
    "a principal instead of a list": () => holdpoint(loose({ onBehalfOf: "person:ann" })),
    "a list of names": () => holdpoint({ onBehalfOf: ["ann"] }),
    "a listener that is no function": () => holdpoint(loose({ notify: "slack" })),
    "an unknown mode": () => holdpoint(loose({ mode: "read-only" })),
    "a store that is none": () => holdpoint(loose({ store: {} })),
    "crash points that are no function": () => holdpoint(loose({ reach: true })),
  },
  "invalid_input",
);

allRefused(
  "references to secrets are checked",
  {
    nothing: () => secret(loose(undefined)),
    "a bare name": () => secret("STRIPE_KEY"),
    "a file": () => secret("file:/etc/passwd"),
    "a name with a space": () => secret("env:A B"),
    "a line end": () => secret("env:A\n"),
  },
  "invalid_input",
);

describe("in the wrong order", () => {
  test("every verb of a closed instance says that it was closed", async () => {
    const closed = holdpoint({ ...options, store: openMemoryStore(database) });
    const tool = closed.gate({ name: "late", policy: "approve", run });
    await closed.close();
    await closed.close();
    const calls: Bad[] = [
      () => tool({}),
      () => closed.execute({ requestId: "late", action: "late", payload: {} }),
      () => closed.approvals.list(),
      () => closed.approvals.count(),
      () => closed.approvals.get(pending),
      () => closed.approvals.find("apr"),
      () => closed.approvals.follow(new AbortController().signal).next(),
      () => closed.approvals.approve(pending, person),
      () => closed.approvals.reject(pending, said),
      () => closed.approvals.cancel(pending, said),
      () => closed.approvals.revoke(pending, said),
      () => closed.receipts.get("first"),
      () => closed.receipts.sign("first"),
      () => closed.actions.get("first"),
      () => closed.actions.list({ phase: "open" }),
      () => closed.actions.find("act"),
      () => closed.actions.abandoned(),
      () => closed.actions.resolve(unknownAction, { ...said, status: "applied" }),
      () => closed.journal.read("first"),
      () => closed.journal.export().next(),
      () => closed.journal.verify(),
      () => admin(closed).seals.create(),
      () => admin(closed).seals.save(),
      () => closed.journal.rebuildViews(),
      () => closed.budgets.limit("daily", { currency: "USD", micros: 1n }),
      () => closed.budgets.get("daily"),
      () => admin(closed).people.suspend("person:ann", said),
      () => admin(closed).people.reinstate("person:ann", said),
      () => closed.pause(said),
      () => closed.resume(said),
      () => closed.paused(),
      () => closed.recover(),
      () => closed.putSecret("x"),
    ];
    for (const call of calls) await isRefused(call, "closed");
  });

  test("a second decision that differs is a conflict, recorded, with the current state in its details", async () => {
    await pay({ order: "A-2", amount: 5 }, { requestId: "second", waitMs: 0 });
    const id = (await hp.approvals.list({ order: "newest" })).items[0]?.id ?? "";
    await hp.approvals.reject(id, said);
    assert.equal((await hp.approvals.reject(id, said)).kind, "same");
    const error = await failure(() => hp.approvals.approve(id, person));
    assert.equal(error.code, "decision_conflict");
    assert.deepEqual(error.details, { approval: id, status: "rejected" });
    await isRefused(() => hp.approvals.cancel(id, said), "wrong_state");
    await isRefused(() => hp.approvals.revoke(id, said), "wrong_state");
  });

  test("the same request id for another action is a conflict that names the first, and nothing runs", async () => {
    const error = await failure(() => pay({ order: "A-9", amount: 5 }, { requestId: "first" }));
    assert.equal(error.code, "request_conflict");
    assert.equal(error.details["action"], (await hp.actions.get("first")).id);
  });

  test("an edit that does not fit is refused, and the approval still waits", async () => {
    for (const edit of [{ amount: "much" }, { tool: "wire" }, "text", []])
      assert.equal(
        (await failure(() => hp.approvals.approve(pending, { ...person, edit }))).code,
        "edit_refused",
      );
    assert.equal((await hp.approvals.get(pending)).status, "pending");
  });
});

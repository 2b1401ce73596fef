/** An undo that an agent names is a call of its choice: the policy document reviews it like any other proposal. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, test } from "node:test";
import { admin } from "../../src/admin.ts";
import type { Holdpoint, HoldpointOptions, RemoteAnswer } from "../../src/index.ts";
import { callKindOfAction } from "../../src/policy/backtest/rules/replay.ts";
import { pendingApproval, temporaryFolder } from "../fixtures/folder.ts";

const FAR = { agent: "agent:far" };
const ANN = { by: "person:ann" };

type Policy = NonNullable<HoldpointOptions["policy"]>;
type Undo = { readonly tool: string; readonly args: object };

/** People approve a note that carries the undo; it is done; the workflow goes back, and the agent asks for the undo. */
async function takenBack(hp: Holdpoint, undo: Undo): Promise<RemoteAnswer> {
  const { workflows } = hp.remote;
  const id = await workflows.create({ name: "Trip", by: FAR.agent });
  await workflows.start(id, FAR);
  const asked = { tool: "note", args: { n: 1 }, requestId: "note", workflow: id, undo, ...FAR };
  assert.equal((await hp.remote.propose(asked)).status, "pending");
  await hp.approvals.approve(await pendingApproval(hp), ANN);
  const { status, action } = await hp.remote.propose(asked);
  assert.equal(status, "permitted");
  await hp.remote.report(action, { ...FAR, status: "applied" });
  await hp.workflows.rollback(id, { ...ANN, reason: "no" });
  return workflows.undo(id, { undoes: action, ...FAR });
}

const ASK_NOTES = { id: "notes", tool: "note", verdict: "escalate" } as const;
const DROP = { tool: "db.drop", args: { table: "users" } };

const CASES: readonly (readonly [string, Policy, object])[] = [
  [
    "a rule for all tools that reads arguments blocks it",
    {
      policy: "p",
      default: "approve",
      rules: [
        ASK_NOTES,
        { id: "users", when: "has(args.table) && args.table == 'users'", verdict: "block", reason: "never" },
      ],
    },
    { status: "refused", code: "blocked" },
  ],
  [
    "the default blocks it",
    { policy: "p", default: "block", rules: [ASK_NOTES] },
    { status: "refused", code: "blocked" },
  ],
  ["the default asks about it", { policy: "p", default: "escalate", rules: [] }, { waitingFor: "approval" }],
  [
    "it is not among the tools that are allowed",
    { policy: "p", default: "approve", tools: { note: null }, rules: [ASK_NOTES] },
    { status: "refused", code: "blocked" },
  ],
  [
    "a limit of calls is reached",
    { policy: "p", default: "approve", limits: { tool_calls: 1 }, rules: [ASK_NOTES] },
    { status: "refused", code: "blocked" },
  ],
  [
    "its risk asks about it",
    {
      policy: "p",
      default: "approve",
      rules: [ASK_NOTES],
      risk: {
        conditions: [{ id: "table", when: "has(args.table)", weight: 95 }],
        routes: { critical: "escalate" },
      },
    },
    { waitingFor: "approval" },
  ],
  ["it is let through", { policy: "p", default: "approve", rules: [ASK_NOTES] }, { status: "permitted" }],
];

describe("an undo that an agent named, under a policy document", () => {
  for (const [name, policy, wanted] of CASES)
    test(`${name}, as it would a proposal of that tool, though people saw the undo`, async (context) => {
      const hp = temporaryFolder(context).open({ policy });
      assert.partialDeepStrictEqual(await takenBack(hp, DROP), wanted);
    });

  test("a name that ends in .undo does not make it a compensation", async (context) => {
    const policy = { policy: "p", default: "block", rules: [ASK_NOTES] } as const;
    const hp = temporaryFolder(context).open({ policy });
    assert.equal((await takenBack(hp, { tool: "db.undo", args: {} })).status, "refused");
  });

  test("a replay asks about it as a call too, and about a tool's own compensation as before", () => {
    const within = { workflow: "wf_1", op: "wf_1/1//note#1", undoes: "act_1", goesOn: false };
    assert.equal(callKindOfAction({ within: { ...within, declared: "seen" } }), "call");
    assert.equal(callKindOfAction({ within }), "undo");
  });
});

/** Each note carries an undo of the same tool; the workflow goes back, and the agent asks for one undo after the other. */
async function takenBackInTurn(hp: Holdpoint, notes: number): Promise<readonly string[]> {
  const { workflows } = hp.remote;
  const id = await workflows.create({ name: "Trip", by: FAR.agent });
  await workflows.start(id, FAR);
  const done: string[] = [];
  for (let n = 0; n < notes; n++) {
    const undo = { tool: "mail.send", args: { n } };
    const { status, action } = await hp.remote.propose({
      ...{ tool: `note${n}`, args: {}, requestId: `note ${n}`, workflow: id, undo },
      ...FAR,
    });
    assert.equal(status, "permitted");
    await hp.remote.report(action, { ...FAR, status: "applied" });
    done.unshift(action);
  }
  await hp.workflows.rollback(id, { ...ANN, reason: "no" });
  const statuses: string[] = [];
  for (const undoes of done) {
    const { status, action } = await workflows.undo(id, { undoes, ...FAR });
    statuses.push(status);
    if (status === "permitted") await hp.remote.report(action, { ...FAR, status: "applied" });
  }
  return statuses;
}

describe("undos that an agent named before", () => {
  const policy = {
    policy: "p",
    default: "approve",
    limits: { tool_calls: 9 },
    tools: { "note*": null, "mail.send": { calls: 2 } },
  } as const;

  test("count as the calls that they are, so that a limit of calls holds for undos too", async (context) => {
    const folder = temporaryFolder(context);
    const hp = folder.open({ policy });
    assert.deepEqual(await takenBackInTurn(hp, 3), ["permitted", "permitted", "refused"]);
  });

  test("count in a back-test as they did", async (context) => {
    const hp = temporaryFolder(context).open({ policy });
    await takenBackInTurn(hp, 3);
    const { changes, compared, byCode } = await admin(hp).policies.backtest(policy);
    assert.deepEqual([changes, compared, byCode], [[], 6, 0]);
    const wider = { ...policy, tools: { ...policy.tools, "mail.send": { calls: 3 } } };
    const { changes: others } = await admin(hp).policies.backtest(wider);
    assert.deepEqual(
      others.map(({ from, to }) => [from.verdict, to.verdict]),
      [["block", "approve"]],
    );
  });
});

test("one that an older journal left to the program is not taken for decided by code in a back-test", async (context) => {
  const folder = temporaryFolder(context);
  const lax = { policy: "p", default: "approve", rules: [ASK_NOTES] } as const;
  const strict = { policy: "p", default: "block", rules: [ASK_NOTES] } as const;
  const hp = folder.open({ policy: lax });
  assert.equal((await takenBack(hp, DROP)).status, "permitted");
  const [{ digest: was = "" } = {}] = await admin(hp).policies.list();
  await hp.close();
  const other = folder.open({ policy: strict });
  await other.gate({ name: "other", run: () => null })({}, { waitMs: 0 });
  const digests = (await admin(other).policies.list()).map(({ digest }) => digest);
  const now = digests.find((digest) => digest !== was) ?? assert.fail();
  // As it was written then: the document had nothing to say of it.
  const db = new DatabaseSync(join(folder.path, "journal.db"));
  const { changes } = db
    .prepare(
      `UPDATE hp_entries SET body = replace(replace(body, '"rule":"default"', '"rule":"policy"'), ?, ?)
       WHERE body LIKE '%"rule":"default"%' AND body LIKE '%"verdict":"approve"%'`,
    )
    .run(was, now);
  db.close();
  assert.equal(Number(changes), 1);
  const { byCode, changed } = await admin(other).policies.backtest(strict);
  assert.deepEqual([byCode, changed], [0, 0]);
  await other.close();
});

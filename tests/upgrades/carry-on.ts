/**
 * Everything that a program of an earlier version left waiting is carried on by the present one, to its end. The log of
 * effects has every line exactly once in the end, but for the one effect that may be repeated.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { admin } from "../../src/admin.ts";
import type { Holdpoint, Notice } from "../../src/index.ts";
import { checkJournal } from "../crash/full-check.ts";
import type { Bench } from "../fixtures/server.ts";
import { until } from "../fixtures/until.ts";
import type { Left } from "./left.ts";
import type { definePresent } from "./present/definitions.ts";

type Tools = ReturnType<typeof definePresent>;
export type Hands = {
  readonly hp: Holdpoint;
  readonly tools: Tools;
  readonly left: Left;
  /** Where messages arrive now. */
  readonly receiver: string;
};

export const ANN = { by: "person:ann" };
export const BOB = { by: "person:bob" };

/** By the first program, then by this one. */
const FIRST = ["lost", "refund 1", "spend 1", ...[0, 1, 2, 3, 4].map((n) => `begin ${n}`)];
const SECOND = [
  ...[
    "pay approved",
    "pay large",
    "pay modified 5",
    "pay of acme",
    "pay pending",
    "pay quorum",
    "pay staged",
  ],
  ...["refund 2", "refund 3", "spend 2", "spend 3", "told", "sign 3"],
  ...[0, 1, 2, 3, 4].map((n) => `deliver ${n}`),
];
const MORE = [
  ...["reserve 1", "release 1", "reserve 2"],
  ...["pay delegated", "pay of ruled"],
  ...["hangs.sealed the-secret-token", "hangs.sealed the-secret-token"],
];
const KILLED = ["hangs.idempotent", "hangs.idempotent", "hangs.once"];

const IN_COPY = ["pay large", "pay pending", "pay quorum", "pay staged", "deliver 0"];

export function checkEffects(log: string, where: "in place" | "in a copy", { more }: Left): void {
  const lines = readFileSync(log, "utf8").trim().split("\n");
  const inPlace = [...FIRST, ...SECOND, ...KILLED, ...(more === undefined ? [] : MORE)];
  const wanted = where === "in place" ? inPlace : [...FIRST, ...IN_COPY];
  assert.deepEqual(lines.toSorted(), wanted.toSorted());
}

export async function carryOnApprovals({ hp, tools, left }: Hands): Promise<void> {
  const { pending, approved, modified, large, quorum, staged } = left.approvals;
  const statuses = async () => {
    const all = [pending, approved, modified, large, quorum, staged];
    return Promise.all(all.map(async (id) => (await hp.approvals.get(id)).status));
  };
  assert.deepEqual(await statuses(), ["pending", "approved", "modified", "pending", "pending", "pending"]);
  await hp.approvals.approve(pending, ANN);
  await hp.approvals.approve(large, ANN);
  // Ann's vote of before counts, and is not asked for again.
  await hp.approvals.approve(quorum, BOB);
  assert.equal((await hp.approvals.get(staged)).stage, 2);
  await hp.approvals.approve(staged, BOB);
  const again = async (tool: Tools["pay"], requestId: string, more = {}) => {
    const answer = await tool({ requestId, ...more }, { requestId, waitMs: 0 });
    assert.equal(answer.status, "done", `${requestId}: ${JSON.stringify(answer)}`);
  };
  await again(tools.pay, "pending");
  await again(tools.pay, "approved");
  await again(tools.pay, "modified", { amount: 9 });
  await again(tools.pay, "large", { text: "x".repeat(100_000) });
  await again(tools.both, "quorum");
  await again(tools.staged, "staged");
  assert.deepEqual(await statuses(), Array(6).fill("consumed"));
  await hp.approvals.approve(left.messages.told, ANN);
  assert.equal((await tools.told({ requestId: "told" }, { requestId: "told", waitMs: 0 })).status, "done");
}

/** What was spent and what is in doubt counts; a doubt that is ended gives its part back. */
export async function carryOnEffects({ hp, tools, left }: Hands): Promise<void> {
  const spend = async (n: number) => {
    const answer = await tools.spend({ n }, { requestId: `spend ${n}`, waitMs: 0 });
    return "code" in answer ? answer.code : answer.status;
  };
  assert.deepEqual([await spend(1), await spend(2), await spend(3)], ["done", "done", "over_budget"]);
  await hp.actions.resolve(left.effects.effect, { ...ANN, status: "not_applied", reason: "asked the bank" });
  assert.equal(await spend(3), "done");
  const { spent, reserved } = await hp.budgets.get("trip");
  assert.deepEqual([spent, reserved], [6_000_000n, 0n]);

  const refund = async (n: number) => {
    const answer = await tools.refund({ n }, { requestId: `refund ${n}`, waitMs: 0 });
    return "code" in answer ? answer.code : answer.receipt.grant;
  };
  const { grant } = left.effects;
  assert.deepEqual(
    [await refund(1), await refund(2), await refund(3), await refund(4)],
    [grant, grant, grant, "pending"],
  );
  assert.equal((await hp.grants.get(grant)).status, "used_up");

  const report = await tools.report({}, { requestId: "report" });
  assert.ok(report.status === "done");
  assert.equal((report.result as unknown as { readonly text: string }).text, "y".repeat(100_000));
}

/** Its process was killed: what may be repeated is, and the other is in doubt. */
export async function carryOnRunning({ hp, tools, left }: Hands): Promise<void> {
  const settled = (requestId: string) =>
    until(async () => {
      await hp.recover();
      const { phase } = await hp.actions.get(requestId);
      return phase === "running" ? undefined : phase;
    }, `${requestId} to end`);
  assert.equal(await settled("hangs.idempotent"), "applied");
  if (left.more !== undefined) assert.equal(await settled("hangs.sealed"), "applied");
  assert.equal(await settled("hangs.once"), "in_doubt");
  const answer = await tools.hangs({}, { requestId: "hangs.once" });
  assert.ok(answer.status === "in_doubt");
  await hp.actions.resolve(answer.effect, { ...ANN, status: "applied", reason: "the receiver has it" });
}

async function answer(hp: Holdpoint, id: string): Promise<void> {
  const [wait] = (await hp.workflows.get(id)).waits;
  if (wait?.kind === "child") return answer(hp, wait.on);
  if (wait !== undefined && wait.kind !== "sleep") await hp.approvals.approve(wait.on, ANN);
}

/** Waits a minute at most: what was lost never comes. */
export async function resultOf({ workflows }: Holdpoint, id: string) {
  await until(async () => (await workflows.get(id)).end ?? undefined, `the workflow ${id} to end`);
  return workflows.result(id);
}

export async function carryOnErrands({ hp, left }: Hands): Promise<void> {
  const waits = await Promise.all(
    left.errands.map(async (id) => (await hp.workflows.get(id)).waits[0]?.kind),
  );
  assert.deepEqual(waits, ["checkpoint", "question", "sleep", "approval", "child"]);
  for (const id of left.errands) await answer(hp, id);
  const working = hp.work();
  for (const [n, id] of left.errands.entries()) {
    const { status, ...rest } = await resultOf(hp, id);
    assert.equal(status, "completed", JSON.stringify(rest));
    assert.deepEqual((rest as { result?: unknown }).result, { n, what: waits[n] });
  }
  const [first = ""] = left.errands;
  const logged = (await hp.journal.read(first)).filter(({ type }) => type === "log.written");
  assert.equal(logged.length, 250);
  working.catch(() => undefined);
}

/** Messages that no receiver had taken arrive; the alert holds until a person has seen it. */
export async function carryOnMessages({ hp, left, receiver }: Hands): Promise<void> {
  const { deliver, endpoints, messages, alerts } = admin(hp);
  const waiting = [left.messages, ...(left.more === undefined ? [] : [left.more.messages])];
  for (const { endpoint, message } of waiting) {
    assert.equal((await messages.get(message)).status, "waiting");
    const { target } = await endpoints.get(endpoint);
    if (!("url" in target) || target.url !== receiver)
      await endpoints.change(endpoint, { url: receiver, ...ANN });
  }
  const over = new AbortController();
  const delivering = deliver(over.signal, { allowPrivate: true });
  const isDelivered = async (id: string) => (await messages.get(id)).status === "delivered";
  for (const { message } of waiting)
    await until(async () => ((await isDelivered(message)) ? true : undefined), `${message} to arrive`);
  over.abort();
  await delivering;
  const { alert } = left.messages;
  assert.equal((await alerts.get(alert)).clearedAt, null);
  await alerts.acknowledge(alert, ANN);
}

/** Who was logged in still is, a key is still worth what it was, and an answer is repeated for its idempotency key. */
export async function carryOnIdentities(bench: Bench, { identities }: Left): Promise<void> {
  const { cookie, key, path, comment, answered } = identities;
  const session = await bench.ask("/api/session", { headers: { cookie } });
  assert.equal(session.status, 200, session.text);
  assert.equal(session.body["principal"], "person:ann");
  const headers = { authorization: `Bearer ${key}`, "idempotency-key": "letter-1" };
  const again = await bench.ask(path, { method: "POST", headers, body: comment });
  assert.deepEqual(again.body, JSON.parse(answered));
  assert.equal(again.headers["idempotency-replayed"], "true");
}

export async function checkEnd(
  { hp, left }: Pick<Hands, "hp" | "left">,
  folder: string,
  notices: readonly Notice[],
): Promise<void> {
  assert.deepEqual(await checkJournal(hp, folder, left.more?.seals.default), []);
  assert.deepEqual(
    notices.filter(({ kind }) => kind === "maintenance_failed" || kind === "definition_changed"),
    [],
  );
  const { items } = await hp.actions.list({ phase: "running" });
  assert.deepEqual(items, []);
}

/** What was agreed and not used has lapsed, and what ran is in doubt. Questions are decided, and run then. */
export async function carryOnCopy({ hp, tools, left }: Omit<Hands, "receiver">): Promise<void> {
  const { pending, approved, large, quorum, staged } = left.approvals;
  for (const id of [pending, large]) await hp.approvals.approve(id, ANN);
  for (const id of [quorum, staged]) await hp.approvals.approve(id, BOB);
  const call = async (tool: Tools["pay"], requestId: string, more = {}) => {
    const answer = await tool({ requestId, ...more }, { requestId, waitMs: 0 });
    return "code" in answer ? answer.code : answer.status;
  };
  assert.equal((await hp.approvals.get(approved)).status, "lapsed");
  const answers = [
    await call(tools.pay, "approved"),
    await call(tools.pay, "pending"),
    await call(tools.pay, "large", { text: "x".repeat(100_000) }),
    await call(tools.both, "quorum"),
    await call(tools.staged, "staged"),
  ];
  assert.deepEqual(answers, ["lapsed", "done", "done", "done", "done"]);
  const report = await tools.report({}, { requestId: "report" });
  assert.ok(report.status === "done");
  assert.equal((report.result as unknown as { readonly text: string }).text.length, 100_000);
  assert.equal((await hp.grants.get(left.effects.grant)).status, "revoked");
  assert.equal((await hp.budgets.get("trip")).reserved, 2_000_000n);
  assert.equal((await hp.actions.get(left.outside.permit)).phase, "in_doubt");
  assert.equal((await admin(hp).messages.get(left.messages.message)).status, "waiting");
  assert.equal((await admin(hp).alerts.get(left.messages.alert)).clearedAt, null);
  assert.equal((await hp.intents.get(left.outside.intents.task)).status, "created");
  const [atCheckpoint = "", ...others] = left.errands;
  for (const id of others) assert.equal((await hp.workflows.get(id)).status, "failed");
  await answer(hp, atCheckpoint);
  hp.work().catch(() => undefined);
  assert.equal((await resultOf(hp, atCheckpoint)).status, "completed");
}

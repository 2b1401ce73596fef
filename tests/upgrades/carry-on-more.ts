/** What writers after 0.1.0 leave beside the rest is carried on too. */
import assert from "node:assert/strict";
import { admin } from "../../src/admin.ts";
import type { Holdpoint } from "../../src/index.ts";
import type { Bench } from "../fixtures/server.ts";
import { until } from "../fixtures/until.ts";
import { ANN, BOB, type Hands, resultOf } from "./carry-on.ts";
import type { More } from "./left.ts";
import { WATCH } from "./present/definitions.ts";

const agent = "agent:courier";

async function carryOnApprovals({ hp, tools }: Hands, { approvals }: More): Promise<void> {
  const { delegated, expired } = approvals;
  await hp.approvals.approve(delegated, BOB);
  const again = (requestId: string) => [{ requestId }, { requestId, waitMs: 0 }] as const;
  assert.equal((await tools.mine(...again("delegated"))).status, "done");
  const ended = async () => ((await hp.approvals.get(expired)).status === "expired" ? true : undefined);
  await until(ended, "the approval to expire");
  const answer = await tools.soon(...again("expired"));
  assert.equal("code" in answer ? answer.code : answer.status, "expired");
}

async function carryOnPermits({ remote, actions }: Holdpoint, { permits }: More): Promise<void> {
  const { holder, issued, begun, doubtful, undo } = permits;
  const permit = await remote.begin(issued, { holder, agent });
  assert.ok(permit.status === "permitted" && permit.begun, JSON.stringify(permit));
  for (const id of [issued, begun]) await remote.report(id, { agent, status: "applied", result: 1 });
  const { phase, effect } = (await actions.get(doubtful)) as { phase: string; effect: { id: string } };
  assert.equal(phase, "in_doubt");
  await actions.resolve(effect.id, { ...ANN, status: "not_applied", reason: "asked the bank" });
  await remote.report(undo.action, { agent, status: "applied" });
  const { workflow: id } = undo;
  const { status, attempt } = await remote.workflows.get(id);
  assert.deepEqual([status, attempt], ["executing", 2]);
  assert.equal(await remote.workflows.fail(id, { agent, reason: "there is no other hotel" }), "failed");
}

/** After `hp.work()`. */
async function carryOnWorkflows(hp: Holdpoint, more: More): Promise<void> {
  const { workflows, approvals, intents } = hp;
  const { awaiting, undoing } = more.workflows;
  await intents.answer(awaiting.intent, { data: { n: 4 }, by: "agent:helper" });
  assert.partialDeepStrictEqual(await resultOf(hp, awaiting.id), { result: "completed" });
  assert.equal((await workflows.get(undoing.id)).status, "rolling_back");
  await approvals.approve(undoing.approval, ANN);
  const asked = await until(async () => {
    const { attempt, waits } = await workflows.get(undoing.id);
    return attempt === 2 && waits[0]?.kind === "checkpoint" ? waits[0].on : undefined;
  }, "the second attempt");
  await approvals.approve(asked, ANN);
  assert.partialDeepStrictEqual(await resultOf(hp, undoing.id), { status: "completed", result: 2 });
}

export async function carryOnMore(hands: Hands, more: More): Promise<void> {
  await carryOnApprovals(hands, more);
  await carryOnPermits(hands.hp, more);
  await carryOnWorkflows(hands.hp, more);
}

/** Where the monitor had come to is kept: it does not see the same calls a second time. */
export async function carryOnMonitor(hp: Holdpoint, alert: string): Promise<void> {
  const watch = await admin(hp).monitor(WATCH);
  await watch.caughtUp();
  const { items } = await admin(hp).alerts.list();
  assert.deepEqual(
    items.map(({ id }) => id),
    [alert],
  );
  await watch.close();
}

/** A kept reply that people have outdated is answered with what holds now, and a link that nobody used logs in, once. */
export async function carryOnRequests(bench: Bench, hp: Holdpoint, key: string, more: More): Promise<void> {
  const { link, proposal } = more.identities;
  const login = () => bench.ask("/api/session", { method: "POST", body: { link } });
  assert.equal((await login()).status, 201);
  assert.equal((await login()).status, 401);
  const headers = { authorization: `Bearer ${key}`, "idempotency-key": "propose-1" };
  const propose = () => bench.ask("/api/actions", { method: "POST", headers, body: proposal.body });
  assert.partialDeepStrictEqual((await propose()).body, {
    status: "pending",
    approval_id: proposal.approval,
  });
  await hp.approvals.approve(proposal.approval, ANN);
  const { body } = await propose();
  assert.equal(body["status"], "permitted", JSON.stringify(body));
  await hp.remote.report(String(body["action_id"]), { agent, status: "applied" });
}

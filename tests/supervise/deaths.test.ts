/** A run whose process dies, or loses the store, at every single commit: the same end, and everything done once. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { SuperviseResult } from "../../src/supervise/rules/turn.ts";
import { type Death, deaths, dieAt, told } from "../workflows/death.ts";
import { ANN, type Desk, office } from "../workflows/office.ts";
import { atStep, CONTEXT, FINAL, given, MAIL, refund } from "./refund.ts";

/** What was done outside, by key: an effect that is idempotent may be sent again under the same one. */
function outside(desk: Desk, sent: Map<string, string>) {
  return (["issue_refund", "send_refund_email"] as const).map((name) =>
    desk.gate({
      name,
      effect: "idempotent",
      policy: "approve",
      run: (args: { amount_usd: number }, { idempotencyKey }) => {
        sent.set(idempotencyKey, `${name} ${args.amount_usd}`);
        return { status: "ok" };
      },
    }),
  );
}

function start(desk: Desk, sent: Map<string, string>): Promise<SuperviseResult> {
  const options = given({ gate: (() => undefined) as never }, atStep(CONTEXT, refund(1200), MAIL, FINAL));
  const context = desk.gate({
    name: "get_refund_context",
    effect: "read",
    policy: "approve",
    run: () => ({ id: 42 }),
  });
  return desk.supervise({
    ...options,
    tools: [context, ...outside(desk, sent)],
    id: "r",
    limits: { seconds: 1e6 },
  });
}

async function live(death: Death) {
  const place = office(death.commit);
  const sent = new Map<string, string>();
  const people = place.open({ agent: "people" });
  const first = place.open();
  const counter = dieAt(first, death);
  let desk = first;
  let result: SuperviseResult | undefined;
  const begin = (where: Desk) => {
    const again = () => void start(where, sent).then(keep, () => undefined);
    const keep = (end: SuperviseResult) => {
      result ??= end;
    };
    again();
  };
  begin(first);
  await place.until(async () => {
    for (const { id } of (await people.approvals.list()).items)
      await people.approvals.approve(id, { ...ANN, edit: { amount_usd: 800 } });
    const isLost = desk === first && (counter.isDead() || counter.count() >= death.commit);
    if (isLost && death.commit > 0) {
      first.crash();
      desk = place.open();
      begin(desk);
    }
    return result !== undefined;
  });
  assert.ok(result !== undefined);
  const commits = counter.count();
  await desk.close();
  return { result, sent, commits };
}

describe("a supervised run whose process", async () => {
  const whole = await live({ commit: 0, when: "before" });
  const { workflow: _, ...expected } = whole.result;

  test("has no trouble", () => {
    assert.equal(whole.result.stop_reason, "success");
    assert.equal(whole.result.trace[1]?.executed_from, "human_revised");
    assert.deepEqual([...whole.sent.values()], ["issue_refund 800", "send_refund_email 800"]);
  });

  for (const death of deaths(whole.commits).filter(({ when }) => when === "before" || when === "after"))
    test(`${told(death)} comes to the same end`, async () => {
      const { result, sent } = await live(death);
      const { workflow: _id, ...found } = result;
      assert.deepEqual({ ...found, tokens: null }, { ...expected, tokens: null });
      assert.deepEqual([...sent.values()], ["issue_refund 800", "send_refund_email 800"]);
    });
});

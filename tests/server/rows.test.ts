// What is decided in a list, together with others: the server says what is not, and what a row shows has a digest of its own.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Holdpoint } from "../../src/index.ts";
import { digestOf } from "../../src/kernel/canonical-json.ts";
import { type Bench, serverSite } from "../fixtures/server.ts";

type Fields = Record<string, unknown>;
type Shown = { readonly approval: Fields; readonly card: Fields & { readonly you: Fields } };

async function cardOf(bench: Bench, id: string): Promise<Shown> {
  const { status, body, text } = await bench.ask(`/api/approvals/${id}/card`);
  assert.equal(status, 200, text);
  return body as Shown;
}

async function asked(call: Promise<object>): Promise<string> {
  const { approval } = (await call) as { approval?: string };
  return approval ?? assert.fail("nobody was asked");
}

async function firstOf(hp: Holdpoint): Promise<string> {
  for (let tries = 0; tries < 1_000; tries++) {
    const [first] = (await hp.approvals.list()).items;
    if (first !== undefined) return first.id;
    await new Promise<void>((resolve) => setTimeout(resolve, 10));
  }
  return assert.fail("nobody is asked");
}

const looks = (hp: Holdpoint) => {
  const tool = hp.gate({
    name: "look",
    effect: "read",
    policy: { verdict: "escalate", rule: "private", reason: "orders are private", approvers: { quorum: 2 } },
    run: (_: object) => 1,
  });
  return (args: object) =>
    asked(tool(args, { requestId: JSON.stringify(args).slice(0, 99), rationale: "please", waitMs: 0 }));
};

describe("in a list", () => {
  test("what somebody wrote about is decided alone, and what was changed is approved alone", async (t) => {
    const { bench, hp } = await serverSite(t);
    const look = looks(hp);
    const id = await look({ table: "orders" });
    const { you } = (await cardOf(bench, id)).card;
    assert.partialDeepStrictEqual(you, { may_batch: true, why_alone: null, why_reject_alone: null });
    await hp.approvals.comment(id, { by: "person:ann", text: "whose?" });
    const why = "there are comments to read";
    assert.partialDeepStrictEqual((await cardOf(bench, id)).card.you, {
      ...{ may_batch: false, why_alone: why, why_reject_alone: why },
    });
    const other = await look({ table: "stock" });
    await hp.approvals.approve(other, { by: "person:ann", edit: { table: "salaries" } });
    const changed = (await cardOf(bench, other)).card;
    assert.partialDeepStrictEqual(changed.you, {
      ...{ why_alone: "it was changed since it was proposed", why_reject_alone: null },
    });
    assert.equal(changed["shown_row"], null, "a row does not show what it was before");
  });

  test("a checkpoint is not rejected: what that does stands on its card", async (t) => {
    const { bench, hp } = await serverSite(t);
    hp.workflow("trip", async (ctx) => void (await ctx.checkpoint("Plan", { outputs: { nights: 3 } })));
    await hp.workflows.start("trip", {});
    const { card } = await cardOf(bench, await firstOf(hp));
    assert.notEqual(card["rejecting"], null);
    assert.equal(card.you["why_reject_alone"], "there is to look at what a rejection does to its workflow");
  });

  test("what a row shows has a digest that anybody can compute again; a vote records it", async (t) => {
    const { bench, hp } = await serverSite(t);
    const look = looks(hp);
    const id = await look({ table: "orders" });
    const { approval, card } = await cardOf(bench, id);
    const { request_id, binding, tool, agent, args, rationale, rule, reason } = approval;
    const row = {
      request_id,
      binding,
      tool,
      agent,
      args,
      rationale,
      rule,
      reason,
      risk_level: null,
      costs: [],
    };
    const each = Object.fromEntries(Object.entries(row).map(([field, value]) => [field, digestOf(value)]));
    assert.equal(card["shown_row"], digestOf({ row: each }));
    assert.notEqual(card["shown_row"], card["shown"]);
    const decisions = [{ request_id: id, binding, decision: "approve", shown: card["shown_row"] }];
    const sent = { method: "POST", body: { decisions, approved_by: "ann" } } as const;
    assert.equal((await bench.ask("/api/approvals/batch", sent)).status, 200);
    assert.equal((await hp.approvals.get(id)).votes[0]?.shown, card["shown_row"]);
    await hp.approvals.comment(id, { by: "person:bob", text: "whose?" });
    assert.equal((await cardOf(bench, id)).card["shown_row"], card["shown_row"], "a row shows no comments");
    const long = await look({ text: "x".repeat(600) });
    assert.equal((await cardOf(bench, long)).card["shown_row"], null);
  });
});

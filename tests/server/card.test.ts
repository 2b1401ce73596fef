// The card: what somebody sees before they decide, of everything that can be decided.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { z } from "zod";
import type { Holdpoint } from "../../src/index.ts";
import { digestOf } from "../../src/kernel/canonical-json.ts";
import type { Role } from "../../src/people/stream.ts";
import { addPerson, issueApiKey } from "../fixtures/people.ts";
import { type Answered, type Bench, serverSite } from "../fixtures/server.ts";
import { INJECTIONS } from "../messages/injections.ts";

type Fields = Record<string, unknown>;
type Shown = { readonly approval: Fields; readonly card: Fields };

const by = "person:root";
const post = (body: unknown, headers: Fields = {}) =>
  ({ method: "POST", body, headers: headers as Record<string, string> }) as const;
const REFUND = z.object({ customer: z.string(), amount: z.number(), note: z.string().default("none") });

function ok({ status, body, text }: Answered): Fields {
  assert.equal(status, 200, text);
  return body;
}

async function cardOf(bench: Bench, id: string, headers: Record<string, string> = {}): Promise<Shown> {
  return ok(await bench.ask(`/api/approvals/${id}/card`, { headers })) as Shown;
}

async function until<Value>(look: () => Promise<Value | undefined>): Promise<Value> {
  for (let tries = 0; tries < 1_000; tries++) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise<void>((resolve) => setTimeout(resolve, 10));
  }
  return assert.fail("it does not come");
}

const pendingOf = (hp: Holdpoint, tool: string): Promise<string> =>
  until(async () => {
    const { items } = await hp.approvals.list();
    return items.find((item) => item["tool"] === tool)?.id;
  });

const refundOf = (hp: Holdpoint) =>
  hp.gate({
    name: "refund_customer",
    input: REFUND,
    policy: ({ args }) => ({
      ...{ verdict: "escalate", rule: "large", reason: "over 100", decideWithinMs: 3_600_000 },
      risk: { score: args.amount, level: args.amount > 500 ? "critical" : "low", conditions: ["amount"] },
    }),
    run: () => "refunded",
  });

async function asked(call: Promise<object>): Promise<string> {
  const answer = (await call) as { approval?: string };
  assert.ok(typeof answer.approval === "string", JSON.stringify(answer));
  return answer.approval;
}

/** Somebody with a key of their own. */
async function keyOf(bench: Bench, name: string, roles: readonly Role[]): Promise<Record<string, string>> {
  const { runtime } = await bench.server.office();
  await addPerson(runtime, { person: `person:${name}`, roles, by });
  const { text } = await issueApiKey(runtime, { principal: `person:${name}`, name, by });
  return { authorization: `Bearer ${text}` };
}

describe("the card of an action", () => {
  test("says what it would cost, and what is left of the budget", async (t) => {
    const { bench, hp } = await serverSite(t);
    const usd = (dollars: number) => ({ currency: "USD", micros: BigInt(dollars) * 1_000_000n });
    await hp.budgets.limit("ads", usd(1_000));
    const book = hp.gate({
      name: "book_ads",
      input: z.object({ days: z.number() }),
      cost: ({ days }) => [
        { budget: "ads", amount: usd(days * 400) },
        { budget: "nowhere", amount: usd(1) },
      ],
      policy: "escalate",
      run: () => "booked",
    });
    const id = await asked(book({ days: 2 }, { requestId: "b", waitMs: 0 }));
    const { card } = await cardOf(bench, id);
    assert.deepEqual(card["costs"], [
      {
        budget: "ads",
        amount: { currency: "USD", micros: "800000000" },
        left: { currency: "USD", micros: "1000000000" },
      },
      { budget: "nowhere", amount: { currency: "USD", micros: "1000000" }, left: null },
    ]);
  });

  test("says what will run, that it is final, its risk, its schema, and the word to type", async (t) => {
    const { bench, hp } = await serverSite(t);
    const refund = refundOf(hp);
    const id = await asked(refund({ customer: "Ann", amount: 900 } as never, { requestId: "r", waitMs: 0 }));
    const { approval, card } = await cardOf(bench, id);
    assert.deepEqual(approval["args"], { customer: "Ann", amount: 900, note: "none" });
    assert.partialDeepStrictEqual(card, {
      heading: "Run refund_customer",
      is_irreversible: true,
      confirm: "refund_customer",
      proposed_args: null,
      reviews: [
        { verdict: "escalate", rule: "large", reason: "over 100", policy_name: null, edited_by: null },
      ],
      risk: { level: "critical", score: 900, conditions: ["amount"] },
      workflow: null,
      rejecting: null,
      snapshot: null,
      you: {
        ...{ may_decide: true, why_not: null, vote: null, may_batch: false },
        may: ["approve", "reject", "edit", "extend", "delegate", "cancel", "comment"],
        why_alone: "it cannot be undone, and a word is typed before it is approved",
      },
      voters: [],
    });
    assert.match(String(card["effect_words"]), /tried once; it cannot be undone automatically$/);
    const schema = card["input_schema"] as { properties: object };
    assert.deepEqual(Object.keys(schema.properties).toSorted(), ["amount", "customer", "note"]);
    const low = await asked(refund({ customer: "Ann", amount: 2 } as never, { requestId: "s", waitMs: 0 }));
    assert.partialDeepStrictEqual((await cardOf(bench, low)).card, { is_irreversible: true, confirm: null });
  });

  test("shows what the agent has done with the tool before, newest first, and how it was decided", async (t) => {
    const { bench, hp } = await serverSite(t);
    const refund = refundOf(hp);
    const call = (number: number) =>
      refund({ customer: "Ann", amount: number } as never, { requestId: `r-${number}`, waitMs: 0 });
    const first = await asked(call(1));
    await hp.approvals.approve(first, { by });
    await call(1);
    const second = await asked(call(2));
    await hp.approvals.reject(second, { by, reason: "twice" });
    const { card } = await cardOf(bench, await asked(call(3)));
    const history = card["history"] as { latest: Fields[] };
    assert.partialDeepStrictEqual(history, {
      ...{ agent: "agent:server", tool: "refund_customer", total: 2, applied: 1, refused: 1, in_doubt: 0 },
      is_all: true,
    });
    assert.deepEqual(
      history.latest.map(({ phase, approval_id }) => [phase, approval_id]),
      [
        ["refused", second],
        ["applied", first],
      ],
    );
    assert.match(String(history.latest[0]?.["args"]), /"amount":2/);

    const look = hp.gate({ name: "look", effect: "read", policy: "approve", run: (_: object) => 1 });
    await Promise.all(Array.from({ length: 500 }, (_, n) => look({ n })));
    const later = (await cardOf(bench, await asked(call(4)))).card["history"];
    assert.partialDeepStrictEqual(later, { total: 0, is_all: false, latest: [] });
  });

  test("counts nothing as before that came after the question, also when it was decided long ago", async (t) => {
    const { bench, hp } = await serverSite(t);
    const refund = refundOf(hp);
    const call = (number: number) =>
      refund({ customer: "Ann", amount: number } as never, { requestId: `r-${number}`, waitMs: 0 });
    const ids: string[] = [];
    for (const number of [1, 2, 3]) ids.push(await asked(call(number)));
    const [first = "", second = ""] = ids;
    const before = async (id: string) => {
      const { total, applied, latest } = (await cardOf(bench, id)).card["history"] as Fields;
      return { total, applied, latest: (latest as Fields[]).map(({ approval_id }) => approval_id) };
    };
    assert.deepEqual(await before(first), { total: 0, applied: 0, latest: [] });
    assert.deepEqual(await before(second), { total: 1, applied: 0, latest: [first] });
    for (const id of [first, second]) await hp.approvals.approve(id, { by });
    for (const number of [1, 2]) await call(number);
    assert.deepEqual(await before(first), { total: 0, applied: 0, latest: [] });
    // How it stands now: since then it was done.
    assert.deepEqual(await before(second), { total: 1, applied: 1, latest: [first] });
  });

  test("keeps what was proposed beside what a person, or the policy, made of it", async (t) => {
    const { bench, hp } = await serverSite(t);
    const pay = hp.gate({
      name: "pay",
      input: z.object({ amount: z.number(), fee: z.number().optional() }),
      policy: ({ args }) =>
        args.fee === undefined
          ? { verdict: "revise", set: { fee: 1 }, reason: "there is a fee" }
          : { verdict: "escalate", approvers: { quorum: 2 } },
      run: () => "paid",
    });
    const id = await asked(pay({ amount: 7 }, { requestId: "p", waitMs: 0 }));
    const { approval, card } = await cardOf(bench, id);
    assert.deepEqual([approval["args"], card["proposed_args"]], [{ amount: 7, fee: 1 }, { amount: 7 }]);
    assert.equal(card["confirm"], "pay", "two people are asked");
    ok(
      await bench.ask(
        `/api/approvals/${id}/votes`,
        post({ decision: "approve", edit: { amount: 8 }, approved_by: "ann" }),
      ),
    );
    const later = await cardOf(bench, id);
    assert.deepEqual(later.card["proposed_args"], { amount: 7 });
    assert.deepEqual(later.card["voters"], [{ person: "person:ann", state: "approved", stage: 1 }]);
  });

  test("of what people changed says which review said what: of the first question, and of each change", async (t) => {
    const { bench, hp } = await serverSite(t);
    const pay = hp.gate({
      name: "pay",
      input: z.object({ amount: z.number() }),
      policy: ({ args: { amount } }) => ({
        ...(amount > 100
          ? { verdict: "escalate", rule: "large", reason: `${amount} is over 100` }
          : { verdict: "approve", rule: "small", reason: "little is at stake" }),
        risk: { score: amount, level: amount > 500 ? "critical" : "low", conditions: [`pays ${amount}`] },
      }),
      run: () => "paid",
    });
    const id = await asked(pay({ amount: 900 }, { requestId: "p", waitMs: 0 }));
    const large = { rule: "large", reason: "900 is over 100", verdict: "escalate", edited_by: null };
    const first = { ...large, risk: { level: "critical", score: 900, conditions: ["pays 900"] } };
    assert.partialDeepStrictEqual((await cardOf(bench, id)).card, { reviews: [first], risk: first.risk });
    const edit = { decision: "approve", edit: { amount: 40 }, approved_by: "ann" };
    ok(await bench.ask(`/api/approvals/${id}/votes`, post(edit)));
    const small = { rule: "small", reason: "little is at stake", verdict: "approve" };
    const second = { ...small, risk: { level: "low", score: 40, conditions: ["pays 40"] } };
    const { approval, card } = await cardOf(bench, id);
    assert.equal(approval["status"], "modified");
    assert.partialDeepStrictEqual(card, {
      reviews: [first, { ...second, edited_by: "person:ann" }],
      risk: second.risk,
    });
    await pay({ amount: 900 }, { requestId: "p" });
    assert.equal(((await cardOf(bench, id)).card["reviews"] as Fields[]).length, 2);
  });

  test("whose change falls under another rule says what was said of it; the one that is asked instead what was said of the change", async (t) => {
    const { bench, hp } = await serverSite(t);
    const pay = hp.gate({
      name: "pay",
      input: z.object({ to: z.string() }),
      policy: ({ args }) => ({
        ...{ verdict: "escalate", rule: args.to === "bob" ? "other" : "first" },
        approvers: { quorum: args.to === "bob" ? 2 : 1 },
      }),
      run: () => "paid",
    });
    const id = await asked(pay({ to: "ann" }, { requestId: "p", waitMs: 0 }));
    const edit = { decision: "approve", edit: { to: "bob" }, approved_by: "cho" };
    const voted = ok(await bench.ask(`/api/approvals/${id}/votes`, post(edit)));
    const instead = String(voted["approval_id"]);
    assert.notEqual(instead, id);
    const said = async (which: string) =>
      ((await cardOf(bench, which)).card["reviews"] as Fields[]).map(({ rule: by, edited_by }) => [
        by,
        edited_by,
      ]);
    assert.deepEqual(await said(id), [["first", null]]);
    assert.deepEqual(await said(instead), [["other", "person:cho"]]);
  });

  test("tells a preview that failed from one that shows something", async (t) => {
    const { bench, hp } = await serverSite(t);
    const drop = hp.gate({
      name: "drop",
      preview: ({ table }: { table: string }) => {
        if (table === "") throw new Error("no such table");
        return { table };
      },
      run: () => "dropped",
    });
    const shown = async (table: string) => {
      const { approval } = await cardOf(
        bench,
        await asked(drop({ table }, { requestId: `r${table}`, waitMs: 0 })),
      );
      const { value, failed } = approval["preview"] as Record<string, unknown>;
      return [value, failed];
    };
    assert.deepEqual(await shown("orders"), [{ table: "orders" }, false]);
    assert.deepEqual(await shown(""), ["no such table", true]);
  });

  test("of an agent outside has the rules of what nobody declared", async (t) => {
    const { bench } = await serverSite(t);
    const proposal = { tool: "note.write", args: { t: 1 }, agent: "agent:far", rationale: "please" };
    const { approval_id } = ok(await bench.ask("/api/actions", post(proposal)));
    const { approval, card } = await cardOf(bench, String(approval_id));
    assert.equal(approval["rationale"], "please");
    assert.partialDeepStrictEqual(card, {
      ...{ heading: "Run note.write", is_irreversible: true, confirm: null, input_schema: null },
      history: { agent: "agent:far", total: 0, latest: [] },
    });
  });
});

describe("the card of what a workflow asks", () => {
  const book = (hp: Holdpoint, seen: { undone: string[] }) => ({
    hotel: hp.gate({
      name: "hotel",
      policy: "approve",
      run: (_: { nights: number }) => 7,
      undo: { run: () => void seen.undone.push("hotel") },
    }),
    mail: hp.gate({ name: "mail", policy: "approve", run: (_: object) => "sent" }),
    look: hp.gate({ name: "look", policy: "approve", effect: "read", run: (_: object) => "seen" }),
  });

  test("an action: what was done before it, and what of that could be taken back", async (t) => {
    const { bench, hp } = await serverSite(t);
    const { hotel, mail, look } = book(hp, { undone: [] });
    const pay = hp.gate({ name: "pay", policy: "escalate", run: (_: object) => 1, undo: { run: () => 1 } });
    const flow = hp.workflow("trip", async (ctx, _: object) => {
      await ctx.call(look, {});
      await ctx.call(hotel, { nights: 2 });
      await ctx.call(mail, {});
      await ctx.call(pay, {});
    });
    const { id: workflow } = await flow.start({});
    const { card } = await cardOf(bench, await pendingOf(hp, "pay"));
    assert.equal(card["is_irreversible"], false);
    assert.match(String(card["effect_words"]), /; a rollback of its workflow undoes it$/);
    assert.equal(card["rejecting"], null);
    const around = card["workflow"] as { done: Fields[] };
    assert.partialDeepStrictEqual(around, {
      ...{ workflow_id: workflow, name: "trip", status: "executing", attempt: 1, total: 3, cannot_undo: 1 },
    });
    assert.deepEqual(
      around.done.map(({ tool, phase, can_undo, is_undone }) => [tool, phase, can_undo, is_undone]),
      [
        ["mail", "applied", false, false],
        ["hotel", "applied", true, false],
        ["look", "applied", false, false],
      ],
    );
    assert.equal(around.done[1]?.["args"], '{"nights":2}');
  });

  test("an action that was decided: what the workflow did afterwards is counted, and is not among what was before", async (t) => {
    const { bench, hp } = await serverSite(t);
    const { hotel, mail, look } = book(hp, { undone: [] });
    const pay = hp.gate({ name: "pay", policy: "escalate", run: (_: object) => 1 });
    const flow = hp.workflow("trip", async (ctx, _: object) => {
      await ctx.call(hotel, { nights: 2 });
      await ctx.call(pay, {});
      await ctx.call(mail, {});
      await ctx.call(look, {});
    });
    const { id: workflow } = await flow.start({});
    const id = await pendingOf(hp, "pay");
    const around = async () => {
      const { done, total, since, cannot_undo } = (await cardOf(bench, id)).card["workflow"] as Fields;
      return { done: (done as Fields[]).map(({ tool }) => tool), total, since, cannot_undo };
    };
    const before = { done: ["hotel"], total: 1, cannot_undo: 0 };
    assert.deepEqual(await around(), { ...before, since: 0 });
    await hp.approvals.approve(id, { by });
    await until(async () => ((await hp.workflows.get(workflow)).status === "completed" ? true : undefined));
    assert.deepEqual(await around(), { ...before, since: 2 });
  });

  test("a checkpoint: where a rejection goes back to, what it takes back and what stays; and then it does", async (t) => {
    const { bench, hp } = await serverSite(t);
    const seen = { undone: [] as string[] };
    const { hotel, mail, look } = book(hp, seen);
    const flow = hp.workflow(
      "trip",
      {
        onIrreversible: "continue",
        checkpoints: [{ name: "Booked", requiresApproval: false }, { name: "Review plan" }],
      },
      async (ctx, _: object) => {
        await ctx.call(hotel, { nights: 1 });
        await ctx.checkpoint("Booked");
        await ctx.call(hotel, { nights: 2 });
        await ctx.call(look, {});
        await ctx.call(mail, {});
        await ctx.checkpoint("Review plan", { outputs: { plan: "go" }, summary: "all booked" });
      },
    );
    const { id: workflow } = await flow.start({});
    const id = await pendingOf(hp, "Review plan");
    const { card } = await cardOf(bench, id);
    assert.partialDeepStrictEqual(card, {
      heading: "Go on past the checkpoint Review plan",
      effect_words: "the workflow goes on from here; nothing else runs by it",
      is_irreversible: false,
      confirm: null,
      input_schema: null,
      history: null,
      rejecting: {
        ...{ goes_back_to: "Booked", is_end: false, is_last: false, undone: ["hotel"], stays: ["mail"] },
      },
      workflow: { status: "awaiting_approval", total: 4, cannot_undo: 1 },
    });
    const snapshot = card["snapshot"] as Fields;
    for (const layer of ["execution_state", "task_state", "approval_interface"])
      assert.ok(layer in snapshot, JSON.stringify(snapshot));
    await hp.approvals.reject(id, { by, reason: "too dear" });
    const report = await until(async () => (await hp.workflows.get(workflow)).rolledBack ?? undefined);
    assert.deepEqual([report.undone.length, report.irreversible.map(({ tool }) => tool)], [1, ["mail"]]);
    assert.deepEqual(seen.undone, ["hotel"]);
    const after = await cardOf(bench, id);
    assert.equal(after.card["rejecting"], null);
    assert.partialDeepStrictEqual(after.card["you"], { may_decide: false, why_not: "it is decided" });
  });

  test("a checkpoint: what a rejection leaves, with each action; a child's workflow is listed since the last one", async (t) => {
    const { bench, hp } = await serverSite(t);
    const { mail } = book(hp, { undone: [] });
    const inner = hp.workflow("inner", async (ctx, _: object) => void (await ctx.call(mail, {})));
    const flow = hp.workflow("trip", { onIrreversible: "continue" }, async (ctx, _: object) => {
      await ctx.spawn(inner, {});
      await ctx.checkpoint("Plan");
      await ctx.call(mail, {});
      await ctx.spawn(inner, {});
      await ctx.checkpoint("Done");
    });
    await flow.start({});
    type Around = {
      readonly workflow: { readonly done: readonly Fields[]; readonly children: readonly Fields[] };
      readonly rejecting: { readonly stays: readonly string[]; readonly permanent: readonly Fields[] };
    };
    const around = async (id: string) => (await cardOf(bench, id)).card as unknown as Around;
    const plan = await pendingOf(hp, "Plan");
    assert.equal((await around(plan)).workflow.children.length, 1);
    await hp.approvals.approve(plan, { by });
    const first = await pendingOf(hp, "Done");
    const { workflow, rejecting } = await around(first);
    assert.equal(workflow.children.length, 1, "the first was before Plan");
    assert.deepEqual(rejecting.stays, ["mail", "mail"]);
    const actions = rejecting.permanent.map(({ action_id: id }) => id);
    assert.equal(new Set(actions).size, 2);
    assert.ok(actions.includes(workflow.done[0]?.["action_id"]));
    await hp.approvals.reject(first, { by, reason: "again" });
    const second = await until(async () => {
      const { items } = await hp.approvals.list();
      return items.find(({ id, tool }) => tool === "Done" && id !== first)?.id;
    });
    const again = await around(second);
    assert.deepEqual(
      again.workflow.done.map(({ is_since }) => is_since),
      [true, false],
      "what the attempt before did is not of this one",
    );
    const now = again.workflow.children.map(({ workflow_id: id }) => id);
    assert.equal(now.length, 1);
    assert.notDeepEqual(
      now,
      workflow.children.map(({ workflow_id: id }) => id),
    );
  });

  test("a question: its answer's schema; an intent: what was sent", async (t) => {
    const { bench, hp } = await serverSite(t);
    const flow = hp.workflow("survey", async (ctx, _: object) =>
      ctx.ask("count", "How many?", { answer: z.object({ n: z.number() }) }),
    );
    await flow.start({});
    const [question = { id: "" }] = (await until(async () => {
      const { items } = await hp.approvals.list();
      return items.length > 0 ? items : undefined;
    })) as readonly { id: string }[];
    const { card } = await cardOf(bench, question.id);
    assert.match(String(card["heading"]), /^Answer the question /);
    assert.partialDeepStrictEqual(card, {
      input_schema: { properties: { n: { type: "number" } } },
      ...{ is_irreversible: false, confirm: null, rejecting: null, workflow: { name: "survey" } },
    });
    const { approval } = await hp.intents.send({
      ...{ intentType: "human_approval", toAgent: "agent://approver", payload: { word: 1 } },
    });
    const sent = await cardOf(bench, String(approval));
    assert.partialDeepStrictEqual(sent.card, {
      ...{ effect_words: "its sender is told the answer; nothing else runs by it", workflow: null },
    });
    assert.match(String(sent.card["heading"]), /^Answer what was sent: /);
  });
});

describe("a card", () => {
  test("has a digest of what it shows: the same until something changes, and for whoever looks", async (t) => {
    const { bench, hp } = await serverSite(t, { noAuth: false });
    const id = await asked(
      refundOf(hp)({ customer: "A", amount: 1 } as never, { requestId: "r", waitMs: 0 }),
    );
    const ann = await keyOf(bench, "ann", ["supervisor"]);
    const bob = await keyOf(bench, "bob", ["auditor"]);
    const [one, again, other] = [
      await cardOf(bench, id, ann),
      await cardOf(bench, id, ann),
      await cardOf(bench, id, bob),
    ];
    assert.match(String(one.card["shown"]), /^[0-9a-f]{64}$/);
    assert.deepEqual([again.card["shown"], other.card["shown"]], [one.card["shown"], one.card["shown"]]);
    assert.equal((one.card["you"] as Fields)["may_decide"], true);
    assert.equal((other.card["you"] as Fields)["may_decide"], false);
    // As the guide says that anybody can.
    const { shown, shown_row: _row, you: _, ...card } = one.card;
    const each = (fields: Fields) =>
      Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, digestOf(value)]));
    assert.equal(digestOf({ approval: each(one.approval), card: each(card) }), shown);
    const comment = await bench.ask(`/api/approvals/${id}/comments`, post({ text: "which order?" }, ann));
    assert.ok(comment.status < 300, comment.text);
    const commented = await cardOf(bench, id, ann);
    const said = [{ by: "person:ann", text: "which order?" }];
    assert.partialDeepStrictEqual(commented.approval["comments"], said);
    assert.equal(JSON.stringify(commented).split("which order?").length, 2, "once in the answer");
    assert.notEqual(commented.card["shown"], shown);
  });

  test("says what whoever looks could do with it, and nothing to those who only look", async (t) => {
    const { bench, hp } = await serverSite(t, { noAuth: false });
    const look = hp.gate({ name: "look", effect: "read", policy: "escalate", run: (_: object) => 1 });
    const id = await asked(look({ n: 1 }, { requestId: "r", waitMs: 0 }));
    const ann = await keyOf(bench, "ann", ["supervisor"]);
    const bob = await keyOf(bench, "bob", ["auditor"]);
    const you = async (headers: Record<string, string>) => (await cardOf(bench, id, headers)).card["you"];
    assert.partialDeepStrictEqual(await you(ann), {
      ...{ may_batch: true, why_alone: null },
      may: ["approve", "reject", "edit", "delegate", "cancel", "comment"],
    });
    assert.partialDeepStrictEqual(await you(bob), { may: [], may_batch: false });
    ok(await bench.ask(`/api/approvals/${id}/votes`, post({ decision: "approve" }, ann)));
    assert.partialDeepStrictEqual(await you(ann), { may: ["revoke"], may_batch: false });
    ok(await bench.ask(`/api/approvals/${id}/revoke`, post({ reason: "too soon" }, ann)));
    assert.partialDeepStrictEqual(await you(ann), { may: [] });
  });

  test("writes nothing, is unknown elsewhere, and is not for narrowed keys", async (t) => {
    const { bench, hp } = await serverSite(t, { noAuth: false });
    const id = await asked(
      refundOf(hp)({ customer: "A", amount: 1 } as never, { requestId: "r", waitMs: 0 }),
    );
    const ann = await keyOf(bench, "ann", ["supervisor"]);
    const { runtime } = await bench.server.office();
    const position = await runtime.store.position();
    await cardOf(bench, id, ann);
    ok(await bench.ask(`/api/approvals/${id}/try`, post({ edit: { amount: 2 } }, ann)));
    assert.equal(await runtime.store.position(), position);
    const elsewhere = (await bench.server.office("globex")).runtime;
    await addPerson(elsewhere, { person: by, roles: ["admin", "supervisor"], by });
    const { text } = await issueApiKey(elsewhere, { principal: by, name: "root", by });
    const stranger = { authorization: `Bearer ${text}` };
    for (const sent of [{ headers: stranger }, post({ edit: {} }, stranger)]) {
      const path = `/api/approvals/${id}/${"body" in sent ? "try" : "card"}`;
      assert.equal((await bench.ask(path, sent)).status, 404);
    }
    const narrow = { principal: "agent:a", name: "a", roles: ["executor" as const], by };
    const key = await issueApiKey(runtime, { ...narrow, scopes: ["approvals:read"] });
    const headers = { authorization: `Bearer ${key.text}` };
    assert.equal((await bench.ask(`/api/approvals/${id}/card`, { headers })).status, 403);
    assert.equal((await bench.ask(`/api/approvals/${id}/try`, post({ edit: {} }, headers))).status, 403);
  });

  test("gives strangers' texts back as they are, byte by byte, also cut and as deep as JSON may be", async (t) => {
    const { bench } = await serverSite(t);
    const deep = (levels: number): unknown => (levels === 0 ? "end" : [deep(levels - 1)]);
    const texts = INJECTIONS.slice(0, 150).map((text) => text.toWellFormed());
    for (const args of [{ texts }, { t: `${"x".repeat(193)}😀${"x".repeat(100)}` }, { deep: deep(60) }]) {
      const says = texts.join("").slice(0, 5_000).toWellFormed();
      const proposal = { tool: "note.write", args, agent: "agent:far", rationale: says };
      const first = ok(await bench.ask("/api/actions", post(proposal)));
      const second = ok(await bench.ask("/api/actions", post(proposal)));
      for (const { approval_id } of [first, second]) {
        const { approval, card } = await cardOf(bench, String(approval_id));
        assert.deepEqual(approval["args"], args);
        assert.equal(approval["rationale"], says);
        assert.equal(card["heading"], "Run note.write");
      }
    }
  });
});

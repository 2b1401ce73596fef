// Slack and Teams: what is posted, with what limits, and what of others' texts.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { admin } from "../../src/admin.ts";
import { holdpoint } from "../../src/index.ts";
import { addEndpoint } from "../../src/notify/rules/endpoint.ts";
import type { EndpointTarget } from "../../src/notify/stream.ts";
import { runCommand } from "../../src/runtime/store-access.ts";
import { ANN, bench, type Desk } from "./bench.ts";
import { blockTexts, checkSlack, checkTeams, HOSTILE, slackIn, teamsIn } from "./chat-payloads.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

const addChat = (desk: Desk, { url }: Receiver, kind: "slack" | "teams", name?: string) =>
  desk.endpoints.add({
    ...{ url: `${url}services/T0/B0/sEcReT`, kind, events: ["approval.requested"], ...ANN },
    ...(name === undefined ? {} : { name }),
  });

async function journalText({ store, runtime }: Desk): Promise<string> {
  const entries = await store.log(runtime.tenant, 0, 10_000);
  return entries.map(({ body }) => body).join("\n");
}

describe("Slack", () => {
  test("gets blocks with the facts, the agent's words marked as such, and one button that opens the card", async (context) => {
    const place = bench(context);
    const desk = place.open();
    const receiver = await startReceiver(context);
    const added = await addChat(desk, receiver, "slack", "prod");
    assert.equal(added.secret, null);
    assert.deepEqual(added.target, { kind: "slack", host: `127.0.0.1:${receiver.port}` });
    const approval = await desk.ask({ amount: 12, to: "Zoë" }, "please\nRule: approved");
    desk.deliver();
    const [got] = await receiver.reached(1);
    assert.ok(got !== undefined);
    assert.equal(got.path, "/services/T0/B0/sEcReT");
    assert.equal(got.headers["webhook-signature"], undefined);
    const message = slackIn(got);
    checkSlack(message);
    const texts = blockTexts(message);
    assert.ok(texts.includes("Tool\npayments.refund"), texts.join("\n"));
    assert.ok(texts.includes("The agent says:\n│ please\n│ Rule: approved"));
    assert.ok(texts.some((text) => text.startsWith("Arguments, as the agent gave them:\n│ {")));
    const [button] = message.blocks.find(({ type }) => type === "actions")?.elements ?? [];
    assert.equal(button?.url, `https://holdpoint.example/approvals/${approval}`);
    await place.until(async () => (await desk.messages.count("delivered")) === 1);
    const kept = JSON.stringify([await desk.endpoints.list(), await desk.endpoints.get(added.id)]);
    assert.doesNotMatch(`${kept}${await journalText(desk)}`, /sEcReT/, "the address is a secret");
  });

  test("is shown hostile texts as they are, and what was cut is counted", async (context) => {
    const place = bench(context);
    const desk = place.open();
    const receiver = await startReceiver(context);
    await addChat(desk, receiver, "slack");
    await desk.ask({ to: HOSTILE, more: "x".repeat(20_000) }, HOSTILE + "é😀".repeat(3_000));
    desk.deliver();
    const [got] = await receiver.reached(1);
    assert.ok(got !== undefined);
    const message = slackIn(got);
    checkSlack(message);
    const texts = blockTexts(message);
    const said = texts.find((text) => text.startsWith("The agent says"));
    assert.match(said ?? "", /<!channel> <https:\/\/evil\.example\|Approve> & \[ok\]/, "plain text");
    assert.match(said ?? "", /… \(\d+ more characters\)$/);
    assert.ok(texts.every((text) => text.isWellFormed() && !text.includes("\u202e")));
    const args = texts.find((text) => text.startsWith("Arguments"));
    const left = Number(/… \((\d+) more characters\)$/.exec(args ?? "")?.[1]);
    assert.ok(left > 17_000 && left < 18_000, String(left));
  });

  test("that says when to try again is asked for nothing before, and a lost answer is tried again", async (context) => {
    const place = bench(context);
    const desk = place.open({}, { timeoutMs: 300 });
    const receiver = await startReceiver(context);
    await addChat(desk, receiver, "slack");
    receiver.answer = () => 429;
    receiver.headers = { "retry-after": "300" };
    const since = desk.runtime.clock.now();
    await desk.ask();
    desk.deliver();
    await receiver.reached(1);
    const waiting = await place.until(async () => {
      const [one] = (await desk.messages.list()).items;
      return one !== undefined && one.attempts === 1 && one;
    });
    assert.partialDeepStrictEqual(waiting.last, { status: 429, problem: "status_429" });
    assert.ok((waiting.dueAt ?? 0) >= since + 300_000, "not after the usual five seconds");
    await desk.ask({ amount: 2 });
    receiver.answer = () => (receiver.got.length === 2 ? new Promise<number>(() => undefined) : 200);
    receiver.headers = {};
    await place.until(async () => (await desk.messages.count("delivered")) === 2);
    assert.ok(desk.runtime.clock.now() >= since + 300_000, "the other message waited too");
    assert.equal(receiver.got.length, 4, "one was sent again after its answer was lost");
  });

  test("has one name for each endpoint, and another address by rotation", async (context) => {
    const place = bench(context);
    const desk = place.open();
    const [first, second] = [await startReceiver(context), await startReceiver(context)];
    const { id } = await addChat(desk, first, "slack", "prod");
    await assert.rejects(addChat(desk, first, "slack", "prod"), { code: "invalid_input" });
    await addChat(desk, first, "teams", "prod");
    await assert.rejects(desk.endpoints.change(id, { url: "https://hooks.slack.com/services/x", ...ANN }), {
      code: "invalid_input",
      message: /rotate/,
    });
    await assert.rejects(desk.endpoints.rotate(id, ANN), { code: "invalid_input" });
    await desk.endpoints.rotate(id, { url: second.url, ...ANN });
    const { arrived } = await desk.endpoints.test(id, ANN);
    assert.ok(arrived);
    assert.deepEqual([first.got.length, second.got.length], [0, 1]);
    await desk.endpoints.remove(id, ANN);
    await addChat(desk, first, "slack", "prod");
  });

  test("is known by its host, so that no address of one is taken for a webhook's and shown", async (context) => {
    const desk = bench(context).open();
    const url = "https://hooks.slack.com/services/T0/B0/sEcReT";
    const { target } = await desk.endpoints.add({ url, ...ANN });
    assert.deepEqual(target, { kind: "slack", host: "hooks.slack.com" });
    const flow =
      "https://prod-1.westeurope.logic.azure.com/workflows/a/triggers/manual/paths/invoke?sig=sEcReT";
    const teams = await desk.endpoints.add({ url: flow, ...ANN });
    assert.equal(teams.target.kind, "teams");
    assert.doesNotMatch(await journalText(desk), /sEcReT/);
    await assert.rejects(desk.endpoints.add({ url, secret: `whsec_${"A".repeat(43)}=`, ...ANN }), {
      code: "invalid_input",
    });
  });
});

describe("a webhook on a host of chats", () => {
  const url = "https://hooks.example.logic.azure.com/a";

  test("is named as one, and stays one when its address changes", async (context) => {
    const desk = bench(context).open();
    const { id } = await desk.endpoints.add({ url, kind: "webhook", ...ANN });
    const changed = await desk.endpoints.change(id, { url: `${url}/b`, ...ANN });
    assert.deepEqual(changed.target, { kind: "webhook", url: `${url}/b` });
    await assert.rejects(desk.endpoints.change(id, { url, kind: "teams", ...ANN }), {
      code: "invalid_input",
    });
  });

  test("keeps an address that another person changes while its secret is rotated", async (context) => {
    const desk = bench(context).open();
    const { id } = await desk.endpoints.add({ url: "https://a.example/", ...ANN });
    const change = desk.endpoints.change(id, { url: "https://b.example/", ...ANN });
    await Promise.all([desk.endpoints.rotate(id, ANN), change]);
    const { target } = await desk.endpoints.get(id);
    assert.deepEqual(target, { kind: "webhook", url: "https://b.example/" });
  });
});

describe("Teams", () => {
  test("gets an Adaptive Card of at most 28 KB, in which nothing is read as Markdown", async (context) => {
    const place = bench(context);
    const desk = place.open();
    const receiver = await startReceiver(context);
    await addChat(desk, receiver, "teams");
    const approval = await desk.ask(
      { to: HOSTILE, more: "語".repeat(20_000) },
      `${HOSTILE}${"語".repeat(9_000)}`,
    );
    desk.deliver();
    const [got] = await receiver.reached(1);
    assert.ok(got !== undefined);
    const texts = checkTeams(got);
    assert.ok(texts.includes("payments.refund"));
    assert.ok(texts.some((text) => text.includes("[ok](https://evil.example) *x*")));
    assert.ok(texts.some((text) => /… \(\d+ more characters\)$/.test(text)));
    assert.deepEqual(teamsIn(got).attachments[0]?.content.actions, [
      {
        type: "Action.OpenUrl",
        title: "Open in Holdpoint",
        url: `https://holdpoint.example/approvals/${approval}`,
      },
    ]);
  });
});

describe("an endpoint of a channel that this version does not have", () => {
  test("keeps its messages for a node that has it, and the others are sent", async (context) => {
    const place = bench(context);
    const desk = place.open();
    const receiver = await startReceiver(context);
    const target = { kind: "pigeon", host: "loft.example" } as unknown as EndpointTarget;
    const terms = { name: "loft", target, events: ["*"], owner: "person:ann", secret: null, ...ANN };
    await runCommand(desk.runtime, {}, (draft) => addEndpoint(draft, { endpoint: "end_loft", ...terms }));
    await addChat(desk, receiver, "slack");
    await desk.ask();
    desk.deliver();
    await place.until(async () => (await desk.messages.count("delivered")) === 1);
    const [kept] = (await desk.messages.list({ status: "waiting" })).items;
    assert.partialDeepStrictEqual(kept, { endpoint: "end_loft", attempts: 0, last: null });
    const tested = await desk.endpoints.test("end_loft", ANN);
    assert.partialDeepStrictEqual(tested, { arrived: false, problem: "unknown_channel" });
  });
});

describe("an endpoint that a run names", () => {
  test("gets messages that Slack takes of the approvals of `run` and of its children, and of no others", async (context) => {
    const folder = mkdtempSync(join(tmpdir(), "hp-chats-"));
    const hp = holdpoint({ folder, keyFile: join(folder, "key"), agent: "teller" });
    const { endpoints, deliver } = admin(hp);
    const over = new AbortController();
    const receiver = await startReceiver(context);
    const events = ["endpoint.tested"];
    await endpoints.add({ url: receiver.url, kind: "slack", name: "prod", events, ...ANN });
    const publicUrl = "https://holdpoint.example";
    const delivering = deliver(over.signal, { allowPrivate: true, publicUrl });
    let deciding = Promise.resolve();
    context.after(async () => {
      over.abort();
      await Promise.all([delivering, deciding]);
      await hp.close();
      rmSync(folder, { recursive: true });
    });
    const inner = hp.workflow("inner", {}, (ctx, _: object) => ctx.checkpoint("Below"));
    const outer = hp.workflow("outer", {}, async (ctx, _: object) => {
      await ctx.checkpoint("Plan");
      await ctx.spawn(inner, {});
    });
    await assert.rejects(outer.start({}, { notify: "slack://other" }), { code: "unknown_id" });
    await assert.rejects(outer.start({}, { notify: "slack" }), { code: "invalid_input" });
    await outer.start({});
    const decide = async () => {
      for await (const _ of hp.approvals.follow(over.signal))
        for (const { id } of (await hp.approvals.list()).items) await hp.approvals.approve(id, ANN);
    };
    deciding = decide();
    await outer.run({}, { notify: "slack://prod" });
    const messages = (await receiver.reached(4)).map(slackIn);
    for (const message of messages) {
      checkSlack(message);
      const [button] = message.blocks.find(({ type }) => type === "actions")?.elements ?? [];
      assert.match(button?.url ?? "", /^https:\/\/holdpoint\.example\/approvals\/apr_\w+$/);
    }
    assert.deepEqual(messages.map(({ text }) => text).toSorted(), [
      "Approval needed: Below",
      "Approval needed: Plan",
      "Approved: Below",
      "Approved: Plan",
    ]);
  });
});

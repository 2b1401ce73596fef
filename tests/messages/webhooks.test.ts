import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { describe, test } from "node:test";
import { verifyWebhook } from "../../src/client/verify-webhook.ts";
import { START } from "../fixtures/runtime.ts";
import { ANN, bench } from "./bench.ts";
import { type Got, startReceiver } from "./receiver.ts";

const DAY = 86_400_000;
const ids = (got: readonly Got[]): readonly string[] => got.map(({ id }) => id);
const types = (got: readonly Got[]): readonly string[] => got.map(({ payload }) => payload.type);

/** The same by hand: another path than the one that signs. */
function signatureByHand(secret: string, { id, headers, body }: Got): string {
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  const text = Buffer.concat([
    Buffer.from(`${id}.${headers["webhook-timestamp"]}.`),
    Buffer.from(body, "utf8"),
  ]);
  return `v1,${createHmac("sha256", key).update(text).digest("base64")}`;
}

describe("a webhook", () => {
  test("is told what happens after it was added, signed by the rules of Standard Webhooks", async (context) => {
    const place = bench(context);
    const desk = place.open();
    const receiver = await startReceiver(context);
    await desk.ask({ amount: 1 });
    const { id, secret } = await desk.endpoints.add({ url: receiver.url, events: ["approval.*"], ...ANN });
    const approval = await desk.ask({ amount: 12, to: "Zoë" }, "please");
    desk.deliver();
    const [got] = await place.until(() => receiver.got.length > 0 && receiver.got);
    assert.ok(got !== undefined && secret !== null);
    assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    assert.match(got.id, /^msg_[0-9A-Z]{26}$/);
    assert.equal(got.headers["webhook-signature"], signatureByHand(secret, got));
    assert.equal(got.headers["content-type"], "application/json");
    assert.equal(got.payload.type, "approval.requested");
    assert.equal(Date.parse(got.payload.timestamp), START);
    assert.partialDeepStrictEqual(got.payload.data, {
      approval,
      tool: "payments.refund",
      arguments: { amount: 12, to: "Zoë" },
      rationale: "please",
      url: `https://holdpoint.example/approvals/${approval}`,
    });
    const { headers, body } = got;
    const now = START;
    assert.deepEqual(await verifyWebhook({ secret, headers: headers as never, body, now }), { id: got.id });
    await place.until(async () => (await desk.messages.count("delivered")) === 1);
    assert.equal(receiver.got.length, 1, "what came before the endpoint is not told");
    assert.partialDeepStrictEqual(await desk.messages.get(got.id), {
      endpoint: id,
      status: "delivered",
      attempts: 1,
      last: { status: 204, problem: null },
    });
  });

  test("hears every comment, of people and of the agent", async (context) => {
    const place = bench(context);
    const desk = place.open();
    const receiver = await startReceiver(context);
    await desk.endpoints.add({ url: receiver.url, events: ["approval.commented"], ...ANN });
    const approval = await desk.ask({ amount: 1 });
    await desk.approvals.comment(approval, { ...ANN, text: "to whom?" });
    await desk.approvals.comment(approval, { by: "agent:tester", text: "to Zoë" });
    desk.deliver();
    await place.until(() => receiver.got.length === 2);
    assert.deepEqual(
      receiver.got.map(({ payload: { data } }) => [data["approval"], data["by"], data["comment"]]).toSorted(),
      [
        [approval, "agent:tester", "to Zoë"],
        [approval, "person:ann", "to whom?"],
      ],
    );
  });

  test("hears of what happened while nobody delivered", async (context) => {
    const place = bench(context);
    const desk = place.open();
    const receiver = await startReceiver(context);
    await desk.endpoints.add({ url: receiver.url, ...ANN });
    const approval = await desk.ask();
    await desk.approvals.reject(approval, { by: "person:bob", reason: "no" });
    await desk.switch.pause({ by: "person:ann", reason: "drill" });
    desk.deliver();
    await place.until(() => receiver.got.length === 3);
    assert.deepEqual(types(receiver.got).toSorted(), [
      "approval.rejected",
      "approval.requested",
      "switch.stopped",
    ]);
    const rejected = receiver.got.find(({ payload }) => payload.type === "approval.rejected");
    assert.partialDeepStrictEqual(rejected?.payload.data, { tool: "payments.refund", decision_reason: "no" });
  });

  test("that was down gets everything once it is back, each under the id it had", async (context) => {
    const place = bench(context);
    const desk = place.open();
    const first = await startReceiver(context);
    first.answer = () => 503;
    await desk.endpoints.add({ url: first.url, events: ["approval.requested"], ...ANN });
    desk.deliver();
    for (let n = 0; n < 6; n++) await desk.ask({ n });
    await place.until(() => first.got.length >= 6);
    const before = new Set(ids(first.got));
    await first.stop();
    await place.until(async () =>
      (await desk.messages.list({ status: "waiting" })).items.every(
        ({ last }) => (last as { problem: string } | null)?.problem === "ECONNREFUSED",
      ),
    );
    const second = await startReceiver(context, first.port);
    await place.until(async () => (await desk.messages.count("delivered")) === 6);
    assert.equal(before.size, 6);
    assert.deepEqual(new Set(ids(second.got)), before);
    assert.equal(new Set(second.got.map(({ body }) => body)).size, 6, "each says what it is about");
  });

  test("that never answers well is tried ten times over three days; then its messages are dead, and go out again by hand", async (context) => {
    const place = bench(context);
    const desk = place.open();
    const receiver = await startReceiver(context);
    receiver.answer = () => 500;
    await desk.endpoints.add({ url: receiver.url, events: ["approval.requested"], ...ANN });
    desk.deliver();
    await desk.ask();
    for (let attempt = 1; attempt <= 10; attempt++) {
      await place.until(() => receiver.got.length === attempt);
      await place.until(async () => {
        const [one] = (await desk.messages.list()).items;
        return one?.["attempts"] === attempt;
      });
      await place.machine.clock.jump(DAY * 1.2);
    }
    const [dead] = (await desk.messages.list({ status: "dead" })).items;
    assert.partialDeepStrictEqual(dead, { attempts: 10, last: { status: 500, problem: "status_500" } });
    assert.equal(new Set(ids(receiver.got)).size, 1);
    assert.equal(new Set(receiver.got.map(({ body }) => body)).size, 1, "every attempt says the same");
    receiver.answer = () => 200;
    const id = String(dead?.id);
    await assert.rejects(desk.messages.retry(id, { by: "agent:a" }), /no person or service/);
    await desk.messages.retry(id, ANN);
    await place.until(async () => (await desk.messages.count("delivered")) === 1);
    assert.equal(receiver.got.at(-1)?.id, id);
    await assert.rejects(desk.messages.retry(id, ANN), /is delivered/);
  });

  test("is tried again when it is due, though whoever tried it last could still be at it by its lease", async (context) => {
    const place = bench(context);
    const desk = place.open({}, { timeoutMs: 60_000 });
    const receiver = await startReceiver(context);
    receiver.answer = () => (receiver.got.length < 3 ? 500 : 200);
    await desk.endpoints.add({ url: receiver.url, events: ["approval.requested"], ...ANN });
    desk.deliver();
    await desk.ask();
    await place.until(async () => (await desk.messages.list()).items[0]?.["attempts"] === 1);
    const { dueAt } = await desk.messages.get(receiver.got[0]?.id ?? "");
    await place.until(() => receiver.got.length === 2);
    const waited = place.machine.clock.now() - Number(dueAt);
    assert.ok(waited < 20_000, `${waited} ms after it was due`);
    await place.until(async () => (await desk.messages.count("delivered")) === 1);
  });

  test("that answers 410 is switched off, and says so", async (context) => {
    const place = bench(context);
    const desk = place.open();
    const receiver = await startReceiver(context);
    receiver.answer = () => 410;
    const { id } = await desk.endpoints.add({ url: receiver.url, events: ["approval.requested"], ...ANN });
    desk.deliver();
    await desk.ask();
    await place.until(async () => (await desk.endpoints.get(id)).status === "off");
    assert.match((await desk.endpoints.get(id)).off?.reason ?? "", /410/);
    await desk.ask();
    await place.machine.clock.advance(60_000);
    assert.equal(receiver.got.length, 1);
    assert.equal(await desk.messages.count("waiting"), 0);
  });

  test("that redirects is not followed", async (context) => {
    const place = bench(context);
    const desk = place.open();
    const receiver = await startReceiver(context);
    receiver.answer = () => 307;
    await desk.endpoints.add({ url: receiver.url, events: ["approval.requested"], ...ANN });
    desk.deliver();
    await desk.ask();
    await place.until(async () => (await desk.messages.list()).items[0]?.["attempts"] === 1);
    assert.deepEqual(
      receiver.got.map(({ path }) => path),
      ["/"],
    );
  });

  test("that is slow does not hold up another", async (context) => {
    const place = bench(context);
    const desk = place.open();
    const slow = await startReceiver(context);
    const fast = await startReceiver(context);
    const held = Promise.withResolvers<number>();
    slow.answer = () => held.promise;
    for (const { url } of [slow, fast])
      await desk.endpoints.add({ url, events: ["approval.requested"], ...ANN });
    desk.deliver();
    for (let n = 0; n < 12; n++) await desk.ask({ n });
    await place.until(() => fast.got.length === 12);
    assert.ok(slow.got.length <= 4, `${slow.got.length} at once`);
    held.resolve(200);
    await place.until(() => slow.got.length === 12);
    assert.equal(new Set(ids(slow.got)).size, 12);
  });

  test("signs with both secrets for a while after a rotation", async (context) => {
    const place = bench(context);
    const desk = place.open();
    const receiver = await startReceiver(context);
    const { id, secret: old } = await desk.endpoints.add({
      url: receiver.url,
      events: ["approval.requested"],
      ...ANN,
    });
    const { secret: fresh } = await desk.endpoints.rotate(id, { ...ANN, overlapMs: DAY });
    assert.ok(old !== null && fresh !== null && old !== fresh);
    desk.deliver();
    await desk.ask();
    const [got] = await place.until(() => receiver.got.length > 0 && receiver.got);
    assert.ok(got !== undefined);
    const both = [signatureByHand(fresh, got), signatureByHand(old, got)].join(" ");
    assert.equal(got.headers["webhook-signature"], both);
    await place.machine.clock.jump(DAY);
    await desk.ask();
    const later = await place.until(() => receiver.got[1]);
    assert.equal(later.headers["webhook-signature"], signatureByHand(fresh, later));
  });

  test("that is switched off gets what waited when it is on again; one that is removed gets nothing", async (context) => {
    const place = bench(context);
    const desk = place.open();
    const receiver = await startReceiver(context);
    receiver.answer = () => 500;
    const terms = { url: receiver.url, events: ["approval.requested"], ...ANN };
    const [one, other] = [await desk.endpoints.add(terms), await desk.endpoints.add(terms)];
    desk.deliver();
    await desk.ask();
    await place.until(() => receiver.got.length === 2);
    await desk.endpoints.switchOff(one.id, { ...ANN, reason: "quiet" });
    await desk.endpoints.remove(other.id, { ...ANN, reason: "old" });
    await place.until(async () => (await desk.messages.count("dropped")) === 1);
    const sofar = receiver.got.length;
    await place.machine.clock.jump(DAY);
    assert.equal(receiver.got.length, sofar);
    receiver.answer = () => 200;
    await desk.endpoints.switchOn(one.id, ANN);
    await place.until(async () => (await desk.messages.count("delivered")) === 1);
    await assert.rejects(desk.endpoints.switchOn(other.id, ANN), /was removed/);
  });

  test("can be tried out: a test message is sent at once", async (context) => {
    const place = bench(context);
    const desk = place.open();
    const receiver = await startReceiver(context);
    const { id } = await desk.endpoints.add({ url: receiver.url, ...ANN });
    assert.partialDeepStrictEqual(await desk.endpoints.test(id, ANN), { arrived: true, status: 204 });
    assert.deepEqual(types(receiver.got), ["endpoint.tested"]);
    receiver.answer = () => 500;
    const failed = await desk.endpoints.test(id, ANN);
    assert.partialDeepStrictEqual(failed, { arrived: false, status: 500, problem: "status_500" });
    const strict = place.open({}, { allowPrivate: false });
    assert.partialDeepStrictEqual(await strict.endpoints.test(id, ANN), {
      arrived: false,
      problem: "not_public",
    });
    assert.equal(receiver.got.length, 2);
  });
});

describe("several processes", () => {
  test("make one message of each entry, and each is with one of them at a time", async (context) => {
    const place = bench(context);
    const desks = [place.open(), place.open(), place.open()] as const;
    const receiver = await startReceiver(context);
    const open = new Map<string, number>();
    let most = 0;
    receiver.answer = async ({ id }) => {
      open.set(id, (open.get(id) ?? 0) + 1);
      most = Math.max(most, open.get(id) ?? 0);
      await new Promise((resolve) => setTimeout(resolve, 3));
      open.set(id, (open.get(id) ?? 0) - 1);
      return 200;
    };
    await desks[0].endpoints.add({ url: receiver.url, events: ["approval.requested"], ...ANN });
    for (const desk of desks) desk.deliver();
    for (let n = 0; n < 30; n++) await desks[n % 3]?.ask({ n });
    await place.until(async () => (await desks[0].messages.count("delivered")) === 30);
    assert.equal(receiver.got.length, 30);
    assert.equal(new Set(ids(receiver.got)).size, 30);
    assert.equal(most, 1);
  });

  test("one that dies in the middle of sending is followed by one that sends the same again", async (context) => {
    const place = bench(context);
    const [dying, living] = [place.open(), place.open()];
    const receiver = await startReceiver(context);
    receiver.answer = () => {
      if (receiver.got.length === 1) dying.crash();
      return 200;
    };
    await dying.endpoints.add({ url: receiver.url, events: ["approval.requested"], ...ANN });
    await dying.ask();
    dying.deliver();
    await place.until(() => receiver.got.length === 1);
    living.deliver();
    await place.until(async () => (await living.messages.count("delivered")) === 1);
    assert.deepEqual(ids(receiver.got), [receiver.got[0]?.id, receiver.got[0]?.id]);
  });
});

// Small counts of what `npm run hostile` does with large ones.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { randomFrom } from "../../server/sample.ts";
import { decideLate, raceDecisions } from "./decisions.ts";
import { replyOf } from "./exchange.ts";
import { hear } from "./listeners.ts";
import { sendMalformed } from "./malformed.ts";
import { startTarget, type Target } from "./server-process.ts";
import { askedFor, judgeSlowed, openSlowSockets } from "./slow.ts";

const SEED = Number(process.env["HOLDPOINT_HOSTILE_SEED"] ?? 4711);
const LIMIT = { timeout: 300_000 };
const MOST_GROWN_MB = 60;

async function targetFor(t: TestContext): Promise<Target> {
  const target = await startTarget();
  t.after(() => target.close());
  return target;
}

test("an answer is read when it is whole, and interim answers are passed over", () => {
  assert.equal(replyOf("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab", false), undefined);
  assert.equal(replyOf("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", false)?.body, "abc");
  assert.equal(replyOf("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 X\r\n\r\n", false)?.status, 404);
});

test(
  "5,000 malformed requests: no crash, no 5xx, every refusal a problem document, memory back",
  LIMIT,
  async (t) => {
    const target = await targetFor(t);
    await sendMalformed(target, 300, randomFrom(SEED + 1));
    const before = await target.condition();
    const { wrong, byStatus, silent } = await sendMalformed(target, 5_000, randomFrom(SEED));
    assert.deepEqual(wrong.slice(0, 5), []);
    assert.ok(target.isAlive());
    for (const status of [200, 400, 401, 403, 404, 409, 415, 431])
      assert.ok(
        (byStatus.get(status) ?? 0) > 0,
        `none was answered ${status}: ${JSON.stringify([...byStatus])}`,
      );
    assert.ok(silent < 500, `${silent} were not answered`);
    const after = await target.condition();
    t.diagnostic(`the event loop stood still for ${after.stillMs.toFixed(0)} ms at most`);
    assert.ok(after.heapMb - before.heapMb < MOST_GROWN_MB, `${before.heapMb} MB became ${after.heapMb} MB`);
  },
);

test("beside slow sockets all others are answered, and the slow ones are cut", LIMIT, async (t) => {
  const target = await targetFor(t);
  const slow = await openSlowSockets(target, 150);
  t.after(() => slow.end());
  assert.equal((await askedFor(target, 200)).length, 200);
  await slow.cut();
  assert.equal(slow.open(), 0);
  assert.equal((await askedFor(target, 40)).length, 40);
});

test("the long run finds fault with others who take more than twice as long, by its middle round", () => {
  const sockets = 1_000;
  const rounds = (...besides: readonly number[]) => besides.map((beside) => ({ alone: 10, beside, sockets }));
  assert.deepEqual(judgeSlowed(rounds(20, 20, 20, 20, 20)), []);
  assert.deepEqual(judgeSlowed(rounds(15, 90, 12, 90, 19)), []);
  assert.match(judgeSlowed(rounds(21, 90, 12, 90, 19)).join(), /2\.10 times as long, more than 2/);
  assert.match(judgeSlowed([{ alone: 10, beside: 10, sockets: 0 }]).join(), /no slow socket was left/);
});

test("100 listeners over three servers: each event once and in order to each", LIMIT, async (t) => {
  const wanted = { listeners: 100, events: 20, random: randomFrom(SEED) };
  const { wrong, events, connections } = await hear(await targetFor(t), wanted);
  assert.deepEqual(wrong.slice(0, 3), []);
  assert.ok(events >= 60);
  assert.ok(connections > 300);
});

test("two people who decide opposite things at once: one of them does, every time", LIMIT, async (t) => {
  const { wrong, approved, races } = await raceDecisions(await targetFor(t), 200);
  assert.deepEqual(wrong.slice(0, 3), []);
  assert.ok(approved > 0 && approved < races, `${approved} of ${races} were approved`);
});

test("1,000 decisions that come late, again or about something else: none counts", LIMIT, async (t) => {
  const { wrong, sent } = await decideLate(await targetFor(t), 1_000);
  assert.deepEqual(wrong.slice(0, 3), []);
  assert.ok(sent >= 1_000);
});

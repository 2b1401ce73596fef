import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { endpointStream, messageStream } from "../../kernel/stream.ts";
import type { Draft } from "../../kernel/transaction.ts";
import { fact, given, NOON, type World } from "../../testing/given.ts";
import {
  dropMessage,
  MAX_MISSED,
  MAX_SEND_ATTEMPTS,
  makeMessageId,
  makeMessages,
  reportAttempt,
  requeueMessage,
  retryDelay,
  type SendOutcome,
  testEndpoint,
} from "./message.ts";

const HOOK = endpointStream("end_1");
const ref = messageStream("msg_1");
const SOURCE = { stream: "approval/apr_1", seq: 1 };
const added = fact(HOOK, "endpoint.added", {
  name: "hook",
  target: { kind: "webhook", url: "https://hooks.example/" },
  events: ["*"],
  owner: "person:ann",
  secret: "row:sec_1",
  by: "person:ann",
});
const one = { message: "msg_1", endpoint: "end_1", type: "approval.requested", source: SOURCE, to: null };
const make = (draft: Draft) => makeMessages(draft, [one]);
const waiting = (): World => given([added]).when(make).world;
const report =
  (attempt: number, outcome: SendOutcome, message = "msg_1") =>
  (draft: Draft) =>
    reportAttempt(draft, { message, attempt, outcome, chance: 0.5 });
const FAILED: SendOutcome = { kind: "failed", status: 500, problem: "status_500" };
const GONE: SendOutcome = { kind: "gone", status: 410, problem: "status_410" };
const ARRIVED: SendOutcome = { kind: "delivered", status: 204 };

function failedUpTo(attempts: number): World {
  let world = waiting();
  for (let attempt = 1; attempt <= attempts; attempt++)
    world = given(world).when(report(attempt, FAILED)).world;
  return world;
}

describe("a message", () => {
  test("is made once for an entry and an endpoint, however often the entry is read", () => {
    const { message: _, ...body } = one;
    given([added])
      .when(make)
      .then([fact(ref, "message.made", { ...body, dueAt: NOON })])
      .answers({ kind: "made", count: 1 });
    given(waiting()).when(make).then([]).answers({ kind: "made", count: 0 });
  });

  test("has an id that is the same wherever it is made, and another for another entry, endpoint or receiver", () => {
    const entry = { hash: "a".repeat(64), at: NOON };
    const id = makeMessageId(entry, "end_1", null);
    assert.match(id, /^msg_[0-9A-HJKMNP-TV-Z]{26}$/);
    assert.equal(makeMessageId({ ...entry }, "end_1", null), id);
    const others = [
      makeMessageId({ ...entry, hash: "b".repeat(64) }, "end_1", null),
      makeMessageId(entry, "end_2", null),
      makeMessageId(entry, "end_1", "person:ann"),
    ];
    assert.equal(new Set([id, ...others]).size, 4);
  });

  test("is not made for an endpoint that is off or gone", () => {
    for (const type of ["endpoint.switched_off", "endpoint.removed"])
      given([added, fact(HOOK, type, { by: "person:ann", reason: "" })])
        .when(make)
        .then([]);
  });

  test("that arrives has ended, and says with which status", () => {
    given(waiting())
      .when(report(1, ARRIVED))
      .then([fact(ref, "message.delivered", { status: 204 })])
      .answers({ kind: "recorded" });
  });

  test("that did not arrive is due again later, without what was answered", () => {
    const after = given(waiting()).when(report(1, FAILED));
    after.then([fact(ref, "message.tried", { status: 500, problem: "status_500", dueAt: NOON + 5_000 })]);
    assert.partialDeepStrictEqual(after.state(ref), { status: "waiting", attempts: 1, dueAt: NOON + 5_000 });
  });

  test("is dead after the last attempt, which its endpoint is told", () => {
    given(failedUpTo(MAX_SEND_ATTEMPTS - 1))
      .when(report(MAX_SEND_ATTEMPTS, FAILED))
      .then([fact(ref, "message.dead", { status: 500 }), fact(HOOK, "endpoint.missed")]);
  });

  test("whose attempt was recorded by somebody else meanwhile is not counted twice", () => {
    given(failedUpTo(2)).when(report(2, FAILED)).then([]).answers({ kind: "known" });
  });

  test("that arrived by a slow process counts as arrived, though another has tried it since", () => {
    given(failedUpTo(2))
      .when(report(1, ARRIVED))
      .then([fact(ref, "message.delivered")]);
    const over = given(waiting()).when(report(1, ARRIVED)).world;
    given(over).when(report(2, ARRIVED)).then([]).answers({ kind: "known" });
  });

  test("whose receiver is gone is dead at once, and its endpoint is switched off", () => {
    given(waiting())
      .when(report(1, GONE))
      .then([
        fact(ref, "message.dead", { status: 410 }),
        fact(HOOK, "endpoint.missed"),
        fact(HOOK, "endpoint.switched_off", { by: "holdpoint", reason: "it answered that it is gone (410)" }),
      ]);
  });

  test("that is dead is put back by a person and begins anew, under the same id", () => {
    const dead = given(waiting()).when(report(1, GONE)).world;
    const again = (draft: Draft) => requeueMessage(draft, { message: "msg_1", by: "person:ann" });
    const after = given(dead).when(again);
    after.then([fact(ref, "message.requeued", { by: "person:ann" })]);
    assert.partialDeepStrictEqual(after.state(ref), { status: "waiting", attempts: 0, dueAt: NOON });
    given(after.world).when(again).then([]).answers({ kind: "not_dead", status: "waiting" });
    given([]).when(again).then([]).answers({ kind: "unknown" });
    const removed = [...dead.facts, fact(HOOK, "endpoint.removed", { by: "person:ann", reason: "" })];
    given({ ...dead, facts: removed })
      .when(again)
      .then([])
      .answers({ kind: "removed" });
  });

  test("that nobody waits for is dropped once", () => {
    const drop = (draft: Draft) => dropMessage(draft, { message: "msg_1", reason: "removed" });
    const after = given(waiting())
      .when(drop)
      .then([fact(ref, "message.dropped", { reason: "removed" })]);
    given(after.world).when(drop).then([]);
    given(after.world).when(report(1, FAILED)).then([]);
  });

  test("of a test is left alone by others while whoever asked for it sends it", () => {
    const ask = (draft: Draft) =>
      testEndpoint(draft, { endpoint: "end_1", message: "msg_1", by: "person:ann", to: null });
    const after = given([added]).when(ask);
    after.then([
      fact(HOOK, "endpoint.tested", { by: "person:ann", message: "msg_1" }),
      fact(ref, "message.made", { type: "endpoint.tested", dueAt: NOON + 60_000 }),
    ]);
    given(after.world).when(ask).then([]).answers({ kind: "made" });
    given([]).when(ask).then([]).answers({ kind: "unknown" });
  });
});

describe("an endpoint that is not reached", () => {
  function missedAgain(before: World, count: number): World {
    let world = before;
    for (let n = 0; n < count; n++) {
      const message = `msg_x${world.facts.length}`;
      world = given(world).when((draft) => makeMessages(draft, [{ ...one, message }])).world;
      const last = given(world).when((draft) =>
        reportAttempt(draft, { message, attempt: 1, outcome: { ...FAILED }, chance: 0 }),
      );
      world = last.world;
      for (let attempt = 2; attempt <= MAX_SEND_ATTEMPTS; attempt++)
        world = given(world).when(report(attempt, FAILED, message)).world;
    }
    return world;
  }

  test("is switched off after so many messages in a row that were given up", () => {
    const world = missedAgain({ facts: [added], names: new Map(), artifacts: [] }, MAX_MISSED);
    const last = world.facts.at(-1);
    assert.equal(last?.type, "endpoint.switched_off");
    assert.equal(last?.body["reason"], `${MAX_MISSED} messages in a row were given up`);
  });

  test("is counted from the beginning once a message arrives", () => {
    const world = missedAgain({ facts: [added], names: new Map(), artifacts: [] }, MAX_MISSED - 1);
    const made = given(world).when(make).world;
    given(made)
      .when(report(1, ARRIVED))
      .then([fact(ref, "message.delivered"), fact(HOOK, "endpoint.reached")]);
  });
});

describe("waiting for another attempt", () => {
  test("grows from seconds to a day, and is over after about three days", () => {
    const waits = Array.from({ length: MAX_SEND_ATTEMPTS }, (_, index) => retryDelay(index + 1, 0.5));
    assert.equal(waits[0], 5_000);
    assert.equal(waits.at(-1), null);
    const hours = waits.reduce<number>((sum, wait) => sum + (wait ?? 0), 0) / 3_600_000;
    assert.ok(hours > 60 && hours < 80, `${hours} hours`);
  });

  test("is left to chance by a tenth, either way", () => {
    assert.deepEqual([retryDelay(2, 0), retryDelay(2, 1)], [27_000, 33_000]);
  });
});

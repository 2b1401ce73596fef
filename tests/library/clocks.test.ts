/** Whatever takes time, under a clock that the test moves. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ProbeResult, Verdict } from "../../src/index.ts";
import { journalText, machine, pendingOf, START, settled } from "../fixtures/runtime.ts";

const ann = { by: "person:ann" };
const MINUTE = 60_000;

function probed(answers: readonly (ProbeResult | "hangs")[]) {
  const computer = machine();
  const hp = computer.process();
  let asked = 0;
  const tool = hp.gate({
    name: "wire",
    effect: "probed",
    policy: "approve",
    finalityMs: MINUTE,
    run: () => {
      throw new Error("socket hang up");
    },
    verify: () => {
      const answer = answers[Math.min(asked++, answers.length - 1)] ?? "hangs";
      return answer === "hangs" ? new Promise<never>(() => undefined) : answer;
    },
  });
  return { computer, hp, call: () => tool({}, { requestId: "w" }), asked: () => asked };
}

describe("a probed tool", () => {
  test("that finds its effect ends the doubt by itself, with what it found", async () => {
    const { computer, hp, call } = probed([
      { answer: "unknown" },
      { answer: "applied", result: { id: 7 }, evidence: "row 7" },
    ]);
    assert.equal((await call()).status, "in_doubt");
    await computer.clock.advance(11_000);
    assert.partialDeepStrictEqual(await call(), {
      status: "done",
      result: { id: 7 },
      receipt: { by: "probe" },
    });
    await hp.close();
  });

  test("that finds nothing is believed only after its finality", async () => {
    const { computer, hp, call } = probed([{ answer: "not_applied" }]);
    await call();
    await computer.clock.advance(MINUTE - 10_000);
    assert.equal((await call()).status, "in_doubt");
    await computer.clock.advance(20_000);
    assert.partialDeepStrictEqual(await call(), { status: "failed", code: "not_applied" });
    await hp.close();
  });

  test("that never knows is asked again and again without growing the journal", async () => {
    const { computer, hp, call, asked } = probed([{ answer: "unknown", evidence: "nothing found" }]);
    await call();
    await computer.clock.advance(10 * MINUTE);
    assert.ok(asked() > 100);
    const probes = (await hp.journal.read("w")).filter(({ type }) => type === "effect.probed");
    assert.equal(probes.length, 1);
    await hp.close();
  });

  test("whose verify hangs knows nothing, and closing does not wait for it", async () => {
    const { computer, hp, call } = probed(["hangs"]);
    await call();
    await computer.clock.advance(2 * MINUTE);
    assert.match(await journalText(hp), /verify did not answer within/);
    await hp.close();
  });

  for (const nonsense of [null, "applied", { answer: "yes" }]) {
    test(`whose verify answers ${JSON.stringify(nonsense)} knows nothing`, async () => {
      const { computer, hp, call } = probed([nonsense as never]);
      await call();
      await computer.clock.advance(2 * MINUTE);
      assert.equal((await call()).status, "in_doubt");
      await hp.close();
    });
  }
});

describe("the two clocks of an approval", () => {
  const policy: Verdict = { verdict: "escalate", decideWithinMs: MINUTE, executeWithinMs: MINUTE };

  test("a call that waits learns of expiry at the deadline, without a decision", async () => {
    const computer = machine();
    const hp = computer.process();
    const call = hp.gate({ name: "t", policy, run: () => assert.fail("it ran") })({}, { requestId: "t" });
    await pendingOf(hp);
    await computer.clock.advance(MINUTE);
    assert.partialDeepStrictEqual(await call, {
      status: "refused",
      code: "expired",
      by: "deadline",
      retry: false,
    });
    await hp.close();
  });

  test("the sweeper announces expiry also when nobody waits", async () => {
    const computer = machine();
    const hp = computer.process();
    await hp.gate({ name: "t", policy, run: () => assert.fail("it ran") })({}, { requestId: "t", waitMs: 0 });
    const id = await pendingOf(hp);
    await computer.clock.advance(MINUTE + 2_000);
    assert.partialDeepStrictEqual(await hp.approvals.get(id), { status: "expired", decided: { by: [] } });
    await hp.close();
  });

  test("an approval that was not used in time has lapsed", async () => {
    const computer = machine();
    const hp = computer.process();
    const tool = hp.gate({ name: "t", policy, run: () => assert.fail("it ran") });
    await tool({}, { requestId: "t", waitMs: 0 });
    await hp.approvals.approve(await pendingOf(hp), ann);
    await computer.clock.advance(2 * MINUTE);
    assert.partialDeepStrictEqual(await tool({}, { requestId: "t" }), {
      status: "refused",
      code: "lapsed",
      retry: false,
    });
    await hp.close();
  });
});

describe("waitMs", () => {
  test("is how long a call waits for people", async () => {
    const computer = machine();
    const hp = computer.process();
    const call = hp.gate({ name: "t", run: () => 1 })({}, { requestId: "t", waitMs: 5_000 });
    await pendingOf(hp);
    await computer.clock.advance(4_999);
    await computer.clock.advance(1);
    assert.partialDeepStrictEqual(await call, { status: "pending", code: "pending", retry: true });
    await hp.close();
  });

  test("of 0 does not make a call spin while another process is at it", async () => {
    const computer = machine();
    const [busy, other] = [computer.process(), computer.process()];
    const { promise, resolve } = Promise.withResolvers<string>();
    const first = busy.gate({ name: "t", policy: "approve", run: () => promise })({}, { requestId: "t" });
    await settled();
    let looks = 0;
    const transact = other.store.transact;
    (other.store as { transact: unknown }).transact = (...args: Parameters<typeof transact>) => {
      looks++;
      return transact(...args);
    };
    const second = other.gate({ name: "t", policy: "approve", run: () => "twice" })(
      {},
      { requestId: "t", waitMs: 0 },
    );
    await settled(50);
    assert.ok(looks < 20, `${looks} looks without any time having passed`);
    resolve("once");
    await computer.clock.advance(3_000);
    assert.deepEqual(await second, await first);
    await Promise.all([busy.close(), other.close()]);
  });
});

describe("a tool that is slow", () => {
  test("is given up at its time-out and told so by its signal", async () => {
    const computer = machine();
    const hp = computer.process();
    let told = false;
    const run = (_: object, { signal }: { signal: AbortSignal }) =>
      new Promise<never>(() =>
        signal.addEventListener("abort", () => {
          told = true;
        }),
      );
    const call = hp.gate({ name: "t", policy: "approve", timeoutMs: MINUTE, run })({}, { requestId: "t" });
    await settled();
    await computer.clock.advance(MINUTE);
    assert.partialDeepStrictEqual(await call, {
      status: "in_doubt",
      reason: `no answer within ${MINUTE} ms; a tool of class once is not sent twice`,
    });
    assert.equal(told, true);
    await hp.close();
  });

  test("is sent again as often as it may be, then in doubt", async () => {
    const computer = machine();
    const hp = computer.process();
    let runs = 0;
    const run = () => {
      runs++;
      throw new Error("HTTP 503");
    };
    const call = hp.gate({ name: "t", effect: "idempotent", policy: "approve", attempts: 4, run })(
      {},
      { requestId: "t" },
    );
    await settled();
    await computer.clock.advance(MINUTE);
    assert.equal((await call).status, "in_doubt");
    assert.equal(runs, 4);
    await hp.close();
  });

  test("and reads is not applied when it fails for good: nothing can be in doubt", async () => {
    const computer = machine();
    const hp = computer.process();
    const run = () => {
      throw new Error("HTTP 503");
    };
    const call = hp.gate({ name: "t", effect: "read", policy: "approve", run })({}, { requestId: "t" });
    await computer.clock.advance(MINUTE);
    assert.partialDeepStrictEqual(await call, { status: "failed", code: "not_applied", reason: "HTTP 503" });
    await hp.close();
  });
});

describe("a lease", () => {
  test("that lapsed lets another process take over; the frozen one's report changes nothing", async () => {
    const computer = machine({ leaseMs: 30_000 });
    const frozen = computer.process();
    const { promise, resolve } = Promise.withResolvers<string>();
    const call = frozen.gate({ name: "t", policy: "approve", run: () => promise })({}, { requestId: "t" });
    await settled();
    computer.database.holds.clear();
    const next = computer.process();
    next.gate({ name: "t", policy: "approve", run: () => "again" });
    await next.runtime.epoch();
    await computer.clock.advance(20_000);
    assert.equal((await next.actions.get("t")).phase, "in_doubt");
    resolve("late");
    await settled();
    assert.equal((await call).status, "in_doubt");
    assert.partialDeepStrictEqual(await next.actions.get("t"), {
      phase: "in_doubt",
      effect: { late: [{ status: "applied" }] },
    });
    assert.ok(START < computer.clock.now());
    await next.close();
  });
});

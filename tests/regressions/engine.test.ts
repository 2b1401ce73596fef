/** Defects that were found in the engine, each as the claim that it broke. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { defineTool } from "../../src/effects/define-tool.ts";
import { attempt } from "../../src/effects/run-tool.ts";

import type { ProbeResult, ToolContext } from "../../src/index.ts";
import { HoldpointError } from "../../src/kernel/errors.ts";
import { type Machine, machine, type Process, pendingOf, settled } from "../fixtures/runtime.ts";

const ann = { by: "person:ann", reason: "drill" };
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;

/** Lets a process's store fail as long as `broken` says with what. */
function breakable({ store }: Process): { broken: HoldpointError | null } {
  const fault: { broken: HoldpointError | null } = { broken: null };
  const transact = store.transact.bind(store);
  Object.assign(store, {
    transact: async (...args: Parameters<typeof transact>) => {
      if (fault.broken !== null) throw fault.broken;
      return transact(...args);
    },
  });
  return fault;
}

const busy = () => new HoldpointError("store_busy", "Another process holds the lock.");
const phaseOf = async (hp: Process, id: string) => (await hp.actions.get(id)).phase;

describe("a probed run that was given up at its time-out", () => {
  type Wire = { computer: Machine; hp: Process; world: Set<string>; land: () => void; fail: () => void };

  function timedOut(): Wire & { call: () => Promise<unknown> } {
    const computer = machine();
    const hp = computer.process();
    const world = new Set<string>();
    const flight = Promise.withResolvers<void>();
    const tool = hp.gate(wire(world, () => flight.promise));
    const call = async () => {
      const answer = tool({}, { requestId: "w" });
      await settled();
      await computer.clock.advance(SECOND);
      return answer;
    };
    return { computer, hp, world, call, land: flight.resolve, fail: () => flight.reject(new Error("reset")) };
  }

  const wire = (world: Set<string>, flight: () => Promise<void>) => ({
    name: "wire",
    effect: "probed" as const,
    policy: "approve" as const,
    timeoutMs: SECOND,
    run: async (_args: object, { idempotencyKey }: ToolContext) => {
      await flight();
      world.add(idempotencyKey);
      return "sent";
    },
    verify: ({ idempotencyKey }: { idempotencyKey: string }): ProbeResult => ({
      answer: world.has(idempotencyKey) ? "applied" : "not_applied",
    }),
  });

  test("is not believed to have done nothing while it is out; what it comes to is kept as testimony", async () => {
    const { computer, hp, world, call, land } = timedOut();
    assert.partialDeepStrictEqual(await call(), { status: "in_doubt" });
    await computer.clock.advance(MINUTE);
    assert.equal(await phaseOf(hp, "w"), "in_doubt");
    land();
    await settled();
    assert.equal(world.size, 1);
    assert.partialDeepStrictEqual(await hp.actions.get("w"), {
      phase: "in_doubt",
      effect: { late: [{ status: "applied", attempt: 1 }] },
    });
    await computer.clock.advance(MINUTE);
    assert.equal(await phaseOf(hp, "w"), "applied");
    await hp.close();
  });

  test("is believed to have done nothing once it came back with an error", async () => {
    const { computer, hp, call, fail } = timedOut();
    await call();
    fail();
    await computer.clock.advance(MINUTE);
    assert.equal(await phaseOf(hp, "w"), "not_applied");
    await hp.close();
  });

  test("is not given up by another process either, until its own is dead", async () => {
    const { computer, hp, world, call } = timedOut();
    await call();
    const other = computer.process();
    other.gate(wire(world, async () => undefined));
    await other.runtime.epoch();
    await computer.clock.advance(MINUTE);
    assert.equal(await phaseOf(other, "w"), "in_doubt");
    hp.crash();
    await computer.clock.advance(MINUTE);
    assert.equal(await phaseOf(other, "w"), "not_applied");
    await other.close();
  });
});

describe("an effect whose first send is late", () => {
  /** A call that is held up after its start, and whose store fails from then on. */
  async function heldUp(policy: "approve" | { verdict: "escalate"; executeWithinMs: number }) {
    const computer = machine();
    let isArmed = policy === "approve";
    const hp: Process = computer.process({
      reach: async (point) => {
        if (!isArmed || !(point === "after_propose" || point === "after_start")) return;
        fault.broken = busy();
        await computer.clock.sleep(SECOND);
      },
    });
    const other = computer.process();
    const fault = breakable(hp);
    let sent = 0;
    const call = hp.gate({ name: "pay", policy, run: () => ++sent })({}, { requestId: "p" });
    if (!isArmed) {
      const id = await pendingOf(hp);
      isArmed = true;
      await hp.approvals.approve(id, { by: "person:ann" });
    }
    await settled();
    await computer.clock.advance(SECOND);
    assert.equal(await phaseOf(other, "p"), "running");
    return { computer, hp, other, fault, call, sent: () => sent };
  }

  test("is performed when the store is there again; its caller is not told that nothing was written", async () => {
    const { computer, hp, fault, call, sent } = await heldUp("approve");
    await computer.clock.advance(MINUTE);
    fault.broken = null;
    await computer.clock.advance(10 * SECOND);
    assert.partialDeepStrictEqual(await call, { status: "done" });
    assert.equal(sent(), 1);
    await hp.close();
  });

  test("is not sent after the kill switch came on: it certainly did nothing", async () => {
    const { computer, hp, other, fault, call, sent } = await heldUp("approve");
    await other.switch.pause(ann);
    fault.broken = null;
    await computer.clock.advance(10 * SECOND);
    assert.partialDeepStrictEqual(await call, { status: "failed", code: "not_applied" });
    assert.equal(sent(), 0);
    await hp.close();
  });

  test("is not sent after execute_by: it certainly did nothing", async () => {
    const { computer, hp, fault, call, sent } = await heldUp({ verdict: "escalate", executeWithinMs: 5_000 });
    await computer.clock.advance(10 * SECOND);
    fault.broken = null;
    await computer.clock.advance(10 * SECOND);
    assert.partialDeepStrictEqual(await call, {
      status: "failed",
      code: "not_applied",
      reason: "its execution deadline has passed",
    });
    assert.equal(sent(), 0);
    await hp.close();
  });

  test("and whose instance closes meanwhile is said to have been started", async () => {
    const { computer, hp, call } = await heldUp("approve");
    const said = assert.rejects(call, { code: "store_busy", data: /was started and nothing was sent/ });
    const closed = assert.rejects(hp.close(), { code: "store_busy" });
    await settled();
    await computer.clock.advance(MINUTE);
    await Promise.all([said, closed]);
  });
});

describe("recovery", () => {
  /** A process that died over effects of several tools, each under the tool's name. */
  async function orphans(names: readonly string[], args: object = {}): Promise<Machine> {
    const computer = machine();
    const dead = computer.process();
    for (const name of names) {
      const tool = dead.gate({
        name,
        effect: "idempotent",
        policy: "approve",
        run: () => new Promise(() => {}),
      });
      void tool(name === "large" ? args : {}, { requestId: name });
      await settled();
    }
    dead.crash();
    return computer;
  }

  const gateAll = (hp: Process, runs: Readonly<Record<string, () => unknown>>) => {
    for (const [name, run] of Object.entries(runs))
      hp.gate({ name, effect: "idempotent", policy: "approve", run });
  };

  test("of a tool that never comes back holds up no other", async () => {
    const computer = await orphans(["hangs", "quick"]);
    const hp = computer.process();
    gateAll(hp, { hangs: () => new Promise(() => {}), quick: () => "done" });
    await hp.runtime.epoch();
    await computer.clock.advance(10 * SECOND);
    assert.equal(await phaseOf(hp, "quick"), "applied");
    assert.equal(await phaseOf(hp, "hangs"), "running");
  });

  test("of an effect whose stored arguments are gone puts it in doubt, and goes on", async () => {
    const computer = await orphans(["large", "small"], { text: "x".repeat(100_000) });
    for (const tenant of computer.database.data.tenants.values()) tenant.artifacts.clear();
    const hp = computer.process();
    gateAll(hp, { large: () => assert.fail("sent"), small: () => "done" });
    await hp.runtime.epoch();
    await computer.clock.advance(10 * SECOND);
    const { items } = await hp.actions.list({ phase: "in_doubt" });
    assert.deepEqual(
      items.map((item) => item.requestId),
      ["large"],
    );
    assert.equal(await phaseOf(hp, "small"), "applied");
    await hp.close();
  });

  test("of an effect that cannot be read goes on with the next, and tells about it once", async () => {
    const computer = await orphans(["bad", "good"]);
    const hp = computer.process();
    gateAll(hp, { bad: () => "done", good: () => "done" });
    const { id } = await hp.actions.get("bad");
    const transact = hp.store.transact.bind(hp.store);
    Object.assign(hp.store, {
      transact: async (...args: Parameters<typeof transact>) => {
        const { read = [], write = [] } = args[1];
        if ([...read, ...write].some((ref) => ref.id === id))
          throw new HoldpointError("unknown_event", "An action met an event from the future.");
        return transact(...args);
      },
    });
    await hp.runtime.epoch();
    await computer.clock.advance(MINUTE);
    assert.equal(await phaseOf(hp, "good"), "applied");
    assert.equal(hp.notices.filter(({ kind }) => kind === "maintenance_failed").length, 1);
    await hp.close();
  });
});

describe("a tool that throws what cannot be looked at", () => {
  test("is in doubt, and its caller gets an answer", async () => {
    const hp = machine().process();
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const run = () => {
      throw proxy;
    };
    const answer = await hp.gate({ name: "odd", policy: "approve", run })({}, { requestId: "o" });
    assert.partialDeepStrictEqual(answer, { status: "in_doubt" });
    await hp.close();
  });
});

describe("an outcome that cannot be written down as it is", () => {
  test("is in doubt: the effect does not stay running for ever", async () => {
    const hp = machine().process({
      reach: (point) => {
        if (point === "before_outcome") throw new TypeError("Cannot mix BigInt and other types");
      },
    });
    const answer = await hp.gate({ name: "t", policy: "approve", run: () => 1 })({}, { requestId: "t" });
    assert.partialDeepStrictEqual(answer, { status: "in_doubt" });
    assert.match(answer.status === "in_doubt" ? answer.reason : "", /could not be recorded: Cannot mix/);
    await hp.close();
  });
});

describe("a budget whose name is JavaScript's own", () => {
  for (const budget of ["constructor", "__proto__", "toString"]) {
    test(`${budget} is settled like any other`, async () => {
      const hp = machine().process();
      await hp.budgets.limit(budget, { currency: "EUR", micros: 1_000n });
      const cost = () => ({ budget, amount: { currency: "EUR", micros: 5n } });
      const answer = await hp.gate({ name: "pay", policy: "approve", cost, run: () => 1 })(
        {},
        { requestId: "p" },
      );
      assert.equal(answer.status, "done");
      assert.partialDeepStrictEqual(await hp.budgets.get(budget), { spent: 5n, reserved: 0n });
      await hp.close();
    });
  }
});

describe("closing", () => {
  test("lets go of the store and ends waiting calls also when the store fails, and tells of the failure", async () => {
    const computer = machine();
    const hp = computer.process({ seals: true });
    const call = hp.gate({ name: "t", policy: "escalate", run: () => 1 })({}, { requestId: "t" });
    await pendingOf(hp);
    await settled();
    breakable(hp).broken = busy();
    const waiting = assert.rejects(call, { code: "closed" });
    await assert.rejects(hp.close(), { code: "store_busy" });
    await waiting;
    await assert.rejects(hp.store.position(), { code: "closed" });
  });
});

describe("closing", () => {
  for (const drainMs of [0, 5 * SECOND])
    test(`gives effects ${drainMs} ms to end where that was said, and leaves the rest to the next process`, async () => {
      const computer = machine();
      const hp = computer.process({ drainMs });
      let ran = 0;
      const run = async () => {
        ran++;
        await new Promise<void>(() => undefined);
      };
      void hp
        .gate({ name: "slow", policy: "approve", run })({}, { requestId: "t" })
        .catch(() => undefined);
      for (let look = 0; ran === 0 && look < 50; look++) await settled();
      let isClosed = false;
      const closing = hp.close().then(() => {
        isClosed = true;
      });
      await computer.clock.advance(Math.max(drainMs - SECOND, 0));
      assert.equal(isClosed, drainMs === 0);
      await computer.clock.advance(2 * SECOND);
      await closing;
      const next = computer.process();
      await next.runtime.epoch();
      await computer.clock.advance(10 * SECOND);
      assert.equal(await phaseOf(next, "t"), "running", "its process is still there");
      hp.crash();
      await computer.clock.advance(10 * SECOND);
      assert.equal(await phaseOf(next, "t"), "in_doubt");
      await next.close();
    });
});

describe("probing", () => {
  test("reaches a doubt behind any number of others that nobody can tell about", async () => {
    const computer = machine();
    const hp = computer.process();
    const run = () => {
      throw new Error("reset");
    };
    const mail = hp.gate({ name: "mail", policy: "approve", run });
    for (let number = 0; number < 250; number++) await mail({ number }, { requestId: `m${number}` });
    const verify = (): ProbeResult => ({ answer: "applied" });
    await hp.gate({ name: "pay", effect: "probed", policy: "approve", run, verify })({}, { requestId: "p" });
    await computer.clock.advance(10 * SECOND);
    assert.equal(await phaseOf(hp, "p"), "applied");
    await hp.close();
  });

  test("of a tool whose verify hangs holds up no other, and asks about eight at a time", async () => {
    const computer = machine();
    const hp = computer.process();
    const run = () => {
      throw new Error("reset");
    };
    let out = 0;
    let most = 0;
    const hangs = hp.gate({
      name: "hangs",
      effect: "probed",
      policy: "approve",
      run,
      verify: async () => {
        most = Math.max(most, ++out);
        await computer.clock.sleep(25 * SECOND);
        out--;
        return { answer: "unknown" };
      },
    });
    for (let number = 0; number < 20; number++) await hangs({ number }, { requestId: `h${number}` });
    const verify = (): ProbeResult => ({ answer: "applied" });
    await hp.gate({ name: "pay", effect: "probed", policy: "approve", run, verify })({}, { requestId: "p" });
    await computer.clock.advance(10 * SECOND);
    assert.equal(await phaseOf(hp, "p"), "applied");
    await computer.clock.advance(2 * MINUTE);
    assert.equal(most, 8);
    await hp.close();
  });

  test("does not grow the journal when every answer comes with other evidence", async () => {
    const computer = machine();
    const hp = computer.process();
    const run = () => {
      throw new Error("reset");
    };
    const verify = (): ProbeResult => ({ answer: "unknown", evidence: { askedAt: computer.clock.now() } });
    await hp.gate({ name: "pay", effect: "probed", policy: "approve", run, verify })({}, { requestId: "p" });
    await computer.clock.advance(10 * MINUTE);
    const probes = (await hp.journal.read("p")).filter(({ type }) => type === "effect.probed");
    assert.equal(probes.length, 1);
    await hp.close();
  });
});

describe("a time-out of several days", () => {
  test("is over after those days, not after the longest sleep of a clock", async () => {
    const { clock, process } = machine();
    const sleep = clock.sleep.bind(clock);
    Object.assign(clock, { sleep: (ms: number, signal?: AbortSignal) => sleep(Math.min(ms, DAY), signal) });
    const { runtime } = process();
    const run = () => new Promise<never>(() => {});
    const tool = defineTool({ name: "batch", policy: "approve", timeoutMs: 3 * DAY, run });
    const effect = { id: "eff_1", attempt: 1, costs: [], grant: { kind: "verdict" } };
    const call = { action: "act_1", state: { effect } as never, args: {}, known: new Map() };
    let isOver = false;
    const ended = attempt(runtime, tool, call).finally(() => {
      isOver = true;
    });
    await settled();
    await clock.advance(3 * DAY - MINUTE);
    assert.equal(isOver, false);
    await clock.advance(MINUTE);
    assert.partialDeepStrictEqual(await ended, { status: "failed" });
  });
});

describe("a listener that fails later", () => {
  test("is printed, and is no unhandled rejection", async (t) => {
    const printed = t.mock.method(process.stderr, "write", () => true);
    const rejections: unknown[] = [];
    const unhandled = (error: unknown) => void rejections.push(error);
    process.on("unhandledRejection", unhandled);
    t.after(() => process.off("unhandledRejection", unhandled));
    const hp = machine().process({ notify: () => Promise.reject(new Error("slack is down")) as never });
    await hp.gate({ name: "t", policy: "escalate", run: () => 1 })({}, { requestId: "t", waitMs: 0 });
    await settled();
    assert.deepEqual(rejections, []);
    const lines = printed.mock.calls.map(({ arguments: [line] }) => String(line));
    assert.equal(lines.filter((line) => line.includes("slack is down")).length, 1);
    await hp.close();
  });
});

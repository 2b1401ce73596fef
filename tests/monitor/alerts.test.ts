import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { MonitorRule } from "../../src/alerts/rules/monitor-rule.ts";
import { isHoldpointError } from "../../src/kernel/errors.ts";
import { type Kit, kit } from "../workflows/kit.ts";
import { ANN, type Desk, type Office, office } from "../workflows/office.ts";
import { alerts, allAlerts, countOf, noticesOf, standing, told, watch } from "./watching.ts";

const BUSY: MonitorRule = {
  kind: "rate",
  name: "busy",
  of: "calls",
  per: "tool",
  windowMs: 60_000,
  above: 2,
};

const kits = new WeakMap<Desk, Kit>();

const calls = async (place: Office, desk: Desk, count: number) => {
  const tools = kits.get(desk) ?? kit(desk, []);
  kits.set(desk, tools);
  for (let n = 0; n < count; n++) await place.finish(tools.mail({ n }));
};

describe("an alert", () => {
  test("is raised once, told, listed, acknowledged, and cleared when it is over", async () => {
    const place = office();
    const desk = place.open();
    const monitor = await watch(desk, [{ ...BUSY, severity: "critical" }]);
    await calls(place, desk, 5);
    await place.finish(monitor.caughtUp());
    assert.deepEqual(told(await allAlerts(desk)), ["+ busy tool:mail"]);
    const [alert] = (await alerts(desk).list()).items;
    const id = alert?.id ?? "";
    assert.partialDeepStrictEqual(alert, {
      monitor: "watch",
      rule: "busy",
      severity: "critical",
      says: "more than 2 calls within 1 min",
    });
    assert.deepEqual(
      noticesOf(desk, "alert").map(({ alert: one }) => one),
      [id],
    );
    const seen = await alerts(desk).acknowledge(id, { ...ANN, note: "it is the end of the month" });
    assert.partialDeepStrictEqual(seen, { status: "standing", acknowledged: { by: "person:ann" } });
    const again = await alerts(desk).acknowledge(id, { by: "person:bob" });
    assert.equal(again.acknowledged?.by, "person:ann", "the first word stands");
    await place.pass(61_000);
    await place.finish(monitor.caughtUp());
    assert.deepEqual(told(await allAlerts(desk)), ["- busy tool:mail"]);
    assert.deepEqual((await alerts(desk).list()).items, []);
    assert.equal(noticesOf(desk, "alert_cleared").length, 1);
    await calls(place, desk, 3);
    await place.finish(monitor.caughtUp());
    assert.deepEqual(told(await allAlerts(desk)), ["- busy tool:mail", "+ busy tool:mail"]);
    await place.finish(desk.close());
  });

  test("that is unknown, or acknowledged by no person, is an error that says so", async () => {
    const place = office();
    const desk = place.open();
    await assert.rejects(alerts(desk).get("alr_x"), (error) => isHoldpointError(error, "unknown_id"));
    const word = alerts(desk).acknowledge("alr_x", { by: "agent:a" });
    await assert.rejects(word, (error) => isHoldpointError(error, "invalid_input"));
    await assert.rejects(alerts(desk).list({ status: "open" as never }), /standing, cleared or any/);
    await desk.close();
  });

  test("is listed page by page", async () => {
    const place = office();
    const desk = place.open();
    const rule: MonitorRule = {
      kind: "when",
      name: "each",
      per: "tool",
      condition: ({ type }) => type === "action.proposed" || undefined,
    };
    const monitor = await watch(desk, [rule]);
    const { mail, book, tidy } = kit(desk, []);
    for (const tool of [mail, book, tidy]) await place.finish(tool({ n: 1 }));
    await place.finish(monitor.caughtUp());
    const first = await alerts(desk).list({ limit: 2 });
    assert.deepEqual(
      first.items.map(({ subject }) => subject),
      ["tool:tidy", "tool:book"],
    );
    const { items, next } = await alerts(desk).list({ limit: 2, after: first.next ?? "" });
    assert.deepEqual([items.map(({ subject }) => subject), next], [["tool:mail"], null]);
    await place.finish(desk.close());
  });
});

describe("a monitor", () => {
  test("goes on where it was left: what happened while nobody watched is seen, what was said is not said again", async () => {
    const place = office();
    const desk = place.open();
    const first = await watch(desk, [BUSY]);
    await calls(place, desk, 2);
    await place.finish(first.close());
    await calls(place, desk, 1);
    const second = await watch(desk, [BUSY]);
    await place.finish(second.caughtUp());
    assert.deepEqual(told(await allAlerts(desk)), ["+ busy tool:mail"]);
    desk.crash();
    const next = place.open();
    const third = await watch(next, [BUSY]);
    await place.finish(third.caughtUp());
    assert.equal(await countOf(next, "alert.raised"), 1);
    await place.pass(61_000);
    await place.finish(third.caughtUp());
    assert.deepEqual(told(await allAlerts(next)), ["- busy tool:mail"]);
    await place.finish(next.close());
  });

  test("that dies without keeping its place says nothing twice, not even what was over", async () => {
    const place = office();
    const desk = place.open();
    const monitor = await watch(desk, [BUSY]);
    await calls(place, desk, 3);
    await place.finish(monitor.caughtUp());
    await place.pass(61_000);
    await calls(place, desk, 1);
    await place.finish(monitor.caughtUp());
    assert.deepEqual(told(await allAlerts(desk)), ["- busy tool:mail"]);
    desk.crash();
    const next = place.open();
    const again = await watch(next, [BUSY]);
    await place.finish(again.caughtUp());
    assert.equal(await countOf(next, "alert.raised"), 1);
    assert.equal(await countOf(next, "alert.cleared"), 1);
    await place.finish(next.close());
  });

  test("runs in several processes as one", async () => {
    const place = office();
    const desks = [place.open(), place.open(), place.open()];
    const [one] = desks;
    const monitors = await Promise.all(desks.map((desk) => watch(desk, [BUSY])));
    await calls(place, one as Desk, 5);
    for (const monitor of monitors) await place.finish(monitor.caughtUp());
    assert.equal(await countOf(one as Desk, "alert.raised"), 1);
    await place.pass(61_000);
    for (const monitor of monitors) await place.finish(monitor.caughtUp());
    assert.equal(await countOf(one as Desk, "alert.cleared"), 1);
    assert.equal(desks.flatMap((desk) => noticesOf(desk, "alert")).length, 1);
    for (const desk of desks) await place.finish(desk.close());
  });

  test("looks only at what it is asked to: agents, workflows, tools", async () => {
    const place = office();
    const desk = place.open();
    const any: MonitorRule = {
      kind: "when",
      name: "any",
      per: "tool",
      condition: ({ type }) => type === "action.proposed" || undefined,
    };
    const tools = await watch(desk, [any], { name: "tools", tools: ["bo*", "tidy"] });
    const agents = await watch(desk, [any], { name: "agents", agents: ["other"] });
    const flows = await watch(desk, [any], { name: "flows", workflows: ["refunds"] });
    const { mail, book, tidy } = kit(desk, []);
    for (const tool of [mail, book, tidy]) await place.finish(tool({ n: 1 }));
    for (const monitor of [tools, agents, flows]) await place.finish(monitor.caughtUp());
    assert.deepEqual(told(await allAlerts(desk)), ["+ any tool:book", "+ any tool:tidy"]);
    await place.finish(desk.close());
  });

  test("does not see its own words, and rests when there is nothing to do", async () => {
    const place = office();
    const desk = place.open();
    let entries = 0;
    const rule: MonitorRule = {
      kind: "when",
      name: "all",
      per: "all",
      condition: () => ({ holds: ++entries > 0 }),
    };
    const monitor = await watch(desk, [rule]);
    await calls(place, desk, 1);
    await place.finish(monitor.caughtUp());
    const before = await desk.store.position();
    for (let round = 0; round < 5; round++) await place.finish(monitor.caughtUp());
    await place.pass(120_000);
    assert.equal(await desk.store.position(), before, "a monitor alone writes nothing");
    await place.finish(desk.close());
  });

  test("tells of a store that fails and goes on afterwards", async () => {
    const place = office();
    const desk = place.open();
    const monitor = await watch(desk, [BUSY]);
    const { log } = desk.store;
    const store = desk.store as { log: unknown };
    store.log = () => Promise.reject(new Error("the disk is gone"));
    await calls(place, desk, 3);
    await place.pass(3_000);
    assert.equal(noticesOf(desk, "maintenance_failed").length, 1, "once");
    store.log = log;
    await standing(place, desk);
    await place.finish(monitor.close());
    await place.finish(desk.close());
  });

  test("hands conditions what they cannot change", async () => {
    const place = office();
    const desk = place.open();
    const spoil: MonitorRule = {
      kind: "when",
      name: "spoil",
      per: "all",
      condition: ({ body }) => {
        (body as { tool?: string }).tool = "other";
        return undefined;
      },
    };
    const monitor = await watch(desk, [spoil]);
    await calls(place, desk, 1);
    await place.finish(monitor.caughtUp());
    assert.deepEqual(told(await allAlerts(desk)), ["+ spoil rule"]);
    await place.finish(desk.close());
  });

  test("keeps its place after a thousand entries, and not after each", async () => {
    const place = office();
    const desk = place.open();
    const monitor = await watch(desk, [BUSY]);
    const { look } = kit(desk, []);
    for (let n = 0; n < 400; n++) await look({ n });
    await place.finish(monitor.caughtUp());
    const moved = await countOf(desk, "monitor.moved");
    assert.ok(moved >= 2 && moved <= 3, `kept ${moved} times`);
    await place.finish(desk.close());
  });
});

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readMonitorDocument } from "./check-rules.ts";

const read = (...rules: readonly unknown[]) => readMonitorDocument({ monitor: "watch", rules });
const faults = (document: unknown): readonly string[] => {
  const made = readMonitorDocument(document);
  return made.ok ? [] : made.faults.map(({ path, message }) => `${path.join(".")}: ${message}`);
};
const RATE = { kind: "rate", name: "r", of: "calls", window: "1m", above: 1 };
const one = (rule: object) => faults({ monitor: "watch", rules: [rule] });

describe("a monitor's file", () => {
  test("says what a program would: fields in lower case, time and money in words", () => {
    const made = read(
      { kind: "rate", name: "a", of: "calls", window: "1h30m", baseline: { warm_up: 3, deviations: 2 } },
      { kind: "silence", name: "b", for: "10m", severity: "critical" },
      { kind: "progress", name: "c", within: "1d", fewer_than: 2, more_than: 9 },
      { kind: "resources", name: "d", cost: "12.50 USD", elapsed: "90s", api_calls: 7, raise: "checkpoint" },
      { kind: "errors", name: "e", above: 0.5, last: 20, of: ["failed", "in_doubt"] },
    );
    assert.deepEqual(made.ok && made.monitor, {
      name: "watch",
      rules: [
        { kind: "rate", name: "a", of: "calls", windowMs: 5_400_000, baseline: { warmUp: 3, deviations: 2 } },
        { kind: "silence", name: "b", forMs: 600_000, severity: "critical" },
        { kind: "progress", name: "c", withinMs: 86_400_000, fewerThan: 2, moreThan: 9 },
        {
          kind: "resources",
          name: "d",
          cost: { currency: "USD", micros: 12_500_000n },
          elapsedMs: 90_000,
          apiCalls: 7,
          raise: "checkpoint",
        },
        { kind: "errors", name: "e", above: 0.5, last: 20, of: ["failed", "in_doubt"] },
      ],
    });
  });

  test("may look only at some agents, workflows and tools", () => {
    const document = {
      monitor: "w",
      description: "x",
      agents: ["a*"],
      workflows: ["f"],
      tools: ["t"],
      rules: [RATE],
    };
    const made = readMonitorDocument(document);
    assert.partialDeepStrictEqual(made, {
      monitor: { name: "w", agents: ["a*"], workflows: ["f"], tools: ["t"] },
    });
    for (const tools of ["t", [], [""], [5], null])
      assert.deepEqual(faults({ ...document, tools }), ["tools: tools is a list of names"]);
  });

  test("with anything misspelt is refused at its place, with what was meant", () => {
    assert.match(
      one({ ...RATE, windw: "1m" }).join(),
      /^rules\.0\.windw: windw is not a key here \(did you mean window\?\)/,
    );
    assert.match(
      one({ ...RATE, windowMs: 5 }).join(),
      /^rules\.0\.windowMs: windowMs is not a key here \(did you mean window/,
    );
    assert.match(
      one({ ...RATE, kind: "rte" }).join(),
      /^rules\.0\.kind: kind is one of rate, .*did you mean rate\?/,
    );
    assert.match(one({ ...RATE, of: "call" }).join(), /^rules\.0\.of: "of" is one of calls, errors/);
    const { above: _above, ...bare } = RATE;
    const baseline = one({ ...bare, baseline: { warmUp: 3 } }).join();
    assert.match(baseline, /^rules\.0\.baseline\.warmUp: .*did you mean warm_up\?/);
    assert.match(
      faults({ monitr: "w", rules: [RATE] }).join("\n"),
      /monitr is not a key here \(did you mean monitor\?\)/,
    );
  });

  test("with a rule that lacks something says what, in the file's own words", () => {
    assert.deepEqual(one({ kind: "silence", name: "s" }), ['rules.0: needs "for"']);
    assert.match(
      one({ kind: "progress", name: "p", within: "5m" }).join(),
      /at least one of fewer_than, more_than/,
    );
    assert.match(one({ ...RATE, name: undefined }).join(), /has a name/);
    assert.match(one({ ...RATE, above: undefined }).join(), /one of above, baseline/);
  });

  test("takes no number for a length of time, none that never ends, and no bare sum", () => {
    for (const window of [60_000, "60", "-1m", "0s", "400d", "", null])
      assert.match(
        one({ ...RATE, window }).join(),
        /^rules\.0\.window: window is not a length of time/,
        String(window),
      );
    for (const cost of [5, "5", "5 usd", "-5 USD", { currency: "USD", micros: 5 }])
      assert.match(
        one({ kind: "resources", name: "r", cost }).join(),
        /^rules\.0\.cost: cost is not an amount of money/,
      );
  });

  test("that is no monitor at all, or repeats a name, is refused", () => {
    assert.match(
      one({ kind: "when", name: "w", condition: "true" }).join(),
      /write this monitor as a module/,
    );
    assert.deepEqual(faults({ monitor: "w", rules: [RATE, RATE] }), [
      "rules.1.name: another rule is named r",
    ]);
    assert.match(
      faults({ monitor: "a/b", rules: [RATE] }).join(),
      /^monitor: The name of a monitor is a text/,
    );
    assert.match(faults({ rules: [RATE] }).join(), /monitor is missing/);
    for (const rules of [undefined, [], {}, "x"])
      assert.match(faults({ monitor: "w", rules }).join(), /rules is a list/);
    for (const document of [null, [], "x", 5])
      assert.match(faults(document).join(), /a monitor is an object/);
    assert.match(one([] as never).join(), /a rule is an object/);
  });
});

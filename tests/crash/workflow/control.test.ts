/** What the run must find, planted: in a receiver, and in what it is shown of a workflow's past. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Received } from "../effects.ts";
import { checkHistory } from "./check.ts";
import { faultsOfWorkflows } from "./summary.ts";
import { superviseWorkflows } from "./supervise.ts";
import type { Happened } from "./watch.ts";

test("a tool that is called keyed and whose receiver does not honour the key is found", async () => {
  const only = ["after_send · hire"];
  const options = { store: "sqlite", workflows: 6, lives: 2, seed: "3", only, plant: "unkeyed" } as const;
  const faults = faultsOfWorkflows(await superviseWorkflows(options, () => undefined));
  assert.ok(
    faults.some((fault) => /crew\.hire\) was applied 2 times and may be 1 times/.test(fault)),
    faults.join("\n"),
  );
  assert.ok(
    faults.some((fault) => fault.includes("the receiver applied hall.reserve, crew.hire, crew.hire, ")),
    faults.join("\n"),
  );
});

const call = (generation: number, tool: string): Happened[] => {
  const op = `wf_1/${generation}//${tool}#1`;
  const action = `act_${generation}_${tool}`;
  return [
    { type: "call.made", body: { op, action, tool } },
    { type: "call.settled", body: { op, action, answer: null } },
  ];
};
const undone = (tool: string): Happened => ({
  type: "compensation.settled",
  body: { action: `act_undo_${tool}`, undoes: `act_1_${tool}`, status: "undone" },
});
const line = (tool: string): Received => ({
  ...{ at: 0, mode: "honours", args: "{}", outcome: "applied" },
  ...{ tool, key: tool },
});

const RANGE = ["site.deploy", "release.record", "card.pay"];
const BACK = RANGE.toReversed();
const ends = (tools: readonly string[]): Happened => ({
  type: "rollback.ended",
  body: { undone: tools.map((tool) => `act_1_${tool}`) },
});
const HISTORY: readonly Happened[] = [
  ...["hall.reserve", "crew.hire", "files.put", ...RANGE].flatMap((tool) => call(1, tool)),
  ...BACK.map(undone),
  ends(BACK),
  ...[...RANGE, "site.publish"].flatMap((tool) => call(2, tool)),
];
const BEFORE = ["hall.reserve", "crew.hire", "files.put", ...RANGE];
const AFTER = [...RANGE, "site.publish"];
const UNDOS = BACK.map((tool) => `${tool}.undo`);
const LINES = [...BEFORE, ...UNDOS, ...AFTER].map(line);

const faultsIn = (history: readonly Happened[], lines: readonly Received[]): readonly string[] =>
  checkHistory({ history, lines, isApplied: () => true });

test("a workflow's past without a fault has none", () => {
  assert.deepEqual(faultsIn(HISTORY, LINES), []);
  const other = ["hall.reserve", "crew.hire", "files.put", "release.record", "site.deploy", "card.pay"];
  assert.deepEqual(faultsIn(HISTORY, [...other, ...UNDOS, ...AFTER].map(line)), []);
});

test("compensations in the wrong order, twice, or left out are found at the receiver", () => {
  for (const undos of [UNDOS.toReversed(), [...UNDOS, ...UNDOS.slice(0, 1)], UNDOS.slice(1)])
    assert.equal(faultsIn(HISTORY, [...BEFORE, ...undos, ...AFTER].map(line)).length, 1);
});

test("compensations in the wrong order, twice, or left out are found in the journal", () => {
  const at = HISTORY.findIndex(({ type }) => type === "compensation.settled");
  for (const tools of [RANGE, [...BACK, "card.pay"], BACK.slice(1)]) {
    const history = [
      ...HISTORY.slice(0, at),
      ...tools.map(undone),
      ends(tools),
      ...HISTORY.slice(at + BACK.length + 1),
    ];
    assert.equal(faultsIn(history, LINES).length, 2);
  }
});

test("a second attempt that was answered with an effect that had been undone is found", () => {
  const stale = HISTORY.map((one) =>
    one.body["action"] === "act_2_card.pay"
      ? { ...one, body: { ...one.body, action: "act_1_card.pay" } }
      : one,
  );
  assert.equal(faultsIn(stale, LINES).length, 1);
});

// The comparison itself, and which event types no pinned scenario writes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readRoot } from "../docs/markdown.ts";
import { normalise } from "./normalise.ts";
import { describeDifference, readPin } from "./pin.ts";

const lines = (...texts: readonly string[]): string => `${texts.join("\n")}\n`;

test("two equal texts have no difference", () => {
  assert.equal(describeDifference("a\nb\n", "a\nb\n"), "");
});

test("a difference shows the changed lines with their number and the heading above them", () => {
  const before = lines("== GET /a", "200", "== GET /b", "404 not_found", "body");
  const after = lines("== GET /a", "200", "== GET /b", "410 gone", "body", "more");
  const shown = [
    "@@ line 4 @@  == GET /b",
    "- 404 not_found",
    "+ 410 gone",
    "@@ line 6 @@  == GET /b",
    "+ more",
  ];
  assert.equal(describeDifference(before, after), shown.join("\n"));
});

test("a long line is cut around the first character that differs, and many changes are counted", () => {
  const [before, after] = ["a", "b"].map((end) => `${"x".repeat(500)}${end}${"y".repeat(500)}`);
  const shown = describeDifference(before ?? "", after ?? "").split("\n");
  assert.ok(shown.every((line) => line.length < 260));
  assert.match(shown[1] ?? "", /^- …x+ay+…$/);
  const numbers = Array.from({ length: 100 }, (_, at) => String(at));
  assert.match(describeDifference(numbers.join("\n"), ""), /… \d+ more lines$/);
});

test("ids are numbered within a text, named ids keep their names, times and digests become placeholders", () => {
  const [first, second, named] = ["A", "B", "C"].map((letter) => `act_${letter.repeat(26)}`);
  const text = `${first} ${second} ${first} ${named} 2026-01-14T11:40:20.123Z ${"a1".repeat(32)} 1768390820123`;
  assert.equal(
    normalise(text, { [named ?? ""]: "<paid>" }),
    "<act_1> <act_2> <act_1> <paid> <time> <sha256> 1800000000000",
  );
});

/** What no pinned scenario writes: a type leaves this list when one does, and a new type belongs into a scenario. */
const WITHOUT_VECTOR = [
  ...["alert.cleared", "answer.dropped", "approval.comment_refused", "checkpoint.raised"],
  ...["endpoint.missed", "endpoint.reached", "intent.awaited", "intent.failed", "intent.timed_out"],
  ...["message.dead", "message.delivered", "message.requeued", "operation.refused"],
  ...["policy.left", "policy.taken", "send.ended", "send.made", "store.restored"],
  ...["wait.began", "wait.ended", "workflow.defined", "workflow.forked"],
];

test("every event type has a vector, but for those that are named here", () => {
  const rows = readRoot("docs/reference/events.md").matchAll(/^\| (`[^|]*) \|/gm);
  const all = [...rows].flatMap(([, cell = ""]) => [...cell.matchAll(/`([a-z]+\.[a-z_]+)`/g)]);
  const types = all.map(([, type = ""]) => type);
  assert.ok(types.length > 130, "the page lists them");
  const vectors = ["simulator", "server", "cli"].map((name) => readPin(`journal/${name}.txt`)).join("");
  const missing = types.filter((type) => !vectors.includes(`== ${type}\n`));
  assert.deepEqual(missing.toSorted(), WITHOUT_VECTOR.toSorted());
});

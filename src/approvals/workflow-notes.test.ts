import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Runtime } from "../runtime/runtime.ts";
import { notesOf } from "./card-workflow.ts";

type Line = readonly [type: string, body: object];
type Read = Runtime["store"]["read"];

const made = (action: string): Line => ["call.made", { action, undo: "none" }];
const settled = (action: string, executed: boolean): Line => [
  "call.settled",
  { action, answer: { executed } },
];

/** Workflows as lists of entries; counts how many were handed out. */
function journal(of: (workflow: string) => readonly Line[]) {
  const seen = { entries: 0 };
  const read: Read = async (_tenant, { id }, { fromSeq = 1, limit = 1_000 } = {}) => {
    const page = of(id).slice(fromSeq - 1, fromSeq - 1 + limit);
    seen.entries += page.length;
    return page.map(([type, body], index) => ({
      ...{ type, tv: 1, seq: fromSeq + index, at: 1 },
      body: JSON.stringify(body),
    })) as unknown as Awaited<ReturnType<Read>>;
  };
  return { seen, place: { store: { read } as unknown as Runtime["store"], tenant: "t" } };
}

describe("what cards know of a workflow's entries", () => {
  test("is read once, however often somebody looks, and then only what is new", async () => {
    const lines: Line[] = Array.from({ length: 2_500 }, (_, index) => made(`a${index}`));
    const { place, seen } = journal(() => lines);
    const both = await Promise.all([notesOf(place, "w"), notesOf(place, "w")]);
    assert.deepEqual([seen.entries, both[0].calls.size], [2_500, 2_500]);
    for (let time = 0; time < 20; time++) await notesOf(place, "w");
    assert.equal(seen.entries, 2_500);
    lines.push(settled("a7", false), made("late"));
    const { calls } = await notesOf(place, "w");
    assert.equal(seen.entries, 2_502);
    assert.deepEqual([calls.get("a7")?.isVoid, calls.get("a8")?.isVoid], [true, false]);
    assert.equal(calls.get("late")?.seq, 2_502);
  });

  test("says with which entry something was asked, at which its checkpoint stands, and what was undone", async () => {
    const { place } = journal(() => [
      made("a"),
      ["checkpoint.reached", { approval: "apr_1" }],
      ["checkpoint.decided", { approval: "apr_1" }],
      ["question.asked", { approval: "apr_2" }],
      ["compensation.settled", { action: "u", undoes: "a", status: "undone" }],
      ["compensation.settled", { action: "v", undoes: "b", status: "not_undone" }],
    ]);
    const { asked, checkpoints, undone } = await notesOf(place, "w");
    assert.deepEqual(
      [...asked],
      [
        ["apr_1", 2],
        ["apr_2", 4],
      ],
    );
    assert.deepEqual([[...checkpoints], [...undone]], [[["apr_1", 2]], ["a"]]);
  });

  test("is not kept of ever more workflows: what nobody looked at for long is read again", async () => {
    const { place, seen } = journal(() => [made("a")]);
    for (let index = 0; index < 150; index++) await notesOf(place, `w${index}`);
    await notesOf(place, "w149");
    assert.equal(seen.entries, 150);
    await notesOf(place, "w0");
    assert.equal(seen.entries, 151);
  });

  test("nor of ever more entries, though what is looked at now stays however long it is", async () => {
    const long: readonly Line[] = Array.from({ length: 1_500 }, (_, index) => made(`a${index}`));
    const most = { workflows: 100, notes: 2_000 };
    const { place, seen } = journal((workflow) => (workflow === "short" ? [made("a")] : long));
    for (const workflow of ["one", "short", "two", "two", "short"]) await notesOf(place, workflow, most);
    assert.equal(seen.entries, 3_001);
    await notesOf(place, "one", most);
    assert.equal(seen.entries, 4_501);
  });
});

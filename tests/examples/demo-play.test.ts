import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { type Choice, play, type Question } from "../../examples/demos/play.ts";
import { pizza } from "../../examples/demos/scenarios.ts";

/** Plays the pizza demo with a reviewer who decides these, one after the other. */
async function played(context: TestContext, ...choices: Choice[]) {
  const folder = mkdtempSync(path.join(tmpdir(), "holdpoint-play-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const questions: Question[] = [];
  const said: string[] = [];
  const reviewer = {
    by: "person:ann",
    decide: async (question: Question) => {
      questions.push(question);
      return choices.shift() ?? assert.fail("nobody knows what to decide");
    },
  };
  const end = await play({
    store: { folder, keyFile: path.join(folder, "key.json") },
    scenario: pizza,
    reviewer,
    say: (text) => said.push(text),
    signal: new AbortController().signal,
  });
  return { ...end, questions, said };
}

test("a reviewer who approves the mistake, without a word, gets what was planned", async (context) => {
  const { result, questions, report } = await played(context, { kind: "approve", note: "" });
  assert.partialDeepStrictEqual(result, { status: "completed", result: { costUsd: 1_200 } });
  assert.ok(report.ok);
  assert.partialDeepStrictEqual(questions, [
    { outputs: { pizzas: 100 }, takenBack: ["room.book"], irreversible: [], confidence: 0.9, attempt: 1 },
  ]);
});

test("a reviewer may send the agent back more than once, and is told which attempt it is", async (context) => {
  const again: Choice = { kind: "reject", reason: "again", final: false };
  const { result, questions, said } = await played(context, again, again, {
    kind: "modify",
    edit: { pizzas: 1 },
    note: "",
  });
  assert.partialDeepStrictEqual(result, { status: "completed", result: { costUsd: 12 } });
  assert.deepEqual(
    questions.map(({ attempt, takenBack }) => [attempt, ...takenBack]),
    [
      [1, "room.book"],
      [2, "room.book"],
      [3, "room.book"],
    ],
  );
  assert.equal(said.filter((text) => text.includes("cancelled")).length, 2);
});

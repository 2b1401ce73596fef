import assert from "node:assert/strict";
import { test } from "node:test";
import type { JournalLine } from "../../api/actions.ts";
import { argsStory, changedFields } from "./args-story.ts";

const line = (stream: string, type: string, body: unknown): JournalLine => ({
  ...{ position: 1, seq: 1, at: "2026-01-01T00:00:00.000Z", hash: "00" },
  ...{ stream, type, body },
});

test("the versions of the arguments are told in their order, with who made each", () => {
  const story = argsStory("act_1", [
    line("action/act_1", "action.proposed", { args: { amount: 900 }, argsDigest: "a", agent: "agent:desk" }),
    line("action/act_1", "action.revised", {
      args: { amount: 500 },
      argsDigest: "b",
      by: "policy",
      rule: "cap",
    }),
    line("action/act_1", "action.reviewed", { verdict: "escalate" }),
    line("action/act_2", "action.proposed", { args: {} }),
  ]);
  assert.deepEqual(
    story.map(({ kind, by, digest, rule }) => [kind, by, digest, rule]),
    [
      ["proposed", "agent:desk", "a", ""],
      ["revised", "policy", "b", "cap"],
    ],
  );
});

test("only the fields that differ are named, also those that are new or gone", () => {
  assert.deepEqual(changedFields({ a: 1, b: { c: 2 }, gone: 1 }, { a: 1, b: { c: 3 }, fresh: 1 }), [
    "b",
    "gone",
    "fresh",
  ]);
  assert.deepEqual(changedFields("text", "other"), []);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import type { JournalLine } from "../../api/actions.ts";
import { argsNote, argsStory, changedFields } from "./args-story.ts";

const line = (stream: string, type: string, body: JournalLine["body"]): JournalLine => ({
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

test("whether they were changed is the action's own word: also where nobody can read what they were before", () => {
  assert.equal(argsNote("original", 0, "closed"), "nobody has changed them");
  assert.match(argsNote("human_revised", 0, "closed"), /^changed by people; .* you may not read$/);
  assert.match(argsNote("supervisor_revised", 0, "failed"), /^changed by policy; .* could not be read$/);
  assert.equal(argsNote("human_revised", 0, "coming"), "changed by people");
  assert.match(argsNote("human_revised", 2, "there"), /the last one counts/);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import type { JournalLine } from "../../api/actions.ts";
import { attemptsOf } from "./effect-attempts.ts";

const line = (
  seq: number,
  type: string,
  body: JournalLine["body"],
  stream = "action/act_1",
): JournalLine => ({
  ...{ position: seq, seq, at: "2026-01-01T00:00:00.000Z", hash: "00" },
  ...{ stream, type, body },
});

test("an effect's life is told by what was tried and what is known, and by whom", () => {
  const attempts = attemptsOf("act_1", [
    line(1, "action.proposed", {}),
    line(2, "effect.started", { effect: "eff_1" }),
    line(3, "effect.in_doubt", { reason: "socket hang up" }),
    line(4, "effect.probed", { answer: "not_applied" }),
    line(5, "effect.resolved", { status: "applied", by: "person:ann", reason: "seen", evidence: "no. 7" }),
    line(1, "effect.started", {}, "action/act_2"),
  ]);
  assert.deepEqual(
    attempts.map(({ words, detail, by }) => [words, detail, by]),
    [
      ["Sent", "", ""],
      ["No answer that proves anything: in doubt", "socket hang up", ""],
      ["The receiver was asked: not applied", "", ""],
      ["Settled as applied", "seen · no. 7", "person:ann"],
    ],
  );
});

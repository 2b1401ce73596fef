import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { EFFECT_CLASSES } from "../../policy/rules/tool-rules.ts";
import { effectWords, headingOf, isIrreversible, isTakenBack, KNOWN_UNDOS } from "./card.ts";

describe("the words of a card", () => {
  test("say of what only reads that there is nothing to take back, whatever its tool declares", () => {
    for (const undo of KNOWN_UNDOS) assert.equal(effectWords("read", undo), "it only reads: nothing to undo");
  });

  test("say of every other effect whether it is repeated, and whether it is taken back", () => {
    const words = EFFECT_CLASSES.filter((name) => name !== "read").flatMap((name) =>
      KNOWN_UNDOS.map((undo) => effectWords(name, undo)),
    );
    assert.equal(new Set(words).size, 30, "no two say the same");
    assert.equal(
      effectWords("once", "none"),
      "nothing is known about repeating it, so it is tried once; it cannot be undone automatically",
    );
    assert.match(effectWords("keyed", "has"), /; a rollback of its workflow undoes it$/);
  });

  test("call irreversible what is not known to be taken back by anybody", () => {
    assert.deepEqual(KNOWN_UNDOS.filter(isIrreversible), ["claimed", "none", "not_known"]);
    assert.deepEqual(KNOWN_UNDOS.filter(isTakenBack), ["has", "named"]);
  });

  test("mark an undo that the agent names as what the agent says", () => {
    for (const undo of ["named", "claimed"] as const)
      assert.match(effectWords("once", undo), /the agent says/);
  });

  test("are Holdpoint's own: of an agent's there is only the name", () => {
    const checkpoint = { kind: "checkpoint", workflow: "wf_1", op: "wf_1/1//Review plan#1" } as const;
    assert.equal(headingOf({ tool: "refund_customer" }), "Run refund_customer");
    assert.equal(
      headingOf({ tool: "Review plan", subject: checkpoint }),
      "Go on past the checkpoint Review plan",
    );
    const raised = { ...checkpoint, op: "wf_1/1/monitor/cost: high#1" };
    assert.equal(
      headingOf({ tool: "cost: high", subject: raised }),
      "Go on although the monitor stopped it: cost: high",
    );
    assert.equal(
      headingOf({ tool: "count", subject: { ...checkpoint, kind: "question" } }),
      "Answer the question count",
    );
    const intent = { kind: "intent", intent: "int_1", op: "x" } as const;
    assert.equal(
      headingOf({ tool: "human_approval", subject: intent }),
      "Answer what was sent: human_approval",
    );
  });
});

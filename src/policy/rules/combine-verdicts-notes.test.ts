import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { attributeNotes, mergeNotes, stricterVerdict, withNotesOf } from "./combine-verdicts.ts";
import { reviewAction } from "./review.ts";
import type { PolicyInput, Risk, Verdict } from "./verdict.ts";

const risk = (score: number, level: Risk["level"]): Risk => ({ score, level, conditions: [] });
const LOW = { ...risk(50, "low"), document: "a" };
const HIGH = { ...risk(40, "high"), document: "b" };
const HIGHER = { ...risk(41, "high"), document: "c" };
const trial = (rule: string, document: string) => ({ rule, verdict: "block", reason: "", document });
const says = (verdict: "approve" | "block", more: Partial<Verdict>): Verdict =>
  ({ verdict, reason: verdict, ...more }) as Verdict;

describe("what two policies remark", () => {
  test("is kept whichever of them holds: every risk with the highest first named, and every rule on trial", () => {
    const one = says("approve", { risk: LOW, shadow: [trial("t", "a")] });
    const other = says("block", { risk: HIGH, shadow: [trial("t", "b")] });
    for (const both of [stricterVerdict(one, other), stricterVerdict(other, one)]) {
      assert.equal(both.verdict, "block");
      assert.deepEqual(both.risk, HIGH, "by its level, whatever the score");
      assert.deepEqual(new Set(both.risks), new Set([LOW, HIGH]));
      assert.deepEqual(new Set(both.shadow), new Set([trial("t", "a"), trial("t", "b")]));
    }
    const three = stricterVerdict(stricterVerdict(one, other), says("approve", { risk: HIGHER }));
    assert.deepEqual([three.risk, three.risks?.length], [HIGHER, 3]);
  });

  test("is kept where both ask people, and where what one of them asks for is nothing", () => {
    const asks = (more: object) => ({ verdict: "escalate", ...more }) as Verdict;
    assert.deepEqual(stricterVerdict(asks({ risk: LOW }), asks({ risk: HIGH })).risks, [LOW, HIGH]);
    const nothing = asks({ approvers: { from: "everybody" }, shadow: [trial("t", "a")] });
    assert.equal(stricterVerdict(nothing, asks({ shadow: [trial("u", "b")] })).shadow?.length, 2);
  });

  test("is one thing where only one of them does, and named once where both say the same", () => {
    const one = says("approve", { risk: LOW, shadow: [trial("t", "a")] });
    assert.deepEqual(mergeNotes(one, says("block", {})), { risk: LOW, shadow: [trial("t", "a")] });
    assert.deepEqual(mergeNotes(one, one), { risk: LOW, shadow: [trial("t", "a")] });
    assert.deepEqual(mergeNotes(says("block", {})), {});
    const silent = says("block", {});
    assert.equal(withNotesOf(silent, says("approve", {})), silent);
  });

  test("names the document that it is of", () => {
    const { document: _, ...plain } = LOW;
    const { document: _too, ...rule } = trial("t", "a");
    const named = attributeNotes("d", says("approve", { risk: plain, shadow: [rule] }));
    assert.deepEqual([named.risk?.document, named.shadow?.[0]?.document], ["d", "d"]);
    const silent = says("block", {});
    assert.equal(attributeNotes("d", silent), silent);
  });

  test("blocks where a policy in code remarks what is none, though the other's are in order", () => {
    const input = { requester: [], args: {}, tool: "pay" } as unknown as PolicyInput;
    const validate = (value: never) => ({ ok: true, value }) as const;
    for (const odd of [
      { risk: "much" },
      { risk: null },
      { risk: { score: 1 } },
      { risks: 7 },
      { shadow: "x" },
    ])
      for (const order of [1, -1]) {
        const pair = [says("approve", { risk: HIGH }), says("approve", odd as never)] as const;
        const [first, second] = order === 1 ? pair : [pair[1], pair[0]];
        const review = reviewAction(
          { policy: () => stricterVerdict(first, second), validate: validate as never },
          input,
        );
        assert.equal(review.verdict, "block", JSON.stringify(odd));
      }
  });
});

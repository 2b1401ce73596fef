import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ACTION, approval, asked, SECOND } from "../../../tests/fixtures/rules.ts";
import { cancelAction } from "../../effects/rules/propose.ts";
import type { Draft } from "../../kernel/transaction.ts";
import { given, NOON } from "../../testing/given.ts";

const world = asked({ decideWithinMs: SECOND });
const cancels = (draft: Draft) => cancelAction(draft, { action: ACTION, by: "rollback", reason: "back" });
const ends = (now: number) =>
  given(world, { now })
    .when(cancels)
    .appended.filter(({ on }) => on.kind === "approval");

describe("a question that is taken back", () => {
  test("is cancelled while people may still answer", () => {
    assert.partialDeepStrictEqual(ends(NOON + SECOND - 1), [
      { on: approval, type: "approval.cancelled", body: { by: "rollback", reason: "back" } },
    ]);
  });

  test("has expired, and was not cancelled, once its time is over", () => {
    assert.partialDeepStrictEqual(ends(NOON + SECOND), [
      { on: approval, type: "approval.expired", body: { decideBy: NOON + SECOND } },
    ]);
  });
});

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { NewEvent } from "../../kernel/stream.ts";
import { openDraft } from "../../kernel/transaction.ts";
import { type BeginCommand, beginAnswer, endAnswer } from "./rules.ts";
import { type AnswerState, answerFold } from "./stream.ts";

const DAY_MS = 86_400_000;
const COMMAND: BeginCommand = {
  id: "one",
  route: "POST /x",
  digest: "d1",
  by: "agent:a",
  epoch: "epo_1",
  attempt: "t1",
  again: null,
};

function stateAfter(events: readonly NewEvent[], at = 1_000): AnswerState {
  return events.reduce<AnswerState>(
    (state, event, index) => answerFold.evolve(state, { ...event, at, seq: index + 1 }),
    answerFold.initial,
  );
}

function when<Result>(
  given: readonly NewEvent[],
  now: number,
  act: (draft: ReturnType<typeof openDraft>) => Result,
) {
  const state = stateAfter(given);
  const draft = openDraft({
    tenant: "t",
    now,
    state: () => state as never,
    version: () => given.length,
    name: () => undefined,
    missing: () => undefined,
    fold: () => answerFold as never,
    index: () => [],
  });
  const result = act(draft);
  const decision = draft.commit(result);
  const events = decision.kind === "commit" ? decision.append.flatMap((one) => one.events) : [];
  return { result, events };
}

const begun = (attempt = "t1", epoch = "epo_1"): NewEvent => {
  const { route, digest, by } = COMMAND;
  return { type: "answer.begun", tv: 1, body: { route, digest, by, epoch, attempt } };
};
const given: NewEvent = { type: "answer.given", tv: 1, body: { status: 201, body: { id: 7 } } };

describe("a request that may be sent again", () => {
  test("is begun once", () => {
    const { result, events } = when([], 1_000, (draft) => beginAnswer(draft, COMMAND));
    assert.deepEqual(result, { kind: "begun" });
    assert.deepEqual(events, [begun()]);
  });

  test("finds its own entry after an unknown commit", () => {
    const { result, events } = when([begun()], 1_000, (draft) => beginAnswer(draft, COMMAND));
    assert.deepEqual([result, events], [{ kind: "begun" }, []]);
  });

  test("waits for another attempt that is under way", () => {
    const { result, events } = when([begun("t0", "epo_0")], 1_000, (draft) => beginAnswer(draft, COMMAND));
    assert.deepEqual(result, { kind: "under_way", epoch: "epo_0", attempt: "t0" });
    assert.deepEqual(events, []);
  });

  test("takes over the attempt that was lost, and no other", () => {
    const taken = when([begun("t0")], 1_000, (draft) => beginAnswer(draft, { ...COMMAND, again: "t0" }));
    assert.deepEqual(taken.events, [begun()]);
    const late = when([begun("t2")], 1_000, (draft) => beginAnswer(draft, { ...COMMAND, again: "t0" }));
    assert.equal(late.result.kind, "under_way");
  });

  test("gets the answer that was given", () => {
    const { result } = when([begun("t0"), given], 2_000, (draft) => beginAnswer(draft, COMMAND));
    assert.deepEqual(result, { kind: "given", status: 201, body: { id: 7 } });
  });

  test("is another request with another body or route, whatever became of the first", () => {
    for (const other of [{ digest: "d2" }, { route: "POST /y" }])
      for (const events of [[begun("t0")], [begun("t0"), given]]) {
        const { result } = when(events, 1_000, (draft) => beginAnswer(draft, { ...COMMAND, ...other }));
        assert.deepEqual(result, { kind: "conflict", route: "POST /x" });
      }
  });

  test("finds the key free after a day, not before", () => {
    const other = { ...COMMAND, digest: "d2" };
    const before = when([begun("t0"), given], 1_000 + DAY_MS - 1, (draft) => beginAnswer(draft, other));
    assert.equal(before.result.kind, "conflict");
    const after = when([begun("t0"), given], 1_000 + DAY_MS, (draft) => beginAnswer(draft, other));
    assert.equal(after.result.kind, "begun");
  });

  test("is ended by the attempt that is under way, and only by it", () => {
    const answer = { status: 201, body: { id: 7 } };
    const own = when([begun()], 1_000, (draft) => endAnswer(draft, { id: "one", attempt: "t1", answer }));
    assert.deepEqual(own.events, [given]);
    const other = when([begun("t9")], 1_000, (draft) =>
      endAnswer(draft, { id: "one", attempt: "t1", answer }),
    );
    assert.deepEqual(other.events, []);
    const again = when([begun(), given], 1_000, (draft) =>
      endAnswer(draft, { id: "one", attempt: "t1", answer: null }),
    );
    assert.deepEqual(again.events, []);
  });

  test("leaves the key free where it was dropped", () => {
    const dropped = when([begun()], 1_000, (draft) =>
      endAnswer(draft, { id: "one", attempt: "t1", answer: null }),
    );
    assert.deepEqual(stateAfter([begun(), ...dropped.events]), answerFold.initial);
  });
});

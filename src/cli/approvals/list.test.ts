import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Approval } from "../../approvals/contract.ts";
import { readReview as reviewOf } from "./await-review.ts";
import { findChange as changeOf, remember as seenOf } from "./list.ts";

const ANN = "person:ann";
const vote = { by: ANN, decision: "approve", binding: "b1", note: null, via: "cli", at: 2 } as const;
const edit = { by: ANN, args: { id: 2 }, argsDigest: "d2", note: null, via: "cli" };
const ending = { at: 3, by: [ANN], reason: "" };
const pending = {
  id: "apr_1",
  status: "pending",
  about: "action",
  tool: "delete",
  agent: "agent:bot",
  args: { id: 1 },
  binding: "b1",
  approvers: { quorum: 2, from: null, veto: true },
  stage: 1,
  stages: [{}],
  extensions: [],
  decideBy: null,
  votes: [],
  comments: [],
  edit: null,
  editRefused: null,
  decided: null,
  ended: null,
} as unknown as Approval;

describe("watching", () => {
  const step = (before: Partial<Approval>, now: Partial<Approval>) =>
    changeOf(seenOf({ ...pending, ...before }), { ...pending, ...now });

  test("tells what is asked", () => {
    assert.deepEqual(changeOf(undefined, pending), { change: "asked", detail: 'agent:bot {"id":1}' });
  });

  test("tells stages, and deadlines that moved", () => {
    const staged = { stages: [{}, {}, {}] } as unknown as Partial<Approval>;
    const met = step(staged, { ...staged, stage: 2, votes: [{ ...vote, stage: 1 }] });
    assert.deepEqual(met, { change: "vote", detail: "person:ann approve (0/2 in stage 2 of 3)" });
    const handed = step(staged, { ...staged, stage: 2, decideBy: 1 });
    assert.deepEqual(handed, { change: "escalated", detail: "stage 2 of 3 is asked" });
    const more = { by: ANN, from: 0, decideBy: 5, via: "cli", at: 1 };
    assert.deepEqual(step({ decideBy: 0 }, { decideBy: 5, extensions: [more] }), {
      change: "extended",
      detail: "person:ann: until 1970-01-01T00:00:00.005Z",
    });
  });

  test("tells what somebody asks before it is decided", () => {
    const comment = { by: ANN, text: "why today?", via: "cli", at: 2 };
    assert.deepEqual(step({}, { comments: [comment] }), {
      change: "comment",
      detail: "person:ann: why today?",
    });
    assert.equal(step({ comments: [comment] }, { comments: [comment] }), undefined);
  });

  test("tells votes, edits, revisions and refused edits", () => {
    assert.deepEqual(step({}, { votes: [vote] }), { change: "vote", detail: "person:ann approve (1/2)" });
    assert.deepEqual(step({}, { edit }), { change: "edited", detail: 'person:ann: {"id":2}' });
    assert.deepEqual(step({ edit }, { args: { id: 2 }, binding: "b2" }), {
      change: "revised",
      detail: 'agent:bot {"id":2}',
    });
    const editRefused = { by: ANN, rule: "cap", reason: "too much" };
    assert.deepEqual(step({ edit }, { editRefused }), { change: "edit refused", detail: "cap: too much" });
  });

  test("tells every end, with its author and reason", () => {
    const decided = { ...ending, reason: "not today" };
    assert.deepEqual(step({}, { status: "rejected", decided }), {
      change: "rejected",
      detail: "person:ann: not today",
    });
    assert.deepEqual(
      changeOf(undefined, { ...pending, status: "expired", decided: { at: 1, by: [], reason: "" } }),
      {
        change: "expired",
        detail: "",
      },
    );
  });

  test("tells what a workflow asks and what was decided, not that it was used up", () => {
    const at = { workflow: "wf_1", op: "wf_1/1//x#1" };
    const checkpoint = { about: "checkpoint", ...at, rationale: "100 pizzas" } as const;
    const question = { about: "question", ...at, reason: "Which room?" } as const;
    assert.deepEqual(changeOf(undefined, { ...pending, ...checkpoint }), {
      change: "asked",
      detail: 'agent:bot {"id":1} “100 pizzas”',
    });
    assert.deepEqual(changeOf(undefined, { ...pending, ...question }), {
      change: "asked",
      detail: "agent:bot asks: Which room?",
    });
    const used = {
      status: "consumed",
      decided: ending,
      ended: ending,
      votes: [{ ...vote, note: "fine" }],
    } as const;
    const told = { detail: "person:ann: fine" };
    assert.deepEqual(step({}, { ...checkpoint, ...used }), { change: "approved", ...told });
    assert.deepEqual(step({}, { ...checkpoint, ...used, edited: true }), { change: "modified", ...told });
    assert.deepEqual(step({}, { ...question, ...used, edited: true }), { change: "answered", ...told });
    const rejected = { status: "rejected", decided: { ...ending, reason: "no" } } as const;
    assert.deepEqual(step({}, { ...checkpoint, ...rejected }), {
      change: "rejected",
      detail: "person:ann: no",
    });
  });

  test("is silent when nothing that it tells about changed", () => {
    assert.equal(step({}, {}), undefined);
    assert.equal(
      step({ status: "consumed", decided: ending }, { status: "consumed", decided: ending }),
      undefined,
    );
  });

  test("cuts huge arguments and says how much", () => {
    const change = changeOf(undefined, { ...pending, args: { text: "x".repeat(2_000) } });
    assert.match(change?.detail ?? "", /… 1511 more characters$/);
  });
});

describe("an edit", () => {
  test("is open until somebody with the tool has looked at it", () => {
    assert.deepEqual(reviewOf({ ...pending, edit }, ANN), { kind: "open" });
  });

  test("was refused, accepted, or overtaken", () => {
    const editRefused = { by: ANN, rule: "cap", reason: "too much" };
    assert.deepEqual(reviewOf({ ...pending, editRefused }, ANN), {
      kind: "refused",
      rule: "cap",
      reason: "too much",
    });
    assert.deepEqual(reviewOf({ ...pending, votes: [vote] }, ANN), { kind: "accepted" });
    assert.deepEqual(reviewOf({ ...pending, status: "rejected", decided: ending }, ANN), {
      kind: "moved_on",
    });
    const stands = { ...pending, editor: ANN, edited: true };
    assert.deepEqual(reviewOf(stands, ANN), { kind: "stands", isShown: false });
    const preview = { value: "one file", failed: false, digest: "d" };
    assert.deepEqual(reviewOf({ ...stands, preview }, ANN), { kind: "stands", isShown: true });
    const elsewhere = { at: 3, by: ["policy"], reason: "apr_2 asks instead" };
    assert.deepEqual(reviewOf({ ...pending, status: "cancelled", decided: elsewhere }, ANN), {
      kind: "asks_again",
      reason: "apr_2 asks instead",
    });
  });
});

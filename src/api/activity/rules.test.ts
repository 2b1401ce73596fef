import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  type ActionFact,
  type Activity,
  type ApprovalFact,
  actionFact,
  approvalFact,
  countActivity,
  DAY_MS,
} from "./rules.ts";

type Counted = Parameters<typeof countActivity>[0];

const DAY = Date.parse("2026-05-04T00:00:00Z");
const NOON = DAY + 12 * 3_600_000;

function counted(given: Partial<Counted>): Pick<Activity, "days" | "tools" | "agents" | "people"> {
  const steps = countActivity({ since: DAY, until: NOON, approvals: [], actions: [], ...given });
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

const asked = (more: Partial<ApprovalFact> = {}): ApprovalFact => ({
  ...{ at: NOON, tool: "pay", agent: "agent:a", action: "act_1", decision: null, decidedAt: null },
  people: [],
  ...more,
});
const decided = (after: number, more: Partial<ApprovalFact> = {}): ApprovalFact =>
  asked({ decision: "approved", decidedAt: NOON + after, people: ["person:ann"], ...more });
const action = (more: Partial<ActionFact> = {}): ActionFact => ({
  ...{ id: "act_1", at: NOON, tool: "pay", agent: "agent:a", outcome: "applied", endedAt: NOON },
  verdict: "approve",
  ...more,
});

describe("activity by day", () => {
  test("every day is there, in UTC, oldest first, those without anything too", () => {
    const { days } = counted({ since: DAY - 2 * DAY_MS, approvals: [asked()] });
    assert.deepEqual(
      days.map(({ day, asked: count }) => [day, count]),
      [
        ["2026-05-02", 0],
        ["2026-05-03", 0],
        ["2026-05-04", 1],
      ],
    );
    assert.equal(days[0]?.waitedP50Seconds, null);
  });

  test("a question counts when it was asked, a decision when it was made, an outcome when it was known", () => {
    const late = decided(DAY_MS);
    const { days } = counted({
      until: NOON + DAY_MS,
      approvals: [late],
      actions: [action({ endedAt: NOON + DAY_MS }), action({ id: "act_2", outcome: "refused" })],
    });
    assert.partialDeepStrictEqual(days, [
      { asked: 1, approved: 0, actions: 2, applied: 0, refused: 1, waitedP50Seconds: null },
      { asked: 0, approved: 1, actions: 0, applied: 1, refused: 0, waitedP50Seconds: 86_400 },
    ]);
  });

  test("waiting is people's: what expired or was cancelled nobody decided", () => {
    const { days, people } = counted({
      approvals: [
        ...[1_000, 2_000, 3_000, 4_000, 50_000].map((after) => decided(after)),
        decided(9_000_000, { decision: "expired", people: [] }),
        decided(9_000_000, { decision: "cancelled", people: ["person:ann"] }),
      ],
    });
    assert.partialDeepStrictEqual(days, [
      { asked: 7, approved: 5, expired: 1, cancelled: 1, waitedP50Seconds: 3, waitedP90Seconds: 50 },
    ]);
    assert.equal(people[0]?.decided, 5);
  });

  test("what policy decided is what nobody was asked about", () => {
    const { days } = counted({
      approvals: [asked(), asked({ action: null, tool: null })],
      actions: [action(), action({ id: "act_2" }), action({ id: "act_3", outcome: null })],
    });
    assert.partialDeepStrictEqual(days, [{ actions: 3, byPolicy: 2, applied: 2 }]);
  });

  test("verdicts are told apart; what people were asked about was escalated, whatever was said of their edit", () => {
    const { days } = counted({
      approvals: [asked(), asked({ action: "act_2" })],
      actions: [
        action(),
        action({ id: "act_2", verdict: "block", outcome: "refused" }),
        action({ id: "act_3", verdict: "revise" }),
        action({ id: "act_4" }),
        action({ id: "act_5", verdict: "block", outcome: "refused" }),
        action({ id: "act_6", verdict: null, outcome: "refused" }),
      ],
    });
    assert.partialDeepStrictEqual(days, [
      { actions: 6, verdicts: { approve: 1, revise: 1, block: 2, escalate: 1 } },
    ]);
  });

  test("what is older than is counted is left out, on both sides", () => {
    const { days, tools } = counted({
      approvals: [asked({ at: DAY - 1 })],
      actions: [action({ at: DAY - 1 }), action()],
    });
    assert.partialDeepStrictEqual(days, [{ asked: 0, actions: 1, byPolicy: 0 }]);
    assert.equal(tools[0]?.actions, 1);
  });

  test("a clock that was set back loses nothing: it counts on the last day", () => {
    const { days } = counted({ approvals: [asked({ at: NOON + 5 * DAY_MS })] });
    assert.equal(days.length, 1);
    assert.equal(days[0]?.asked, 1);
  });
});

describe("activity by tool, agent and person", () => {
  test("those with the most to tell come first; what is no tool is only its agent's", () => {
    const { tools, agents } = counted({
      approvals: [asked({ tool: null, action: null, agent: "agent:b" })],
      actions: [action({ tool: "rare" }), action({ id: "act_2" }), action({ id: "act_3" })],
    });
    assert.deepEqual(
      tools.map(({ name, actions }) => [name, actions]),
      [
        ["pay", 2],
        ["rare", 1],
      ],
    );
    assert.deepEqual(
      agents.map(({ name, asked: count }) => [name, count]),
      [
        ["agent:a", 0],
        ["agent:b", 1],
      ],
    );
  });

  test("what several decided counts for each of them; within three seconds is hasty", () => {
    const { people } = counted({
      approvals: [
        decided(3_000, { people: ["person:ann", "person:bob"] }),
        decided(3_001, { decision: "rejected" }),
      ],
    });
    assert.deepEqual(people, [
      { person: "person:ann", decided: 2, rejected: 1, hasty: 1, p50Seconds: 3 },
      { person: "person:bob", decided: 1, rejected: 0, hasty: 1, p50Seconds: 3 },
    ]);
  });
});

describe("what a row tells", () => {
  const row = (bucket: string, data: object) => ({
    stream: { id: "act_1" },
    at: NOON,
    bucket,
    data: { tool: "pay", agent: "agent:a", ...data },
  });

  test("what was given and used, lapsed or taken back was approved, or modified, all the same", () => {
    const about = { about: "action", action: "act_1" };
    for (const status of ["consumed", "lapsed", "revoked"]) {
      assert.equal(approvalFact(row(status, about)).decision, "approved");
      assert.equal(approvalFact(row(status, { ...about, edited: true })).decision, "modified");
    }
    assert.equal(approvalFact(row("pending", about)).decision, null);
    assert.equal(approvalFact(row("rejected", about)).decision, "rejected");
  });

  test("only people decide: an action that ran by itself, or an effect, is nobody", () => {
    const { people, action: of } = approvalFact(
      row("cancelled", { about: "question", decidedBy: ["policy", "person:ann"] }),
    );
    assert.deepEqual([people, of], [["person:ann"], null]);
  });

  test("what still waits or runs has no outcome; a refusal counts when it was proposed", () => {
    assert.equal(actionFact(row("waiting", {})).outcome, null);
    assert.equal(actionFact(row("running", {})).outcome, null);
    const { outcome, endedAt } = actionFact(row("refused", {}));
    assert.deepEqual([outcome, endedAt], ["refused", NOON]);
    assert.equal(actionFact(row("in_doubt", { endedAt: NOON + 5 })).endedAt, NOON + 5);
  });
});

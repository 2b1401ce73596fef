import assert from "node:assert/strict";
import { test } from "node:test";
import type { Report } from "./policy-queries.ts";
import { listedChanges, trialFigures } from "./trial-figures.ts";

type Change = Report["changes"][number];

const change = (action_id: string, more: Partial<Change> = {}): Change => ({
  ...{ action_id, tool: "pay", agent: "agent:a", at: "2026-01-01T00:00:00.000Z", workflow_id: null },
  from: { verdict: "escalate", rule: "asked", reason: "", revised: false, policy: "p" },
  to: { verdict: "approve", rule: "default", reason: "no rule", revised: true },
  ...{ person: null, edit: null, costs: null, amount: null },
  ...more,
});

test("what people rejected or changed comes first, and nothing is listed twice", () => {
  const danger = change("act_2", { person: { decision: "edited", by: ["person:ann"], reason: "" } });
  const listed = listedChanges({
    dangers: [danger],
    changes: [change("act_1"), danger, change("act_3")],
  });
  assert.deepEqual(
    listed.map(({ action_id, from, to, people }) => [action_id, from, to, people]),
    [
      ["act_2", "escalate", "approve, revised", "edited"],
      ["act_1", "escalate", "approve, revised", null],
      ["act_3", "escalate", "approve, revised", null],
    ],
  );
});

test("what is the same, what changed and what nobody could judge are all of the actions", () => {
  const counts = { actions: 10, compared: 8, changed: 3 };
  const figures = trialFigures({
    ...counts,
    dangers: [change("act_1")],
    left_off: { dangers: 4, changes: 0 },
  });
  const { actions, same, changed, unknown, dangers } = figures;
  assert.deepEqual([same, changed, unknown], [5, 3, 2]);
  assert.equal(same + changed + unknown, actions);
  assert.equal(dangers, 5);
});

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { canonicalJson } from "../../kernel/canonical-json.ts";
import type { JsonObject } from "../../kernel/json.ts";
import { buildSnapshot, type Captured, checkCaptured, restoreCaptured, snapshotUri } from "./snapshot.ts";

const place = {
  snapshot: "snap_1",
  workflow: "wf_1",
  checkpoint: "cp_plan",
  name: "Review plan",
  at: Date.UTC(2025, 0, 18, 10, 30),
};

const whole: Captured = {
  summary: "Found 3 records.",
  decisionNeeded: "Go on?",
  recommendation: "approve",
  confidence: 0.92,
  artifacts: [{ name: "report.csv" }],
  context: { recordsFound: 3 },
  inputs: { tableName: "customers" },
  outputs: { qualityScore: 0.95 },
  nextSteps: ["process them"],
  confidenceScores: { dataQuality: 0.9 },
  risk: { level: "low" },
  memory: {
    conversationHistory: ["asked to analyse"],
    factsLearned: { dataSource: "crm" },
    currentContext: "ready",
    scratchPad: { innerKey: 1 },
  },
  apiCalls: [
    {
      timestamp: "2025-01-18T10:29:45Z",
      endpoint: "/records",
      method: "POST",
      status: 200,
      payload: { maxRows: 3 },
      response: { rowCount: 3 },
      summary: "3 rows",
    },
  ],
  trace: ["the source can be trusted"],
  resources: { apiCalls: 1, tokensUsed: 0, executionTimeSeconds: 2.5, estimatedCostUsd: 0.02 },
  agent: "researcher",
};

describe("a snapshot", () => {
  test("has three layers under their stored names, and a program's own keys as they were", () => {
    assert.deepEqual(buildSnapshot(whole, place), {
      snapshot_id: "snap_1",
      workflow_id: "wf_1",
      checkpoint_id: "cp_plan",
      checkpoint_name: "Review plan",
      timestamp: "2025-01-18T10:30:00.000Z",
      agent: "researcher",
      execution_state: {
        agent_memory: {
          conversation_history: ["asked to analyse"],
          facts_learned: { dataSource: "crm" },
          current_context: "ready",
          scratchPad: { innerKey: 1 },
        },
        api_calls: [
          {
            timestamp: "2025-01-18T10:29:45Z",
            endpoint: "/records",
            method: "POST",
            status: 200,
            payload: { maxRows: 3 },
            response: { rowCount: 3 },
            response_summary: "3 rows",
          },
        ],
        intermediate_outputs: { qualityScore: 0.95 },
        decision_trace: ["the source can be trusted"],
        resource_consumption: {
          api_calls: 1,
          tokens_used: 0,
          execution_time_seconds: 2.5,
          estimated_cost_usd: 0.02,
        },
      },
      task_state: {
        inputs: { tableName: "customers" },
        outputs: { qualityScore: 0.95 },
        planned_next_steps: ["process them"],
        confidence_scores: { dataQuality: 0.9 },
        risk: { level: "low" },
      },
      approval_interface: {
        summary: "Found 3 records.",
        decision_needed: "Go on?",
        artifacts: [{ name: "report.csv" }],
        context: { recordsFound: 3 },
        recommendation: "approve",
        confidence: 0.92,
      },
    });
  });

  test("leaves out what was not captured, whole layers included", () => {
    const { snapshot_id, workflow_id, checkpoint_id, checkpoint_name, timestamp, ...rest } = buildSnapshot(
      { confidence: 0 },
      place,
    );
    assert.ok(snapshot_id && workflow_id && checkpoint_id && checkpoint_name && timestamp);
    assert.deepEqual(rest, { approval_interface: { confidence: 0 } });
    assert.deepEqual(Object.keys(buildSnapshot({}, place)), [
      "snapshot_id",
      "workflow_id",
      "checkpoint_id",
      "checkpoint_name",
      "timestamp",
    ]);
  });

  test("keeps what was captured as null or empty", () => {
    assert.deepEqual(buildSnapshot({ risk: null, memory: {}, trace: [] }, place)["execution_state"], {
      agent_memory: {},
      decision_trace: [],
    });
    assert.deepEqual(buildSnapshot({ risk: null }, place)["task_state"], { risk: null });
  });

  test("is JSON however deep what was let through is nested", () => {
    const isTaken = (outputs: JsonObject) => {
      try {
        return checkCaptured({ outputs }) !== undefined;
      } catch {
        return false;
      }
    };
    let outputs: JsonObject = {};
    while (isTaken({ deeper: outputs })) outputs = { deeper: outputs };
    const captured = checkCaptured({ outputs });
    assert.doesNotThrow(() => canonicalJson(buildSnapshot(captured, place)));
  });

  test("gives back what was captured, all of it or any one part", () => {
    assert.deepEqual(restoreCaptured(buildSnapshot(whole, place)), whole);
    for (const [field, part] of Object.entries(whole))
      assert.deepEqual(restoreCaptured(buildSnapshot({ [field]: part }, place)), { [field]: part });
    assert.deepEqual(restoreCaptured(buildSnapshot({}, place)), {});
  });

  test("is found under the hash of its bytes", () => {
    assert.equal(snapshotUri("ab12"), "x402://artifacts/sha256:ab12");
  });
});

// The whole story with curl alone: a client written from the first reference, without a key and with one.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Call, HAS_CURL, type Said, serving } from "./serving.ts";

type Type =
  | "string"
  | "number"
  | "count"
  | "object"
  | "array"
  | "time"
  | "null"
  | "time or null"
  | "text or null";

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const IS: { readonly [type in Type]: (value: unknown) => boolean } = {
  string: (value) => typeof value === "string" && value !== "",
  number: (value) => typeof value === "number",
  count: (value) => Number.isInteger(value) && Number(value) >= 0,
  object: (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  array: Array.isArray,
  time: (value) => typeof value === "string" && TIME.test(value),
  null: (value) => value === null,
  "time or null": (value) => value === null || (typeof value === "string" && TIME.test(value)),
  "text or null": (value) => value === null || typeof value === "string",
};

/** Every documented field is there and of the documented type. Others may be there too. */
function has(body: unknown, fields: { readonly [field: string]: Type }): void {
  for (const [field, type] of Object.entries(fields)) {
    const value = (body as Record<string, unknown>)[field];
    assert.ok(
      IS[type](value),
      `${field} is ${JSON.stringify(value)}, not ${type}, in ${JSON.stringify(body)}`,
    );
  }
}

const CREATED = {
  workflow_id: "string",
  status: "string",
  x402_setup: "object",
  checkpoints: "count",
  message: "string",
} as const;
const LISTED = {
  workflow_id: "string",
  name: "string",
  status: "string",
  current_checkpoint: "count",
  total_checkpoints: "count",
  started_at: "time",
} as const;
const WORKFLOW = {
  ...LISTED,
  description: "string",
  snapshots: "count",
  approval_requests: "count",
  approval_responses: "count",
  completed_at: "time or null",
  error_message: "text or null",
} as const;
const PENDING = {
  request_id: "string",
  workflow_id: "string",
  checkpoint_name: "string",
  summary: "string",
  context: "object",
  created_at: "time",
} as const;
const SUBMITTED = { decision: "string", workflow_status: "string", message: "string" } as const;
const STATS = {
  total_workflows: "count",
  workflow_states: "object",
  total_approvals_processed: "count",
  pending_approvals: "count",
  active_executors: "count",
  active_supervisors: "count",
} as const;

type Story = { readonly poster: Call; readonly agent: Call; readonly person: Call; readonly via: string };

const ok = ({ status, body }: Said): Record<string, unknown> => {
  assert.equal(status, 200, JSON.stringify(body));
  return body;
};

const creation = {
  name: "My Workflow",
  description: "Description here",
  checkpoint_names: ["Review Step 1", "Review Step 2"],
  escrow_amount: 100.0,
  poster_id: "user_123",
  executor_id: "agent_456",
};
const stand = (checkpoint: string) => ({
  checkpoint_id: checkpoint,
  execution_state: {
    agent_memory: { task: "data processing", phase: "collection" },
    api_calls: [{ endpoint: "/api/data", status: 200 }],
    intermediate_outputs: { records_found: 100, threshold: 100 },
    decision_trace: ["Fetched data", "Validated format"],
    resource_consumption: { api_calls: 1, tokens_used: 0 },
  },
  summary: "Agent completed data collection. Found 100 records. Ready to proceed?",
  context: { records_found: 100, quality_score: 0.95 },
  recommendation: "approve",
  confidence: 0.92,
});

async function create({ poster, agent }: Story): Promise<string> {
  const made = ok(await poster("POST", "/api/workflows", creation));
  has(made, CREATED);
  assert.equal(made["status"], "initialized");
  assert.equal(made["checkpoints"], 2);
  const setup = made["x402_setup"] as Record<string, unknown>;
  has(setup, { job_id: "string", escrow_id: "null" });
  assert.equal(made["message"], "Workflow created and ready to execute");
  const id = String(made["workflow_id"]);
  const started = ok(await agent("POST", `/api/workflows/${id}/start`));
  assert.equal(started["status"], "executing");
  return id;
}

async function standAt({ agent, person }: Story, id: string, checkpoint: string): Promise<string> {
  const stood = ok(await agent("POST", `/api/workflows/${id}/checkpoints`, stand(checkpoint)));
  assert.equal(stood["status"], "awaiting_approval");
  has(stood, { snapshot_id: "string", approval_id: "string", checkpoint_name: "string" });
  const { pending_approvals: list, total } = ok(await person("GET", "/api/approvals/pending"));
  assert.equal(total, 1);
  const [pending] = list as Record<string, unknown>[];
  has(pending, PENDING);
  assert.equal(pending?.["workflow_id"], id);
  assert.equal(pending?.["checkpoint_name"], checkpoint);
  assert.equal(pending?.["summary"], stand(checkpoint).summary);
  assert.deepEqual(pending?.["context"], stand(checkpoint).context);
  assert.equal(pending?.["request_id"], stood["approval_id"]);
  return String(pending?.["request_id"]);
}

async function submit({ person }: Story, ballot: Record<string, unknown>): Promise<Record<string, unknown>> {
  const answer = ok(await person("POST", "/api/approvals/submit", { approved_by: "user_123", ...ballot }));
  has(answer, SUBMITTED);
  assert.equal(answer["success"], true);
  assert.equal(answer["decision"], ballot["decision"]);
  return answer;
}

async function until(agent: Call, id: string, status: string): Promise<Record<string, unknown>> {
  for (let look = 0; look < 1_000; look++) {
    const workflow = ok(await agent("GET", `/api/workflows/${id}`));
    if (workflow["status"] === status) return workflow;
    await new Promise<void>((resolve) => setTimeout(resolve, 20));
  }
  return assert.fail(`${id} does not become ${status}`);
}

async function approvedAndModified(story: Story): Promise<void> {
  const { agent } = story;
  const id = await create(story);
  const first = await standAt(story, id, "Review Step 1");
  const waiting = ok(await agent("GET", `/api/workflows/${id}`));
  has(waiting, WORKFLOW);
  const { current_checkpoint, snapshots, approval_requests, approval_responses } = waiting;
  assert.deepEqual([current_checkpoint, snapshots, approval_requests, approval_responses], [1, 1, 1, 0]);
  const rationale = "Data looks good, quality score is high";
  const approved = await submit(story, {
    request_id: first,
    decision: "APPROVED",
    rationale,
    modifications: null,
  });
  assert.equal(approved["workflow_status"], "executing");
  assert.equal(approved["message"], "Approval APPROVED - workflow now executing");
  const vote = ok(await story.person("GET", `/api/approvals/${first}`));
  const [cast] = vote["votes"] as { by: string; via: string }[];
  assert.deepEqual([cast?.by, cast?.via], ["person:user_123", story.via]);

  const second = await standAt(story, id, "Review Step 2");
  const changed = { request_id: second, decision: "MODIFIED", rationale: "Adjust threshold from 100 to 150" };
  const modified = await submit(story, { ...changed, modifications: { threshold: 150 } });
  assert.equal(modified["workflow_status"], "executing");
  const back = ok(await agent("GET", `/api/workflows/${id}`));
  const last = back["last_decision"] as Record<string, unknown>;
  assert.equal(last["decision"], "MODIFIED");
  assert.deepEqual(last["modifications"], { threshold: 150 });
  assert.deepEqual(last["outputs"], { records_found: 100, threshold: 150 });
  assert.equal(last["reason"], changed.rationale);
  const { jobs } = ok(await agent("GET", `/api/workflows/${id}/jobs`));
  const [main, ...approvals] = jobs as { job_id: string; kind: string; status: string }[];
  assert.deepEqual([main?.job_id, main?.kind, main?.status], [`job_${id.slice(3)}`, "main", "open"]);
  assert.deepEqual(
    approvals.map(({ kind, status }) => [kind, status]),
    [
      ["approval", "completed"],
      ["approval", "completed"],
    ],
  );
  const done = ok(await agent("POST", `/api/workflows/${id}/complete`, { result: { records: 100 } }));
  has(done, { ...WORKFLOW, completed_at: "time" });
  assert.equal(done["status"], "completed");
}

async function rejected(story: Story): Promise<void> {
  const { agent } = story;
  const id = await create(story);
  const request = await standAt(story, id, "Review Step 1");
  const rationale = "Data quality too low, need to re-fetch";
  const answer = await submit(story, {
    request_id: request,
    decision: "REJECTED",
    rationale,
    modifications: null,
  });
  assert.ok(["rolling_back", "executing"].includes(String(answer["workflow_status"])));
  const again = await until(agent, id, "executing");
  assert.equal(again["attempt"], 2);
  const last = again["last_decision"] as Record<string, unknown>;
  assert.deepEqual([last["decision"], last["reason"]], ["REJECTED", rationale]);
  const failed = ok(await agent("POST", `/api/workflows/${id}/fail`, { reason: "no better data" }));
  assert.deepEqual([failed["status"], failed["error_message"]], ["failed", "no better data"]);
}

/** An action in it: held for people under its tool's name, edited, taken up, reported. */
async function acted(story: Story): Promise<void> {
  const { agent, person } = story;
  const id = await create(story);
  const proposal = {
    tool: "bank.wire",
    args: { to: "DE02", amount: 900 },
    request_id: "wire-1",
    rationale: "the rent",
    holder: "0123456789abcdef0123456789abcdef",
  };
  const { holder } = proposal;
  const asked = ok(await agent("POST", `/api/workflows/${id}/actions`, proposal));
  assert.equal(asked["waiting_for"], "approval");
  const { pending_approvals: list } = ok(await person("GET", "/api/approvals/pending"));
  const [pending] = list as Record<string, unknown>[];
  has(pending, PENDING);
  assert.deepEqual([pending?.["checkpoint_name"], pending?.["workflow_id"]], ["bank.wire", id]);
  assert.deepEqual(pending?.["context"], proposal.args);
  const decision = { request_id: pending?.["request_id"], decision: "MODIFIED", rationale: "less" };
  await submit(story, { ...decision, modifications: { amount: 100 } });
  const permit = ok(await agent("POST", `/api/actions/${String(asked["action_id"])}/start`, { holder }));
  assert.equal(permit["status"], "permitted", JSON.stringify(permit));
  assert.deepEqual(permit["args"], { to: "DE02", amount: 100 });
  assert.deepEqual(permit["notes"], ["less"]);
  const same = ok(await agent("POST", `/api/workflows/${id}/actions`, proposal));
  assert.deepEqual(same, permit);
  const begun = ok(await agent("POST", `/api/actions/${String(asked["action_id"])}/begin`, { holder }));
  assert.deepEqual(begun, { ...permit, begun: true });
  const report = { status: "applied", result: { wire: 7 } };
  const outcome = ok(await agent("POST", `/api/actions/${String(asked["action_id"])}/outcome`, report));
  const receipt = outcome["receipt"] as Record<string, unknown>;
  assert.deepEqual(
    [receipt["status"], receipt["by"], receipt["executed_from"]],
    ["applied", "agent:agent_456", "human_revised"],
  );
  const other = await agent("POST", `/api/workflows/${id}/actions`, { ...proposal, args: { to: "XX" } });
  assert.equal(other.status, 409);
  const cancelled = ok(
    await story.poster("POST", `/api/workflows/${id}/cancel`, { reason: "enough", by: "user_123" }),
  );
  assert.equal(cancelled["status"], "failed");
}

async function figures({ poster, person }: Story): Promise<void> {
  const stats = ok(await person("GET", "/api/stats"));
  has(stats, STATS);
  assert.equal(stats["total_workflows"], 3);
  assert.equal(stats["pending_approvals"], 0);
  assert.equal(stats["total_approvals_processed"], 4);
  assert.equal((stats["workflow_states"] as Record<string, number>)["completed"], 1);
  const health = ok(await poster("GET", "/api/health"));
  has(health, { status: "string", service: "string", version: "string" });
  assert.equal(health["status"], "healthy");
  const { workflows, total } = ok(await poster("GET", "/api/workflows"));
  assert.equal(total, 3);
  for (const workflow of workflows as unknown[]) has(workflow, LISTED);
}

const how = HAS_CURL ? "curl" : "node:http, for want of curl";

test(`under --no-auth a client written from the reference works as it is (${how})`, {
  timeout: 300_000,
}, async (t) => {
  const { as } = await serving(t, "--no-auth");
  const story = { poster: as(), agent: as(), person: as(), via: "unauthenticated" };
  await approvedAndModified(story);
  await rejected(story);
  await acted(story);
  await figures(story);
});

test(`with keys it only adds a header; nobody speaks for somebody else, and no agent decides (${how})`, {
  timeout: 300_000,
}, async (t) => {
  const { as, cli } = await serving(t);
  await cli("people", "add", "user_123", "--role", "poster", "--role", "supervisor");
  await cli("people", "add", "user_999", "--role", "supervisor");
  const key = (principal: string, ...roles: string[]) =>
    cli("keys", "issue", principal, "--name", principal, ...roles.flatMap((role) => ["--role", role]));
  const [person, agent, stranger] = [
    as(await key("person:user_123")),
    as(await key("agent:agent_456", "executor")),
    as(await key("agent:agent_789", "executor", "supervisor", "admin")),
  ];
  const story = { poster: person, agent, person, via: "api_key" };
  await approvedAndModified(story);
  await rejected(story);
  await acted(story);
  await figures(story);

  const id = await create(story);
  const request = await standAt(story, id, "Review Step 1");
  const ballot = { request_id: request, decision: "APPROVED", rationale: "fine" };
  assert.equal(
    (await person("POST", "/api/approvals/submit", { ...ballot, approved_by: "user_999" })).status,
    403,
  );
  assert.equal((await stranger("POST", "/api/approvals/submit", ballot)).status, 403);
  assert.equal((await agent("POST", "/api/approvals/submit", ballot)).status, 403);
  assert.equal((await as()("POST", "/api/approvals/submit", ballot)).status, 401);
  assert.equal((await person("POST", "/api/workflows", { ...creation, poster_id: "user_999" })).status, 403);
  assert.equal((await stranger("POST", `/api/workflows/${id}/complete`)).status, 403);
  const spoken = { ...stand("Review Step 2"), agent: "agent:agent_456" };
  assert.equal((await stranger("POST", `/api/workflows/${id}/checkpoints`, spoken)).status, 403);
  const stillWaits = ok(await agent("GET", `/api/workflows/${id}`));
  assert.equal(stillWaits["status"], "awaiting_approval");
});

/** Invariants 1, 5, 6 and 7 at the commit that lets an effect begin. */
import type { Grant, ReservedCost } from "../../../core/action/events.ts";
import { digestOf } from "../../../kernel/canonical-json.ts";
import type { DeployedTool } from "../sim.ts";
import { count } from "../sim.ts";
import { type Args, verdictFor } from "../tool-spec.ts";
import { specOf } from "../workflow-spec.ts";
import { checkCounted, checkShown } from "./check-grant.ts";
import { type Commit, type Event, expect, has, type SeenAction, type SeenApproval } from "./seen.ts";
import { lacking, standing, wantedBy } from "./stages-seen.ts";

/** What the author of the policy meant, asked once more. */
function meant(tool: DeployedTool, action: SeenAction): string {
  const args = action.args as unknown as Args;
  const { policy } = tool;
  const isFixed = policy.kind === "approve" || (policy.kind === "escalate" && policy.ask.above === undefined);
  if (args.amount === undefined && !isFixed) return "unknown";
  try {
    return verdictFor(policy, args).verdict;
  } catch {
    return "block";
  }
}

function bindingBy(commit: Commit, action: SeenAction, terms: { [field: string]: unknown }): string {
  const { id, tool, schema, argsDigest, effectClass, requester } = action;
  const fixed = { v: 1, tenant: commit.seen.name, stream: `action/${id}`, action: id };
  return digestOf({ ...fixed, tool, schema, args: argsDigest, effectClass, requester, ...terms });
}

function checkVerdict(commit: Commit, event: Event, action: SeenAction, tool: DeployedTool): void {
  const grant = event.body["grant"] as Extract<Grant, { kind: "verdict" }>;
  const { policy, nonce } = grant;
  const free = { policy, nonce, approvers: null, decideBy: null, executeBy: null };
  expect(
    commit,
    event.body["binding"] === bindingBy(commit, action, free),
    "1",
    `${action.id} started under another binding`,
  );
  expect(commit, policy === tool.policyDigest, "1", `${action.id} started by a policy that is not in force`);
  const allowed = action.verdict?.verdict === "approve" && action.verdict.policy === policy;
  expect(commit, allowed, "1", `${action.id} started without a verdict that approves it`);
  const said = meant(tool, action);
  expect(
    commit,
    said === "approve" || said === "unknown",
    "1",
    `${action.id} started and the policy says ${said}`,
  );
}

function checkApproved(commit: Commit, event: Event, action: SeenAction, tool: DeployedTool): void {
  const grant = event.body["grant"] as Extract<Grant, { kind: "approval" }>;
  const approval = commit.seen.approvals.get(grant.approval);
  if (approval === undefined) {
    expect(commit, false, "1", `${action.id} started by no approval`);
    return;
  }
  const { policy, nonce, approvers, decideBy, binding, stages, onTimeout, preview } = approval.question;
  const { executeBy } = approval;
  const asked = { policy, nonce, approvers, decideBy, executeBy: approval.question.executeBy };
  const more = {
    ...(stages === undefined ? {} : { stages }),
    ...(onTimeout === undefined ? {} : { onTimeout }),
    ...(preview === undefined ? {} : { preview: preview.digest }),
  };
  const bound = bindingBy(commit, action, { ...asked, ...more });
  checkShown(commit, action, approval);
  expect(
    commit,
    event.body["binding"] === bound && binding === bound,
    "1",
    `${action.id} started under another binding`,
  );
  expect(commit, approval.question.action === action.id, "1", `${action.id} started by another's approval`);
  const given = approval.status === "approved" || approval.status === "modified";
  expect(commit, given, "6", `${action.id} started by an approval that is ${approval.status}`);
  expect(commit, executeBy === null || event.at < executeBy, "6", `${action.id} started after execute_by`);
  expect(commit, policy === tool.policyDigest, "1", `${action.id} started by a policy that is not in force`);
  expect(
    commit,
    has(commit, "approval.consumed", `approval/${grant.approval}`) !== undefined,
    "5",
    `${grant.approval} was used and not consumed`,
  );
  const said = meant(tool, action);
  expect(
    commit,
    said !== "block" && said !== "revise",
    "1",
    `${action.id} started and the policy says ${said}`,
  );
  checkStanding(commit, action, approval, said);
}

function checkStanding(commit: Commit, action: SeenAction, approval: SeenApproval, said: string): void {
  const free = approval.edited && (said === "approve" || said === "unknown");
  const counted = standing(approval, commit.seen).size;
  const holds = free ? counted >= 1 : lacking(approval, commit.seen) === undefined;
  const least = free ? 1 : wantedBy(approval);
  expect(commit, holds, "7", `${action.id} started with ${counted} of ${least} people behind it`);
}

/** By what a person had permitted beforehand, in place of the one whom the policy would have asked. */
function checkGranted(commit: Commit, event: Event, action: SeenAction, tool: DeployedTool): void {
  const { grant, nonce, by } = event.body["grant"] as Extract<Grant, { kind: "standing" }>;
  const policy = tool.policyDigest;
  const isAsked = action.verdict?.verdict === "escalate" && action.verdict.policy === policy;
  expect(commit, isAsked, "1", `${action.id} started by a grant without being escalated`);
  checkCounted(commit, event, action);
  const said = meant(tool, action);
  expect(
    commit,
    said === "escalate" || said === "unknown",
    "1",
    `${action.id} started and the policy says ${said}`,
  );
  if (said === "unknown") return;
  const verdict = verdictFor(tool.policy, action.args as unknown as Args);
  const rule = verdict.verdict === "escalate" ? verdict.approvers : undefined;
  const isOne = rule?.quorum === 1 && (rule.from === null || by.every((owner) => rule.from?.includes(owner)));
  expect(commit, isOne, "19", `${action.id} asks for more than the owner of ${grant}`);
  const { executeBy, binding } = event.body;
  const terms = { policy, nonce, approvers: rule, decideBy: null, executeBy, grant };
  expect(
    commit,
    binding === bindingBy(commit, action, terms),
    "1",
    `${action.id} started under another binding`,
  );
}

/** The costs that the tool's author declares, each reserved in this commit. */
function checkCosts(commit: Commit, event: Event, action: SeenAction): void {
  const spec = specOf(commit.sim.scenario, action.tool);
  const { amount } = action.args as unknown as Args;
  const costs = event.body["costs"] as unknown as readonly ReservedCost[];
  if (costs.length > 1) count(commit.sim, "two budgets in one commit");
  if (amount !== undefined) {
    const wanted = spec?.costs.map(({ budget, perUnit }) => `${budget}:${amount * perUnit}`).join();
    const found = costs.map(({ budget, micros }) => `${budget}:${micros}`).join();
    expect(commit, wanted === found, "10", `${action.id} reserves ${found} and costs ${wanted}`);
  }
  for (const { budget, micros } of costs) {
    const reserved = commit.events.find(
      ({ type, stream, body }) =>
        type === "budget.reserved" &&
        stream === `budget/${budget}` &&
        body["effect"] === event.body["effect"],
    );
    expect(
      commit,
      reserved?.body["micros"] === micros,
      "10",
      `${action.id} started without its reservation on ${budget}`,
    );
  }
}

export function checkSwitches(commit: Commit, action: SeenAction, what: string): void {
  for (const scope of ["tenant", action.agent])
    expect(
      commit,
      !commit.seen.stopped.has(scope),
      "6",
      `${action.id} was ${what} while ${scope} is stopped`,
    );
}

function checkDedupe(commit: Commit, event: Event, action: SeenAction): void {
  const spec = specOf(commit.sim.scenario, action.tool);
  const windowMs = spec?.dedupeWindowMs ?? null;
  const { to } = action.args as unknown as Args;
  if (windowMs === null || to === undefined) return;
  for (const other of commit.seen.actions.values()) {
    const same =
      other.id !== action.id && other.tool === action.tool && (other.args as unknown as Args).to === to;
    const alive = same && ["running", "applied", "in_doubt"].includes(other.phase);
    const near = Math.abs(other.proposedAt - action.proposedAt) < windowMs;
    expect(
      commit,
      !(alive && near),
      "R2",
      `${action.id} started beside its duplicate ${other.id} at ${event.at}`,
    );
  }
}

export function checkStart(commit: Commit, event: Event, action: SeenAction): void {
  const grant = event.body["grant"] as Grant;
  const epoch = commit.seen.epochs.get(String(event.body["epoch"]));
  const tool = commit.life.tools.get(action.tool);
  expect(
    commit,
    action.phase === "open" || action.phase === "waiting",
    "2",
    `${action.id} started while ${action.phase}`,
  );
  expect(
    commit,
    epoch !== undefined && !epoch.ended,
    "6",
    `${action.id} started in an epoch that is not open`,
  );
  expect(commit, epoch?.life === commit.life, "6", `${action.id} started in the name of another process`);
  checkSwitches(commit, action, "started");
  if (tool === undefined) {
    expect(commit, false, "1", `${action.id} started without its tool`);
    return;
  }
  expect(commit, tool.schemaDigest === action.schema, "1", `${action.id} started with another schema`);
  if (grant.kind === "verdict") checkVerdict(commit, event, action, tool);
  else if (grant.kind === "standing") checkGranted(commit, event, action, tool);
  else checkApproved(commit, event, action, tool);
  checkCosts(commit, event, action);
  checkDedupe(commit, event, action);
}

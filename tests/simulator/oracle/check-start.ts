/**
 * Invariants 1, 5, 6 and 7 at the commit that lets an effect begin, and 19 and 20: what was permitted in advance, and what
 * people saw before they agreed.
 */
import type { Grant, ReservedCost } from "../../../src/effects/state.ts";
import type { GrantTerms, RecordedGrantUse } from "../../../src/grants/stream.ts";
import { digestOf } from "../../../src/kernel/canonical-json.ts";
import { count, type DeployedTool } from "../sim.ts";
import { type Args, boundInCondition, verdictFor } from "../specs.ts";
import { specOf } from "../workflow-scenario.ts";
import {
  approversStanding,
  type Commit,
  type Event,
  expect,
  has,
  lacking,
  type SeenAction,
  type SeenApproval,
  type SeenGrant,
  text,
  wantedBy,
} from "./seen.ts";

type StandingGrant = Extract<Grant, { kind: "standing" }>;
const NOT_APPLIED = ["effect.not_applied", "effect.resolved"];

const spentOf = ({ used }: SeenGrant): bigint => [...used.values()].reduce((sum, one) => sum + one, 0n);

function checkTerms(commit: Commit, event: Event, grant: SeenGrant, action: SeenAction): void {
  const { terms } = grant;
  const { amount } = action.args as unknown as Args;
  const holds = (right: boolean, why: string) =>
    expect(commit, right, "19", `${action.id} was let through by ${event.id}, ${why}`);
  holds(!grant.revoked, "which was revoked");
  holds(event.at < terms.expiresAt, "which was over");
  holds(grant.used.size <= terms.uses, "which was used up");
  holds(terms.limit === null || spentOf(grant) <= BigInt(terms.limit.micros), "whose total was used up");
  holds(terms.tool === action.tool && terms.schema === action.schema, "which is for another tool");
  holds(terms.agent === null || terms.agent === action.agent, "which is for another agent");
  holds(!action.requester.includes(terms.by), "which is the requester's own");
  holds(!commit.seen.suspended.has(terms.by), "whose owner is suspended");
  if (amount === undefined) return;
  holds(terms.when === null || amount <= boundInCondition(terms.when), "which does not cover its arguments");
}

function checkGrantUse(commit: Commit, event: Event, grant: SeenGrant): void {
  const { action: id, effect, amount } = event.body as unknown as RecordedGrantUse;
  const action = commit.seen.actions.get(id);
  const start = has(commit, "effect.started", `action/${id}`);
  const permit = start?.body["grant"] as Grant | undefined;
  const isOwn = permit?.kind === "standing" && permit.grant === event.id && start?.body["effect"] === effect;
  expect(commit, isOwn, "19", `${event.id} was used without an effect that started by it`);
  expect(commit, !grant.used.has(effect), "19", `${effect} used ${event.id} twice`);
  grant.used.set(effect, BigInt(amount?.micros ?? 0));
  if (action === undefined) return;
  const { amount: units } = action.args as unknown as Args;
  const right =
    grant.terms.limit === null ||
    units === undefined ||
    BigInt(units) * 1_000_000n === grant.used.get(effect);
  expect(commit, right, "19", `${effect} is booked on ${event.id} with a wrong amount`);
  checkTerms(commit, event, grant, action);
}

function checkReturn(commit: Commit, event: Event, grant: SeenGrant): void {
  const { action, effect } = event.body as unknown as RecordedGrantUse;
  const outcome = commit.events.find(
    ({ type, stream }) => stream === `action/${action}` && NOT_APPLIED.includes(type),
  );
  const isCertain = outcome?.type === "effect.not_applied" || outcome?.body["status"] === "not_applied";
  expect(commit, isCertain, "19", `${effect} was given back to ${event.id} without certainty`);
  expect(commit, grant.used.delete(effect), "19", `${effect} was given back to ${event.id} and not used`);
}

export function checkGrant(commit: Commit, event: Event): void {
  const { grants, suspended } = commit.seen;
  if (event.type === "grant.given") {
    const terms = event.body as unknown as GrantTerms;
    expect(commit, !grants.has(event.id), "19", `${event.id} was given twice`);
    expect(commit, !suspended.has(terms.by), "19", `${event.id} was given by ${terms.by}, who is suspended`);
    grants.set(event.id, { terms, used: new Map(), revoked: false });
    return;
  }
  const grant = grants.get(event.id);
  if (grant === undefined) {
    expect(commit, false, "19", `${event.type} before ${event.id} was given`);
    return;
  }
  if (event.type === "grant.used") checkGrantUse(commit, event, grant);
  else if (event.type === "grant.returned") checkReturn(commit, event, grant);
  else {
    expect(
      commit,
      !suspended.has(text(event.body["by"])),
      "19",
      `${event.id} was revoked by a suspended person`,
    );
    grant.revoked = true;
  }
}

/** A start by a grant is counted in its own commit. */
function checkCounted(commit: Commit, event: Event, action: SeenAction): void {
  const { grant } = event.body["grant"] as StandingGrant;
  const use = has(commit, "grant.used", `grant/${grant}`);
  expect(
    commit,
    use?.body["effect"] === event.body["effect"],
    "19",
    `${action.id} started by ${grant} and that was not counted`,
  );
  const owner = commit.seen.grants.get(grant)?.terms.by;
  const { by } = event.body["grant"] as StandingGrant;
  expect(commit, by.join() === owner, "19", `${action.id} names ${by.join()} as the owner of ${grant}`);
}

/** At the end of a commit: uses that stand are of effects that did something, or may have. */
export function checkUses({ sim, seen }: Pick<Commit, "sim" | "seen">): void {
  for (const [id, { used }] of seen.grants)
    for (const effect of used.keys()) {
      const phase = seen.actions.get(effect.replace(/^eff_/, "act_"))?.phase;
      expect({ sim }, phase !== "not_applied", "19", `${id} still counts ${effect}, which did nothing`);
    }
}

/**
 * What was shown to people is what the tool showed after they had agreed. A process that takes up an action twice looks
 * twice: the start is by one of the two, and the preview may move between them.
 */
function checkShown(commit: Commit, action: SeenAction, approval: SeenApproval): void {
  const { sim, life } = commit;
  const { preview } = approval.question;
  const isPreviewed = sim.scenario.beforehand.previewed.has(action.tool);
  expect(
    commit,
    isPreviewed === (preview !== undefined),
    "20",
    `${action.id} was asked about without its preview`,
  );
  if (preview === undefined) return;
  const looks = sim.world.previews.get(`${life.number}/${action.id}`) ?? [];
  const fresh = looks.filter(({ at }) => at >= approval.decidedAt);
  const held = fresh.some(({ digest }) => digest === preview.digest);
  expect(commit, fresh.length > 0, "20", `${action.id} started and nobody looked at its preview again`);
  expect(commit, held, "20", `${action.id} started and its preview had moved`);
  count(sim, "preview held");
}

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
  const counted = approversStanding(approval, commit.seen).size;
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

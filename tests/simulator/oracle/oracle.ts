/**
 * Watches every commit, send and answer. It reads raw events and the world; it never calls the rules it checks.
 * Invariant 9: what somebody was told is what the journal holds, and stays so.
 */
import type { Answer } from "../../../src/effects/answer.ts";
import { canonicalJson } from "../../../src/kernel/canonical-json.ts";
import type { Json } from "../../../src/kernel/json.ts";
import { streamName } from "../../../src/kernel/stream.ts";
import {
  type Acknowledged,
  type Ballot,
  CANARY,
  count,
  type Oracle,
  type Sim,
  type SimProcess,
  type Voted,
} from "../sim.ts";
import { checkAction, checkApplied, checkSent } from "./check-action.ts";
import { checkApproval, checkQuorum } from "./check-approval.ts";
import { checkTampering, checkWhole, readEntry } from "./check-journal.ts";
import { checkBudget, checkEpoch, checkReservations, checkRoster, checkSwitch } from "./check-limits.ts";
import { checkBooks, checkLiveness, checkRest, isRestless } from "./check-rest.ts";
import { checkGrant, checkUses } from "./check-start.ts";
import { checkAsked, checkFlow, checkHeard } from "./check-workflow.ts";
import {
  type Commit,
  type Event,
  emptyTenant,
  expect,
  type Phase,
  type SeenFlow,
  type SeenTenant,
} from "./seen.ts";

function phasesFor(answer: Answer<Json>): readonly Phase[] {
  if (answer.status === "done") return ["applied"];
  if (answer.status === "in_doubt") return ["in_doubt", "applied", "not_applied"];
  if (answer.code === "not_applied") return ["not_applied"];
  return answer.retry
    ? ["open", "waiting", "running", "applied", "not_applied", "in_doubt", "refused"]
    : ["refused"];
}

function checkAnswer(
  sim: Sim,
  seen: SeenTenant,
  requestId: string | null,
  answer: Answer<Json>,
): "again" | "done" {
  const phase = seen.actions.get(answer.action)?.phase;
  const fits = phase !== undefined && phasesFor(answer).includes(phase);
  expect({ sim }, fits, "9", `${answer.action} was answered ${JSON.stringify(answer)} and is ${phase}`);
  const said = canonicalJson(answer);
  expect({ sim }, !said.includes(CANARY), "14", `the answer of ${answer.action} holds a secret`);
  const final = answer.status === "done" || ("code" in answer && !answer.retry);
  if (requestId !== null) {
    const own = seen.requests.get(requestId) === answer.action;
    expect({ sim }, own, "R1", `${requestId} was answered with another action`);
  }
  if (!final) return "again";
  if (requestId !== null) {
    const before = seen.answers.get(requestId);
    if (before !== undefined) count(sim, "call answered by the journal");
    expect(
      { sim },
      before === undefined || before === said,
      "9",
      `${requestId} got another answer than before: ${before} and then ${said}`,
    );
    seen.answers.set(requestId, said);
  }
  return "done";
}

/** `votes` holds every vote ever written, as `approval/person/decision/binding`. */
function checkVoted(sim: Sim, votes: ReadonlySet<string>, ballot: Ballot, answer: Voted): void {
  if (ballot.edit !== undefined || answer.kind !== "recorded") return;
  const { approval, by, decision, binding } = ballot;
  const name = `${approval}/${by}/${decision}/`;
  const kept = [...votes].filter((vote) => vote.startsWith(name));
  expect({ sim }, kept.length > 0, "9", `${by}'s vote on ${approval} was acknowledged and is lost`);
  const stale = binding !== null && kept.length > 0 && !kept.includes(name + binding);
  expect({ sim }, !stale, "1", `${by} voted on ${approval} as it was before`);
}

const WHOLE_EVERY_COMMITS = 50;

const CHECKS: { readonly [kind: string]: (commit: Commit, event: Event) => void } = {
  action: checkAction,
  approval: checkApproval,
  budget: checkBudget,
  grant: checkGrant,
  switch: checkSwitch,
  roster: checkRoster,
  epoch: checkEpoch,
  workflow: checkFlow,
};

function checkCommit(commit: Commit): void {
  for (const event of commit.events) {
    count(commit.sim, event.type);
    const at = event.body["by"] === undefined ? "" : ` by ${String(event.body["by"])}`;
    commit.sim.trace?.(`${event.tenant} ${event.stream} ${event.seq} ${event.type}${at}`);
    CHECKS[event.stream.slice(0, event.stream.indexOf("/"))]?.(commit, event);
  }
  for (const event of commit.events) {
    checkQuorum(commit, event);
    checkAsked(commit, event);
  }
  checkReservations(commit);
  checkUses(commit);
}

type Memory = {
  readonly sim: Sim;
  readonly tenants: Map<string, SeenTenant>;
  /** Every vote ever written, as `approval/person/decision/binding`. */
  readonly votes: Set<string>;
  /** Every turn of a switch and change of standing ever written. */
  readonly facts: Set<string>;
  commits: number;
};

function seenOf({ tenants }: Memory, tenant: string): SeenTenant {
  const seen = tenants.get(tenant) ?? emptyTenant(tenant);
  tenants.set(tenant, seen);
  return seen;
}

function remember({ votes, facts }: Memory, { type, id, body }: Event): void {
  if (type === "approval.voted") votes.add([id, body["by"], body["decision"], body["binding"]].join("/"));
  if (type.startsWith("switch.")) facts.add(`${type} ${id}`);
  if (type.startsWith("person.")) facts.add(`${type} ${String(body["person"])}`);
}

function observe(memory: Memory, life: SimProcess): void {
  const { sim } = memory;
  for (const [tenant, kept] of sim.database.data.tenants) {
    const seen = seenOf(memory, tenant);
    if (kept.log.length === seen.logged) continue;
    const fresh = kept.log.slice(seen.logged);
    seen.logged = kept.log.length;
    expect({ sim }, life.tenant === tenant, "13", `a process of ${life.tenant} wrote to ${tenant}`);
    const events = fresh.map((entry) => readEntry(sim, seen, entry));
    for (const event of events) remember(memory, event);
    checkCommit({ sim, seen, life, events });
    if (++memory.commits % WHOLE_EVERY_COMMITS === 0) checkWhole(sim);
  }
}

function checkAcknowledged({ sim, facts }: Memory, what: Acknowledged): void {
  const isSwitch = what.kind === "switch";
  if (isSwitch ? !what.stop : !what.suspend) return;
  const fact = isSwitch ? `switch.stopped ${what.scope}` : `person.suspended ${what.person}`;
  expect({ sim }, facts.has(fact), "9", `${fact} was acknowledged and is lost`);
}

function checkAll({ sim, tenants }: Memory): void {
  checkWhole(sim);
  checkTampering(sim);
  for (const seen of tenants.values()) {
    checkLiveness(sim, seen);
    checkRest(sim, seen);
    checkBooks(sim, seen);
    checkReservations({ sim, seen });
  }
}

const isUnfit = ({ end, waits }: SeenFlow): boolean =>
  end === null && waits.some(({ kind }) => kind === "definition");

const restlessIn = (flows: SeenTenant["flows"]): readonly string[] =>
  [...flows.values()].filter(isRestless).map(({ id }) => id);

/** A request id leads to one workflow for ever. */
function checkBegun(memory: Memory, tenant: string, requestId: string, workflow: string): void {
  const { flows, answers } = seenOf(memory, tenant);
  const before = answers.get(requestId) ?? workflow;
  expect(memory, flows.has(workflow), "9", `${workflow} was said to be started and is not there`);
  expect(memory, before === workflow, "R1", `${requestId} led to ${before} and leads to ${workflow}`);
  answers.set(requestId, workflow);
}

export function createOracle(sim: Sim): Oracle {
  const memory: Memory = { sim, tenants: new Map(), votes: new Set(), facts: new Set(), commits: 0 };
  const seen = (tenant: string): SeenTenant => seenOf(memory, tenant);
  return {
    observe: (life) => observe(memory, life),
    asked: (life, tenant) =>
      expect({ sim }, life.tenant === tenant, "13", `a process of ${life.tenant} asked about ${tenant}`),
    listed(tenant, rows) {
      const { heads } = seen(tenant);
      for (const { stream } of rows)
        expect(
          { sim },
          heads.has(streamName(stream)),
          "13",
          `a list of ${tenant} shows ${stream.id} of another`,
        );
    },
    sent: (life, spec, send) => checkSent(sim, seen(life.tenant), { spec, send, life }),
    applied: (spec, send) => checkApplied(sim, seen(sim.lives[send.life]?.tenant ?? ""), spec, send),
    answered: (tenant, requestId, answer) => checkAnswer(sim, seen(tenant), requestId, answer),
    voted: (ballot, answer) => checkVoted(sim, memory.votes, ballot, answer),
    acknowledged: (what) => checkAcknowledged(memory, what),
    knows: (tenant, requestId) => requestId !== null && seen(tenant).requests.has(requestId),
    bindingOf: (tenant, approval) => seen(tenant).approvals.get(approval)?.question.binding,
    isSuspended: (tenant, person) => seen(tenant).suspended.has(person),
    heard: (heard) => checkHeard(sim, seen(heard.tenant), heard),
    begun: (tenant, requestId, workflow) => checkBegun(memory, tenant, requestId, workflow),
    finished: (tenant, { workflow, status }) =>
      expect(
        { sim },
        seen(tenant).flows.get(workflow)?.end?.status === status,
        "9",
        `${workflow} is not ${status}`,
      ),
    restless: () => [...memory.tenants.values()].flatMap(({ flows }) => restlessIn(flows)),
    unfit: (tenant) => [...seenOf(memory, tenant).flows.values()].filter(isUnfit).map(({ id }) => id),
    end: () => checkAll(memory),
  };
}

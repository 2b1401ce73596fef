/**
 * Approvers: prompt, late, at the last millisecond, twice, two at once, on what they saw an hour ago. Members of a group
 * come and go, and people have others decide in their place.
 */

import { castVote } from "../../src/approvals/decide.ts";
import type { LiveApproval } from "../../src/approvals/state.ts";
import { approvalVerbs } from "../../src/approvals/verbs.ts";
import { isHoldpointError } from "../../src/kernel/errors.ts";
import type { Json, JsonObject } from "../../src/kernel/json.ts";
import { approvalStream, ROSTER } from "../../src/kernel/stream.ts";
import { decideMember } from "../../src/people/stream.ts";
import { readState, runCommand } from "../../src/runtime/store-access.ts";
import { handleTopError } from "./nodes.ts";
import { GROUP } from "./scenario.ts";
import { aliveIn, type Ballot, count, databaseTime, runOnProcess, type Sim, type SimProcess } from "./sim.ts";
import { MOST } from "./specs.ts";

type ReceivedQuestion = Sim["told"][number];

const REFUSALS = ["decision_conflict", "not_eligible", "edit_refused"] as const;

async function lookAt(life: SimProcess, question: ReceivedQuestion): Promise<LiveApproval | undefined> {
  const said = await runOnProcess(life, () => readState(life.runtime, approvalStream(question.approval)));
  return said.kind === "value" && said.value.status !== "none" ? said.value : undefined;
}

async function cast(sim: Sim, life: SimProcess, ballot: Ballot): Promise<void> {
  const current = sim.oracle.bindingOf(life.tenant, ballot.approval);
  if (ballot.binding !== null && ballot.binding !== current) count(sim, "vote on a stale binding");
  const said = await runOnProcess(life, () => castVote(life.runtime, ballot));
  if (said.kind === "value") sim.oracle.voted(ballot, said.value);
  if (said.kind === "error" && !REFUSALS.some((code) => isHoldpointError(said.error, code)))
    handleTopError(sim, life, "of a vote", said.error);
}

/** Another amount. What a compensation undoes stands one level down. */
function editOf({ random }: Sim, args: JsonObject): Json | undefined {
  const inner = "result" in args ? (args["args"] as JsonObject) : args;
  const amount = random.chance(0.1) ? (inner["amount"] as Json) : random.int(MOST + 5);
  if ("$artifact" in args) return undefined;
  const edited = { ...inner, amount };
  return "result" in args ? { ...args, args: edited } : edited;
}

function drawBallot(
  sim: Sim,
  question: ReceivedQuestion,
  seen: LiveApproval | undefined,
  yes: number,
): Ballot {
  const { random, scenario } = sim;
  const by = random.pick(scenario.people);
  if (seen?.requester.includes(by) === true) count(sim, "requester votes");
  if (sim.oracle.isSuspended(question.tenant, by)) count(sim, "suspended person votes");
  const edits = seen !== undefined && random.chance(scenario.byAmount ? 0.4 : 0.15);
  const decision = edits || random.chance(yes) ? "approve" : "reject";
  const isAboutFlow = seen?.subject !== undefined;
  const base = {
    approval: question.approval,
    by,
    decision,
    note: random.chance(0.3) ? "fine" : null,
  } as const;
  const binding = seen !== undefined && random.chance(0.6) ? seen.binding : null;
  const final = isAboutFlow && decision === "reject" && random.chance(0.2) ? { isFinal: true } : {};
  if (!edits) return { ...base, ...final, binding, via: random.pick(["cli", "web"]), edit: undefined };
  count(sim, "edit");
  return { ...base, binding, via: "web", edit: editOf(sim, seen.args as JsonObject) };
}

const MOST_ROUNDS = 4;

/** Where there are stages, people hear of the next one. */
async function tellNext(sim: Sim, life: SimProcess, question: ReceivedQuestion): Promise<void> {
  const round = (question.round ?? 0) + 1;
  if (!(sim.scenario.staged || sim.scenario.desk) || round > MOST_ROUNDS || !sim.random.chance(0.6)) return;
  const now = await lookAt(life, question);
  if (now?.status === "pending") sim.told.push({ ...question, decideBy: now.decideBy, round });
}

/** When the decision is made: soon, at leisure, or as close to the deadline as a person can get. */
function drawDelay(sim: Sim, question: ReceivedQuestion): number {
  const { random } = sim;
  if (question.decideBy !== null && random.chance(0.45)) {
    const left = question.decideBy - databaseTime(sim) - sim.scenario.latencyMs * 0.5;
    return Math.min(20_000, Math.max(0, left + random.pick([-1, 0, 1, 2])));
  }
  return random.chance(0.5) ? random.between(0, 300) : random.between(0, 10_000);
}

async function vote(sim: Sim, question: ReceivedQuestion, yes: number, delay: number): Promise<void> {
  const { random, scheduler } = sim;
  sim.busy++;
  const early = random.pick(aliveIn(sim, question.tenant));
  const looks = early !== undefined && random.chance(0.7);
  const before = looks && random.chance(0.5) ? await lookAt(early, question) : undefined;
  await scheduler.sleep(delay);
  const life = random.pick(aliveIn(sim, question.tenant));
  if (life !== undefined) {
    const seen = before ?? (looks && delay > 50 ? await lookAt(life, question) : undefined);
    const ballot = drawBallot(sim, question, seen, yes);
    const twice = random.chance(0.12);
    if (twice) count(sim, "one person, two channels");
    await Promise.all([
      cast(sim, life, ballot),
      twice
        ? cast(sim, random.pick(aliveIn(sim, question.tenant)) ?? life, { ...ballot, via: "phone" })
        : null,
    ]);
    await tellNext(sim, life, question);
  }
  sim.busy--;
}

/** Everybody whom a notice reached, each with a mind of their own. */
export function answerNotices(sim: Sim): void {
  for (const question of sim.told.splice(0)) {
    if (!sim.peopleListen) continue;
    const { random, scenario } = sim;
    const voters = random.pick([0, 1, 1, 2, 3, 4]);
    const yes = random.pick([0.98, 0.98, 0.98, 0.7, 0.2]);
    const together = random.chance(0.3) ? drawDelay(sim, question) : undefined;
    if (together !== undefined && voters > 1) count(sim, "two votes at once");
    for (let voter = 0; voter < voters; voter++) {
      const delay =
        together === undefined ? drawDelay(sim, question) : together + random.int(scenario.latencyMs);
      void vote(sim, question, yes, delay);
    }
  }
}

async function placeMember(sim: Sim, life: SimProcess, person: string, isIn: boolean): Promise<void> {
  const member = { name: person, mail: null, roles: [], groups: isIn ? [GROUP] : [] };
  const command = { person, member, by: "person:operator" };
  const said = await runOnProcess(life, () =>
    runCommand(life.runtime, { write: [ROSTER] }, (draft) =>
      draft.append(ROSTER, decideMember(draft.state(ROSTER), command)),
    ),
  );
  if (said.kind === "error") handleTopError(sim, life, "of the roster", said.error);
}

/** Most of them, before anybody is asked. */
export async function staffDesk(sim: Sim): Promise<void> {
  for (const tenant of sim.scenario.tenants)
    for (const person of sim.scenario.people) {
      const [life] = aliveIn(sim, tenant);
      if (life !== undefined && sim.random.chance(0.85)) await placeMember(sim, life, person, true);
    }
}

/** In the end everybody is back. */
export async function restaffDesk(sim: Sim, life: SimProcess): Promise<void> {
  const { desk, people } = sim.scenario;
  for (const person of desk ? people : []) await placeMember(sim, life, person, true);
}

async function waitingIn(life: SimProcess): Promise<readonly (LiveApproval & { readonly id: string })[]> {
  const said = await runOnProcess(life, async () => {
    const query = { view: "approvals", bucket: "pending", limit: 20 };
    const rows = await life.runtime.store.query(life.tenant, query);
    const states = rows.map(async ({ stream: { id } }) => ({
      ...(await readState(life.runtime, approvalStream(id))),
      id,
    }));
    return Promise.all(states);
  });
  return said.kind === "value" ? said.value.flatMap((one) => (one.status === "pending" ? [one] : [])) : [];
}

/** Rather somebody who has voted than anybody. */
export async function moveMember(sim: Sim, life: SimProcess): Promise<void> {
  const { random, scenario, scheduler } = sim;
  const voters = (await waitingIn(life)).flatMap(({ votes }) => votes.map(({ by }) => by));
  const person = random.pick(voters.length === 0 ? scenario.people : voters);
  await placeMember(sim, life, person, false);
  await scheduler.sleep(random.between(200, 8_000));
  const other = random.pick(aliveIn(sim, life.tenant));
  if (other !== undefined) await placeMember(sim, other, person, true);
}

const DELEGATION_REFUSALS = ["not_eligible", "wrong_state"] as const;

type Delegation = { readonly by: string; readonly to: string };

async function delegate({ runtime }: SimProcess, id: string, { by, to }: Delegation): Promise<void> {
  await approvalVerbs.verbs.delegate.perform({ runtime, how: {} }, { id, by, to, reason: "away" });
}

async function takeBack({ runtime }: SimProcess, id: string, by: string): Promise<void> {
  await approvalVerbs.verbs.takeBack.perform({ runtime, how: {} }, { id, by, reason: "back" });
}

/** Some have hardly given their seat away when they want it back. */
async function delegateOne(sim: Sim, life: SimProcess, { id, delegations }: WaitingApproval): Promise<void> {
  const { random, scenario } = sim;
  const given = random.chance(0.75) ? delegations.at(-1)?.by : undefined;
  const [by, to] = [random.pick(scenario.people), random.pick([...scenario.people, "person:stranger"])];
  const said = await runOnProcess(life, () =>
    given === undefined ? delegate(life, id, { by, to }) : takeBack(life, id, given),
  );
  if (said.kind === "error" && !DELEGATION_REFUSALS.some((code) => isHoldpointError(said.error, code)))
    handleTopError(sim, life, "of a delegation", said.error);
  if (said.kind === "value" && given === undefined && random.chance(0.5)) await handBack(sim, life, id, by);
}

async function handBack(sim: Sim, life: SimProcess, id: string, by: string): Promise<void> {
  const said = await runOnProcess(life, () => takeBack(life, id, by));
  if (said.kind === "error" && !DELEGATION_REFUSALS.some((code) => isHoldpointError(said.error, code)))
    handleTopError(sim, life, "of a delegation", said.error);
}

type WaitingApproval = Awaited<ReturnType<typeof waitingIn>>[number];

/** A few at a time, and now and then people hear of it again. */
export async function delegateSome(sim: Sim, life: SimProcess): Promise<void> {
  for (const one of (await waitingIn(life)).slice(0, 6)) {
    await delegateOne(sim, life, one);
    if (sim.random.chance(0.6))
      sim.told.push({ tenant: life.tenant, approval: one.id, decideBy: null, round: 1 });
  }
}

/** Approvers: prompt, late, at the last millisecond, twice, two at once, on what they saw an hour ago. */

import { castVote } from "../../approvals/decide.ts";
import type { LiveApproval } from "../../approvals/state.ts";
import { readState } from "../../engine/read-state.ts";
import { isHoldpointError } from "../../kernel/errors.ts";
import type { Json, JsonObject } from "../../kernel/json.ts";
import { approvalStream } from "../../kernel/stream.ts";
import { meet } from "./nodes.ts";
import { aliveIn, type Ballot, count, databaseTime, type Life, onLife, type Sim } from "./sim.ts";
import { MOST } from "./tool-spec.ts";

type Question = Sim["told"][number];

const REFUSALS = ["decision_conflict", "not_eligible", "edit_refused"] as const;

async function lookAt(life: Life, question: Question): Promise<LiveApproval | undefined> {
  const said = await onLife(life, () => readState(life.runtime, approvalStream(question.approval)));
  return said.kind === "value" && said.value.status !== "none" ? said.value : undefined;
}

async function cast(sim: Sim, life: Life, ballot: Ballot): Promise<void> {
  const current = sim.oracle.bindingOf(life.tenant, ballot.approval);
  if (ballot.binding !== null && ballot.binding !== current) count(sim, "vote on a stale binding");
  const said = await onLife(life, () => castVote(life.runtime, ballot));
  if (said.kind === "value") sim.oracle.voted(ballot, said.value);
  if (said.kind === "error" && !REFUSALS.some((code) => isHoldpointError(said.error, code)))
    meet(sim, life, "of a vote", said.error);
}

/** Another amount. What a compensation undoes stands one level down. */
function editOf({ random }: Sim, args: JsonObject): Json | undefined {
  const inner = "result" in args ? (args["args"] as JsonObject) : args;
  const amount = random.chance(0.1) ? (inner["amount"] as Json) : random.int(MOST + 5);
  if ("$artifact" in args) return undefined;
  const edited = { ...inner, amount };
  return "result" in args ? { ...args, args: edited } : edited;
}

function drawBallot(sim: Sim, question: Question, seen: LiveApproval | undefined, yes: number): Ballot {
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
async function tellNext(sim: Sim, life: Life, question: Question): Promise<void> {
  const round = (question.round ?? 0) + 1;
  if (!(sim.scenario.staged || sim.scenario.desk) || round > MOST_ROUNDS || !sim.random.chance(0.6)) return;
  const now = await lookAt(life, question);
  if (now?.status === "pending") sim.told.push({ ...question, decideBy: now.decideBy, round });
}

/** When the decision is made: soon, at leisure, or as close to the deadline as a person can get. */
function drawDelay(sim: Sim, question: Question): number {
  const { random } = sim;
  if (question.decideBy !== null && random.chance(0.45)) {
    const left = question.decideBy - databaseTime(sim) - sim.scenario.latencyMs * 0.5;
    return Math.min(20_000, Math.max(0, left + random.pick([-1, 0, 1, 2])));
  }
  return random.chance(0.5) ? random.between(0, 300) : random.between(0, 10_000);
}

async function vote(sim: Sim, question: Question, yes: number, delay: number): Promise<void> {
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

/** Invariant 9: what somebody was told is what the journal holds, and stays so. */

import type { Answer } from "../../../engine/answer.ts";
import { canonicalJson } from "../../../kernel/canonical-json.ts";
import type { Json } from "../../../kernel/json.ts";
import { type Ballot, CANARY, count, type Sim, type Voted } from "../sim.ts";
import { expect, type Phase, type SeenTenant } from "./seen.ts";

function phasesFor(answer: Answer<Json>): readonly Phase[] {
  if (answer.executed === true) return ["applied"];
  if (answer.executed === "in_doubt") return ["in_doubt", "applied", "not_applied"];
  if (answer.code === "not_applied") return ["not_applied"];
  return answer.retry
    ? ["open", "waiting", "running", "applied", "not_applied", "in_doubt", "refused"]
    : ["refused"];
}

export function checkAnswer(
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
  const final = answer.executed === true || (answer.executed === false && !answer.retry);
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
export function checkVoted(sim: Sim, votes: ReadonlySet<string>, ballot: Ballot, answer: Voted): void {
  if (ballot.edit !== undefined || answer.kind !== "recorded") return;
  const { approval, by, decision, binding } = ballot;
  const name = `${approval}/${by}/${decision}/`;
  const kept = [...votes].filter((vote) => vote.startsWith(name));
  expect({ sim }, kept.length > 0, "9", `${by}'s vote on ${approval} was acknowledged and is lost`);
  const stale = binding !== null && kept.length > 0 && !kept.includes(name + binding);
  expect({ sim }, !stale, "1", `${by} voted on ${approval} as it was before`);
}

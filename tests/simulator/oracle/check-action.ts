/**
 * The life of an action as its raw events tell it, against the world: invariants 1 to 4 and 6. Invariants 1 to 3 also seen
 * from outside: what was sent, what was applied, and what the journal makes of it.
 */

import type { Grant, ReservedCost, Within } from "../../../src/effects/state.ts";

import { digestOf } from "../../../src/kernel/canonical-json.ts";
import type { Json } from "../../../src/kernel/json.ts";
import { artifactHash, isArtifactRef } from "../../../src/kernel/stored-value.ts";
import { count, databaseTime, type Send, type Sim, type SimProcess } from "../sim.ts";
import type { ToolSpec } from "../specs.ts";
import { specOf } from "../workflow-scenario.ts";
import { checkStart, checkSwitches } from "./check-start.ts";
import { checkPlace } from "./check-workflow.ts";
import {
  type Commit,
  type Event,
  expect,
  type Phase,
  type SeenAction,
  type SeenTenant,
  text,
} from "./seen.ts";

const effectOf = (action: SeenAction): string => action.id.replace(/^act_/, "eff_");
const SENT_AGAIN = ["read", "idempotent", "keyed"];

function digest(args: Json): string {
  return isArtifactRef(args) ? artifactHash(args) : digestOf(args);
}

function propose(commit: Commit, event: Event): void {
  const { tool, effectClass, schema, args, argsDigest, agent, requester, requestId, within } = event.body;
  const { seen } = commit;
  expect(commit, digest(args as Json) === argsDigest, "1", `${event.id} has a wrong digest`);
  if (typeof requestId === "string") {
    expect(commit, !seen.requests.has(requestId), "R1", `${requestId} names two actions`);
    seen.requests.set(requestId, event.id);
  }
  seen.actions.set(event.id, {
    id: event.id,
    tool: text(tool),
    effectClass: text(effectClass),
    schema: text(schema),
    agent: text(agent),
    requester: requester as readonly string[],
    requestId: requestId as string | null,
    within: (within ?? null) as Within | null,
    proposedAt: event.at,
    args: args as Json,
    argsDigest: text(argsDigest),
    phase: "open",
    held: null,
    approval: null,
    verdict: null,
    epoch: "",
    attempt: 0,
    startedAt: 0,
    doubtAt: 0,
    executeBy: null,
    costs: [],
    grant: null,
  });
}

function start(commit: Commit, event: Event, action: SeenAction): void {
  checkStart(commit, event, action);
  checkPlace(commit, event, action);
  const { epoch, executeBy, costs, effect, grant } = event.body;
  expect(commit, effect === effectOf(action), "2", `${action.id} has the effect ${text(effect)}`);
  Object.assign(action, {
    phase: "running",
    held: null,
    epoch: text(epoch),
    attempt: 1,
    startedAt: event.at,
    executeBy: executeBy as number | null,
    costs: costs as unknown as readonly ReservedCost[],
    grant: grant as Grant,
  });
}

function retry(commit: Commit, event: Event, action: SeenAction): void {
  const { seen, sim } = commit;
  const spec = specOf(sim.scenario, action.tool);
  const next = text(event.body["epoch"]);
  expect(commit, action.phase === "running", "2", `${action.id} was sent again while ${action.phase}`);
  expect(
    commit,
    SENT_AGAIN.includes(action.effectClass),
    "2",
    `${action.id} is ${action.effectClass} and was sent again`,
  );
  const own = seen.epochs.get(action.epoch);
  expect(
    commit,
    next === action.epoch || own?.ended === true,
    "2",
    `${action.id} was taken from an epoch that lives`,
  );
  const taker = seen.epochs.get(next);
  expect(
    commit,
    taker?.ended === false && taker.life === commit.life,
    "6",
    `${action.id} was taken by no open epoch`,
  );
  checkSwitches(commit, action, "sent again");
  if (action.effectClass !== "read")
    expect(
      commit,
      action.executeBy === null || event.at < action.executeBy,
      "6",
      `${action.id} was sent again after execute_by`,
    );
  const forgotten =
    action.effectClass === "keyed" && event.at >= action.startedAt + (spec?.keyRetentionMs ?? 0);
  expect(commit, !forgotten, "2", `${action.id} was sent again after its key may be forgotten`);
  action.epoch = next;
  action.attempt++;
}

function checkTruth(commit: Commit, action: SeenAction, status: "applied" | "not_applied"): void {
  const { world } = commit.sim;
  const done = action.effectClass === "read" ? world.sends : world.applied;
  const key = world.keyOf.get(action.id) ?? "";
  const happened = (done.get(key)?.length ?? 0) > 0;
  if (status === "applied") {
    expect(commit, happened, "4", `${action.id} is said to be applied and is not`);
  } else if (action.effectClass !== "read") {
    expect(commit, !happened, "3", `${action.id} is said not to be applied and is`);
    const flying = (world.inFlight.get(key) ?? 0) > 0;
    expect(commit, !flying, "3", `${action.id} is said not to be applied while it is under way`);
  }
}

function settle(commit: Commit, event: Event, action: SeenAction): void {
  const isResolved = event.type === "effect.resolved";
  const status = isResolved ? text(event.body["status"]) : event.type.slice("effect.".length);
  const from: Phase = isResolved ? "in_doubt" : "running";
  expect(commit, action.phase === from, "3", `${event.type} met ${action.id}, which is ${action.phase}`);
  if (status === "applied" || status === "not_applied") checkTruth(commit, action, status);
  if (isResolved) checkResolved(commit, event, action);
  else if (status !== "in_doubt") checkWriter(commit, event, action);
  action.phase = status as Phase;
  if (status === "in_doubt") action.doubtAt = event.at;
}

/** Only the epoch that holds the attempt writes its outcome, and only while it lives. */
function checkWriter(commit: Commit, event: Event, action: SeenAction): void {
  const epoch = commit.seen.epochs.get(action.epoch);
  const own = event.body["epoch"] === action.epoch && event.body["attempt"] === action.attempt;
  expect(
    commit,
    own && epoch?.life === commit.life,
    "3",
    `${action.id}'s outcome was written by somebody else`,
  );
  expect(commit, epoch?.ended === false, "3", `${action.id}'s outcome was written by an epoch that ended`);
}

function checkResolved(commit: Commit, event: Event, action: SeenAction): void {
  const { by, status } = event.body;
  const spec = specOf(commit.sim.scenario, action.tool);
  count(commit.sim, by === "probe" ? "resolved by a probe" : "resolved by a person");
  const final = event.at >= action.doubtAt + (spec?.finalityMs ?? 0);
  if (by === "probe")
    expect(commit, status === "applied" || final, "3", `${action.id} was believed before its finality`);
  else expect(commit, text(by).startsWith("person:"), "3", `${text(by)} resolved ${action.id}`);
}

export function checkAction(commit: Commit, event: Event): void {
  if (event.type === "action.proposed") {
    propose(commit, event);
    return;
  }
  const action = commit.seen.actions.get(event.id);
  if (action === undefined) {
    expect(commit, false, "8", `${event.type} before ${event.id} was proposed`);
    return;
  }
  const undecided = action.phase === "open" || action.phase === "waiting";
  switch (event.type) {
    case "action.revised":
      action.args = event.body["args"] as Json;
      action.argsDigest = text(event.body["argsDigest"]);
      expect(commit, digest(action.args) === action.argsDigest, "1", `${event.id} has a wrong digest`);
      expect(commit, undecided, "1", `${event.id} was revised while ${action.phase}`);
      return;
    case "action.reviewed": {
      const { verdict, policy, approval } = event.body;
      action.verdict = { verdict: text(verdict), policy: text(policy) };
      action.approval = approval as string | null;
      action.phase = approval === null ? "open" : "waiting";
      action.held = null;
      return;
    }
    case "action.held":
      action.held = text(event.body["code"]);
      return;
    case "action.refused":
      expect(commit, undecided, "6", `${event.id} was refused while ${action.phase}`);
      action.phase = "refused";
      count(commit.sim, `refused: ${text(event.body["code"])}`);
      return;
    case "effect.started":
      start(commit, event, action);
      return;
    case "effect.retried":
      retry(commit, event, action);
      return;
    case "effect.applied":
    case "effect.not_applied":
    case "effect.in_doubt":
    case "effect.resolved":
      settle(commit, event, action);
      return;
  }
}

/** A key is the same for every attempt of one effect and for no other. */
function checkKey(sim: Sim, send: Send): void {
  const key = sim.world.keyOf.get(send.action);
  const action = sim.world.sends.get(send.key)?.[0]?.action;
  expect({ sim }, key === send.key, "2", `${send.action} was sent with two keys`);
  expect({ sim }, action === send.action, "2", `${send.action} was sent with the key of ${action}`);
}

/** A node's clock may drift by a thousandth. */
const DRIFT_MS = 25;

function checkRetention(sim: Sim, action: SeenAction, spec: ToolSpec, send: Send): void {
  if (spec.effect !== "keyed" || send.attempt === 1 || sim.scenario.databaseClockMoves) return;
  const forgotten = databaseTime(sim) >= action.startedAt + spec.keyRetentionMs + DRIFT_MS;
  expect({ sim }, !forgotten, "2", `${send.action} was sent again after its key may be forgotten`);
}

function checkCurrent(
  sim: Sim,
  seen: SeenTenant,
  action: SeenAction,
  given: { send: Send; life: SimProcess },
): void {
  const { send, life } = given;
  const running = action.phase === "running" && action.attempt === send.attempt;
  expect(
    { sim },
    running,
    "1",
    `${send.action}#${send.attempt} was sent; the journal has it ${action.phase}#${action.attempt}`,
  );
  const epoch = seen.epochs.get(action.epoch);
  expect({ sim }, epoch?.ended === false, "6", `${send.action} was sent in the name of an epoch that ended`);
  expect({ sim }, epoch?.life === life, "2", `${send.action} was sent by a process that does not hold it`);
  const same = send.argsDigest === null || send.argsDigest === action.argsDigest;
  expect({ sim }, same, "1", `${send.action} was sent with other arguments`);
}

export function checkSent(
  sim: Sim,
  seen: SeenTenant,
  given: { spec: ToolSpec; send: Send; life: SimProcess },
): void {
  const { spec, send } = given;
  if (spec.effect === "read") return;
  checkKey(sim, send);
  const action = seen.actions.get(send.action);
  if (action === undefined) {
    expect({ sim }, false, "1", `${send.action} was sent and never proposed`);
    return;
  }
  checkCurrent(sim, seen, action, given);
  checkRetention(sim, action, spec, send);
  const sends = sim.world.sends.get(send.key) ?? [];
  const same = sends.filter(({ attempt }) => attempt === send.attempt).length;
  expect({ sim }, same === 1, "2", `${send.action}#${send.attempt} was sent ${same} times`);
  const never = spec.effect === "once" || spec.effect === "probed";
  expect(
    { sim },
    !never || sends.length === 1,
    "2",
    `${send.action} is ${spec.effect} and was sent ${sends.length} times`,
  );
}

export function checkApplied(sim: Sim, seen: SeenTenant, spec: ToolSpec, send: Send): void {
  const times = sim.world.applied.get(send.key)?.length ?? 0;
  const once = spec.receiver === "honours" || spec.receiver === "forgets";
  expect(
    { sim },
    !once || times === 1,
    "2",
    `${send.action} was applied ${times} times by a receiver that ${spec.receiver}`,
  );
  const phase = seen.actions.get(send.action)?.phase;
  const known = phase === "running" || phase === "in_doubt" || phase === "applied";
  expect({ sim }, known, "3", `${send.action} was applied while the journal has it ${phase}`);
}

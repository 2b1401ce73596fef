/** Invariants 1 to 3 seen from outside: what was sent, what was applied, and what the journal makes of it. */
import { databaseTime, type Life, type Send, type Sim } from "../sim.ts";
import type { ToolSpec } from "../tool-spec.ts";
import { expect, type SeenAction, type SeenTenant } from "./seen.ts";

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
  given: { send: Send; life: Life },
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
  given: { spec: ToolSpec; send: Send; life: Life },
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

/**
 * Invariant 10: spent and reserved never pass the limit, and a reservation ends with its effect, once. Switches, people's
 * standing and epochs: what other checks rely on, and that no living process is declared dead.
 */

import { count } from "../sim.ts";
import { type Commit, type Event, expect, micros, type SeenBudget, text } from "./seen.ts";

const actionOf = (effect: string): string => effect.replace(/^eff_/, "act_");
const OUTCOMES = ["effect.applied", "effect.not_applied", "effect.resolved"];

const sum = (budget: SeenBudget): bigint => {
  let all = 0n;
  for (const amount of budget.reserved.values()) all += amount;
  return all;
};

/** The event of the same commit that ended this effect, and whether it was applied. */
function outcomeIn(commit: Commit, effect: string): { applied: boolean; attempt: number } | undefined {
  const stream = `action/${actionOf(effect)}`;
  const event = commit.events.find(({ type, stream: own }) => own === stream && OUTCOMES.includes(type));
  if (event === undefined) return undefined;
  const applied = event.type === "effect.applied" || event.body["status"] === "applied";
  return { applied, attempt: Number(event.body["attempt"] ?? 0) };
}

function checkSettled(commit: Commit, event: Event, held: bigint): void {
  const effect = text(event.body["effect"]);
  const outcome = outcomeIn(commit, effect);
  expect(
    commit,
    outcome?.applied === true,
    "10",
    `${effect} was booked on ${event.id} without being applied`,
  );
  const said = commit.sim.world.spent.get(`${actionOf(effect)}#${outcome?.attempt}`)?.get(event.id);
  // A read may have run several times; only one of them was booked.
  const isRead = commit.seen.actions.get(actionOf(effect))?.effectClass === "read";
  const right = isRead || micros(event.body["micros"]) === (said ?? held);
  expect(commit, right, "10", `${effect} was booked on ${event.id} with a wrong amount`);
}

export function checkBudget(commit: Commit, event: Event): void {
  const { seen, sim } = commit;
  const budget = seen.budgets.get(event.id) ?? { limit: null, spent: 0n, reserved: new Map() };
  seen.budgets.set(event.id, budget);
  const effect = text(event.body["effect"]);
  const held = budget.reserved.get(effect);
  switch (event.type) {
    case "budget.limited":
      budget.limit = micros(event.body["micros"]);
      return;
    case "budget.reserved": {
      expect(commit, held === undefined, "10", `${effect} reserved twice on ${event.id}`);
      budget.reserved.set(effect, micros(event.body["micros"]));
      const fits = budget.limit !== null && budget.spent + sum(budget) <= budget.limit;
      expect(commit, fits, "10", `${event.id} is over its limit after ${effect}`);
      return;
    }
    case "budget.settled":
    case "budget.released":
      expect(
        commit,
        held !== undefined,
        "10",
        `${effect} ended a reservation on ${event.id} that it does not have`,
      );
      budget.reserved.delete(effect);
      if (event.type === "budget.settled") {
        checkSettled(commit, event, held ?? 0n);
        budget.spent += micros(event.body["micros"]);
      } else
        expect(
          commit,
          outcomeIn(commit, effect)?.applied === false,
          "10",
          `${effect} was released on ${event.id} without certainty`,
        );
      return;
    case "budget.refused":
      count(sim, "budget held a start");
  }
}

/** Reservations that stand are those of effects that run or are in doubt. */
export function checkReservations(commit: Pick<Commit, "sim" | "seen">): void {
  for (const [id, budget] of commit.seen.budgets) {
    for (const effect of budget.reserved.keys()) {
      const phase = commit.seen.actions.get(actionOf(effect))?.phase;
      const open = phase === "running" || phase === "in_doubt";
      expect(commit, open, "10", `${id} still holds a reservation of ${effect}, which is ${phase}`);
    }
  }
  for (const action of commit.seen.actions.values()) {
    if (action.phase !== "running" && action.phase !== "in_doubt") continue;
    for (const { budget } of action.costs) {
      const holds = commit.seen.budgets.get(budget)?.reserved.has(action.id.replace("act_", "eff_")) === true;
      expect(commit, holds, "10", `${budget} let go of ${action.id}, which is ${action.phase}`);
    }
  }
}

export function checkSwitch({ sim, seen }: Commit, event: Event): void {
  if (event.type === "switch.released") {
    seen.stopped.delete(event.id);
    return;
  }
  seen.stopped.add(event.id);
  if ([...seen.actions.values()].some(({ phase }) => phase === "running"))
    count(sim, "switch on while effects run");
}

export function checkRoster({ seen }: Commit, event: Event): void {
  const person = text(event.body["person"]);
  if (event.type === "person.suspended") seen.suspended.add(person);
  else if (event.type === "person.reinstated") seen.suspended.delete(person);
  else if (event.type === "person.removed") seen.places.delete(person);
  else {
    const { roles, groups } = event.body as unknown as {
      roles: readonly string[];
      groups: readonly string[];
    };
    seen.places.set(person, [...roles.map((one) => `role:${one}`), ...groups.map((one) => `group:${one}`)]);
  }
}

export function checkEpoch(commit: Commit, event: Event): void {
  const { seen, sim, life } = commit;
  if (event.type === "epoch.opened") {
    seen.epochs.set(event.id, { life, ended: false });
    return;
  }
  const epoch = seen.epochs.get(event.id);
  expect(commit, epoch?.ended === false, "6", `${event.id} ended twice`);
  if (epoch === undefined) return;
  if (event.type === "epoch.died") {
    const hold = sim.database.holds.get(event.id);
    const held = hold !== undefined && sim.database.clock.now() < hold.until;
    const lives = sim.scenario.leaseMs === null && epoch.life.alive;
    expect(commit, !held && !lives, "2", `${event.id} was declared dead and lives`);
  }
  epoch.ended = true;
}

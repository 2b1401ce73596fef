/** Switches, people's standing and epochs: what other checks rely on, and that nobody living is declared dead. */
import { count } from "../sim.ts";
import { type Commit, type Event, expect, text } from "./seen.ts";

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

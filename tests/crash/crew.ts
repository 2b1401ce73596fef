/** The processes of a run: started from a spare that is warm already, killed, replaced, and what they wrote down. */
import { existsSync } from "node:fs";
import { type Child, spawnChild } from "./child.ts";
import type { Order } from "./orders.ts";
import { logOf, type Setup } from "./setup.ts";
import { type Asked, type Line, type Told, tail } from "./told.ts";

export const DECIDER = "decider";

export type Crew = {
  readonly setup: Setup;
  readonly members: Map<string, Child>;
  readonly killed: Set<number>;
  readonly told: Told[];
  /** How often each was answered. */
  readonly answers: Map<string, number>;
  readonly wrong: string[];
  /** By process, what it asked and was not answered for good. */
  readonly open: Map<string, Map<string, Asked>>;
  readonly logs: Map<string, () => Line[]>;
  spare: Child | undefined;
};

export function createCrew(setup: Setup): Crew {
  return {
    setup,
    members: new Map(),
    killed: new Set(),
    told: [],
    answers: new Map(),
    wrong: [],
    open: new Map(),
    logs: new Map(),
    spare: undefined,
  };
}

const MAY_STILL_CHANGE: readonly (string | null)[] = ["pending", "over_budget", "stopped"];

function note(crew: Crew, name: string, line: Line): void {
  const open = crew.open.get(name) ?? new Map<string, Asked>();
  crew.open.set(name, open);
  if (line.kind === "wrong") crew.wrong.push(line.what);
  else if (line.kind === "asked") open.set(line.requestId, line);
  else {
    crew.told.push(line);
    crew.answers.set(name, (crew.answers.get(name) ?? 0) + 1);
    if (line.kind === "call" && !MAY_STILL_CHANGE.includes(line.code)) open.delete(line.requestId);
  }
}

/** Reads what all have written since the last time; answers what they were told. */
export function collect(crew: Crew): readonly Told[] {
  const before = crew.told.length;
  for (const name of crew.members.keys()) {
    const file = logOf(crew.setup, name);
    if (!existsSync(file)) continue;
    const read = crew.logs.get(name) ?? tail<Line>(file);
    crew.logs.set(name, read);
    for (const line of read()) note(crew, name, line);
  }
  return crew.told.slice(before);
}

/** Starts a member, or the next life of one; resolves when it works. */
export async function begin(crew: Crew, name: string, order: Order | null = null): Promise<void> {
  const isDecider = name === DECIDER;
  const child = isDecider
    ? spawnChild("decider", crew.setup)
    : (crew.spare ?? spawnChild("worker", crew.setup));
  if (!isDecider) crew.spare = undefined;
  await child.ready;
  collect(crew);
  const again = [...(crew.open.get(name)?.values() ?? [])];
  child.send({ go: { name, work: "load", again, order } });
  crew.members.set(name, child);
  await child.running;
  if (!isDecider) crew.spare = spawnChild("worker", crew.setup);
}

/** Kills a member and waits until it is gone. */
export async function kill(crew: Crew, name: string): Promise<void> {
  const child = crew.members.get(name);
  if (child === undefined) return;
  crew.killed.add(child.pid);
  await child.kill();
}

/** Whoever is gone without having been killed: taken for dead by another, or at fault. */
export function gone(crew: Crew): readonly { readonly name: string; readonly child: Child }[] {
  return [...crew.members]
    .filter(([, child]) => !child.isAlive() && !crew.killed.has(child.pid))
    .map(([name, child]) => ({ name, child }));
}

export async function dismiss(crew: Crew): Promise<void> {
  await Promise.all([...crew.members.keys()].map((name) => kill(crew, name)));
  collect(crew);
}

export async function disband(crew: Crew): Promise<void> {
  await dismiss(crew);
  await crew.spare?.kill();
}

/** One process that takes over what the dead left, asks the probes, and ends in good order. */
export async function settleOnce(crew: Crew): Promise<void> {
  const child = crew.spare ?? spawnChild("worker", crew.setup);
  crew.spare = undefined;
  await child.ready;
  child.send({ go: { name: "settler", work: "settle", again: [], order: null } });
  const { code, signal } = await child.ended;
  if (code !== 0) crew.wrong.push(`the settling process ended with ${code ?? signal}: ${child.said()}`);
}

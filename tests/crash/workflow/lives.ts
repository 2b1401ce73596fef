/** The processes of a run of workflows: each begins its share, lives until its planned death, and is followed by the next. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Store } from "../../../src/stores/store.ts";
import type { Setup } from "../setup.ts";
import { type Member, spawnMember } from "./member.ts";
import { type Go, type Report, TAKEN_FOR_DEAD } from "./messages.ts";
import type { Planned } from "./plan.ts";
import type { WorkflowRunOptions } from "./summary.ts";
import type { Watch } from "./watch.ts";

/** A place that is not reached in this time is given up, and tried again later, with more of it. */
const PATIENCE_MS = 10_000;
const TRIES = 4;

export type Run = {
  readonly options: WorkflowRunOptions;
  readonly setup: Setup;
  readonly store: Store;
  readonly watch: Watch;
  readonly say: (line: string) => void;
  readonly plan: Planned[];
  readonly deciderPlan: string[];
  /** Workflows that were not begun, or may not have been. */
  readonly queue: number[];
  readonly places: Set<string>;
  readonly hits: Map<string, number>;
  readonly missed: Map<string, number>;
  readonly wrong: string[];
  readonly killed: Map<string, number>;
  readonly members: Set<Member>;
  readonly counts: {
    kills: number;
    deciderKills: number;
    takenForDead: number;
    decisions: number;
    applied: number;
    notApplied: number;
  };
  spare: Member | undefined;
  isOver: boolean;
};

const hear = (run: Run) => (said: Report) => {
  if (said.kind === "wrong") run.wrong.push(said.what);
  if (said.kind === "place") run.places.add(said.place);
  if (said.kind === "decided") run.counts.decisions++;
  if (said.kind === "resolved") run.counts[said.applied ? "applied" : "notApplied"]++;
};

function spawnInto(run: Run, program: "worker" | "decider"): Member {
  const member = spawnMember(program, run.setup, hear(run));
  run.members.add(member);
  void member.ended.then(() => run.members.delete(member));
  return member;
}

export type Begin = Partial<Pick<Go, "starts" | "order" | "records">>;

/** Begins with a process that is warm already, where there is one. */
export async function beginWorker(run: Run, name: string, begin: Begin): Promise<Member> {
  const member = run.spare ?? spawnInto(run, "worker");
  run.spare = undefined;
  await member.ready;
  const plant = run.options.plant ?? null;
  member.go({ name, starts: [], order: null, records: false, plant, ...begin });
  // Two processes may begin at the same time; the one spare is enough for both.
  run.spare ??= spawnInto(run, "worker");
  return member;
}

export async function beginDecider(run: Run, begin: Begin): Promise<Member> {
  const member = spawnInto(run, "decider");
  await member.ready;
  member.go({ name: "people", starts: [], order: null, records: false, plant: null, ...begin });
  return member;
}

/** What the store says passes; a process that ended by itself lost its lease, or is at fault. */
async function noteEnd(run: Run, name: string, member: Member): Promise<void> {
  const { code, signal } = await member.ended;
  if (code === TAKEN_FOR_DEAD && run.options.store === "postgres") run.counts.takenForDead++;
  else run.wrong.push(`${name} ended by itself with ${code ?? signal}: ${member.said()}`);
}

export async function look(run: Run): Promise<void> {
  run.wrong.push(...(await run.watch.look(run.store)));
}

/** Which workflows the dead process was running, and what it was told to begin and did not. */
async function mourn(run: Run, pid: number, starts: readonly number[]): Promise<void> {
  await look(run);
  const { workflows, processes } = run.watch;
  const begun = new Set<number>();
  for (const [id, state] of workflows) {
    if (state.status === "none") continue;
    begun.add(Number((state.input as { n: number }).n));
    if (state.runner !== null && processes.get(state.runner) === pid)
      run.killed.set(id, (run.killed.get(id) ?? 0) + 1);
  }
  run.queue.unshift(...starts.filter((n) => !begun.has(n)));
}

export const hit = (run: Run, place: string): void =>
  void run.hits.set(place, (run.hits.get(place) ?? 0) + 1);

function missed(run: Run, place: string): void {
  const times = (run.missed.get(place) ?? 0) + 1;
  run.missed.set(place, times);
  if (times <= TRIES) run.plan.push({ kind: "place", place, nth: 1 });
}

const patienceFor = (run: Run, place: string): number => PATIENCE_MS * (1 + (run.missed.get(place) ?? 0));

async function oneLife(run: Run, name: string, planned: Planned): Promise<void> {
  const share = Math.ceil(run.options.workflows / run.options.lives);
  const starts = run.queue.splice(0, share);
  const order = planned.kind === "place" ? { place: planned.place, nth: planned.nth } : null;
  const member = await beginWorker(run, name, { starts, order });
  if (planned.kind === "moment") await member.running;
  const patience = planned.kind === "place" ? patienceFor(run, planned.place) : planned.afterMs;
  const isDead = await Promise.race([member.ended.then(() => true), sleep(patience, false)]);
  const death = member.death();
  if (isDead && death === null) await noteEnd(run, name, member);
  else {
    run.counts.kills++;
    await member.kill();
  }
  await mourn(run, member.pid, starts);
  if (death !== null) hit(run, death);
  else if (planned.kind === "place") missed(run, planned.place);
}

/** One after the other until the plan is done, or something is wrong. */
export async function liveOn(run: Run, name: string): Promise<void> {
  for (let life = 1; run.wrong.length === 0; life++) {
    const planned = run.plan.shift();
    if (planned === undefined) return;
    await oneLife(run, name, planned);
    if (life % 10 === 0)
      run.say(
        `${name}: ${run.counts.kills} kills, ${run.plan.length} to come, ${run.watch.entries()} entries`,
      );
  }
}

/** The people die too, where they are told, and come back until the run is over. */
export async function peopleLiveOn(run: Run): Promise<void> {
  while (!run.isOver) {
    const place = run.deciderPlan.shift();
    const member = await beginDecider(run, { order: place === undefined ? null : { place, nth: 2 } });
    const over = async () => {
      while (!run.isOver) await sleep(100);
    };
    await Promise.race([member.ended, over()]);
    const death = member.death();
    if (death !== null) {
      run.counts.deciderKills++;
      hit(run, death);
    } else if (!run.isOver) await noteEnd(run, "the people", member);
    if (run.isOver) await member.kill();
  }
}

export async function disband(run: Run): Promise<void> {
  await Promise.all([...run.members].map((member) => member.kill()));
}

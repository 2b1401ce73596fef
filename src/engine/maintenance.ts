/** What an executing process does beside its calls: keeps its lease, recovers, probes, announces deadlines, seals. */

import type { Clock } from "../kernel/clock.ts";
import type { OwnEpoch } from "./epoch.ts";
import { sweepIntents } from "./intent/sweep.ts";
import { isLeftAlone } from "./left-alone.ts";
import { endDeadNodes } from "./nodes.ts";
import { sweepRollbacks } from "./outside/roll-back.ts";
import { sweepReports } from "./outside/sweep-reports.ts";
import { startProbing } from "./probe.ts";
import { startRecovery } from "./recover.ts";
import { storeTime } from "./run-command.ts";
import type { Runtime } from "./runtime.ts";
import { sealTenant } from "./seal.ts";
import { sweepExpired } from "./sweep.ts";
import { closeFailed } from "./workflow/withdraw.ts";

export type Rhythm = {
  readonly recoverMs: number;
  readonly probeMs: number;
  readonly sweepMs: number;
  readonly sealMs: number;
  /** How often nodes that died with nothing under way are looked for; never unless set. */
  readonly nodesMs?: number;
};

export const RHYTHM: Rhythm = {
  ...{ recoverMs: 5_000, probeMs: 5_000, sweepMs: 1_000, sealMs: 500 },
  nodesMs: 60_000,
};

/** Of what has to be told, what was not told before. What is left alone is told of once, whatever succeeds in between. */
function newsOf(): { isNews(error: unknown): boolean; over(): void } {
  let told = "";
  const left = new Set<string>();
  return {
    isNews(error) {
      const text = String(error);
      const known = isLeftAlone(error) ? left.has(text) : told === text;
      if (isLeftAlone(error)) left.add(text);
      else told = text;
      return !known;
    },
    over() {
      told = "";
    },
  };
}

type Round = { readonly everyMs: number; readonly over: AbortSignal; work(): Promise<unknown> };

/** Repeats until it is over; a round that fails is told about once and the next one comes all the same. */
async function keepOn(runtime: Runtime, idle: Clock, { everyMs, over, work }: Round): Promise<void> {
  const news = newsOf();
  while (!over.aborted) {
    try {
      await work();
      news.over();
    } catch (error) {
      if (!over.aborted && news.isNews(error)) runtime.notify({ kind: "maintenance_failed", error });
    }
    await idle.sleep(everyMs, over);
  }
}

const repeat = (
  runtime: Runtime,
  idle: Clock,
  everyMs: number,
  work: () => Promise<unknown>,
): Promise<void> => keepOn(runtime, idle, { everyMs, over: runtime.closing, work });

async function sweepOutside(runtime: Runtime): Promise<void> {
  await sweepReports(runtime);
  await sweepRollbacks(runtime);
  await sweepIntents(runtime);
}

/** Where it was lost, another epoch begins. */
async function keepLease(current: () => Promise<OwnEpoch>): Promise<void> {
  const own = await current();
  if (!(await own.renew())) await current();
}

/** A machine's clock may be set while nothing is decided here. A store that does not answer is told of by the others. */
const hearTime = (runtime: Runtime): Promise<unknown> => storeTime(runtime).catch(() => undefined);

/** The epoch of the moment, and how long its hold lasts without being renewed. */
export type Life = { readonly leaseMs: number | null; readonly current: () => Promise<OwnEpoch> };

/** Until the instance has come to rest, and not only until it closes: what it still has in hand meanwhile is its own. */
export async function holdLease(
  runtime: Runtime,
  { leaseMs, current }: Life,
  idle: Clock,
  over: AbortSignal,
): Promise<void> {
  if (leaseMs === null) return;
  await keepOn(runtime, idle, { everyMs: leaseMs / 3, over, work: () => keepLease(current) });
}

/** `idle` does not keep the process alive. Resolves when everything has come to rest after closing. */
export async function maintain(
  runtime: Runtime,
  { leaseMs }: Pick<Life, "leaseMs">,
  idle: Clock,
  { rhythm, seals }: { readonly rhythm: Rhythm; readonly seals: boolean },
): Promise<void> {
  const rounds = [
    repeat(runtime, idle, rhythm.recoverMs, () => startRecovery(runtime)),
    repeat(runtime, idle, rhythm.probeMs, () => startProbing(runtime, idle)),
    repeat(runtime, idle, rhythm.sweepMs, () => sweepExpired(runtime)),
    repeat(runtime, idle, rhythm.sweepMs, () => sweepOutside(runtime)),
    repeat(runtime, idle, rhythm.recoverMs, () => closeFailed(runtime)),
  ];
  if (leaseMs !== null) rounds.push(repeat(runtime, idle, rhythm.recoverMs, () => hearTime(runtime)));
  if (rhythm.nodesMs !== undefined)
    rounds.push(repeat(runtime, idle, rhythm.nodesMs, () => endDeadNodes(runtime)));
  if (seals) rounds.push(repeat(runtime, idle, rhythm.sealMs, () => sealTenant(runtime)));
  await Promise.all(rounds);
  await Promise.all([runtime.recovering.rest(), runtime.probing.rest()]);
}

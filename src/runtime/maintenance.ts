/**
 * The loops of an executing process: it renews its lease, recovers, probes, announces deadlines and reminders, ends
 * dead nodes, and seals. Announcing decides nothing: a late vote is refused with or without it.
 */

import { sweepOverdueIntents } from "../agents/intents/delivery.ts";
import { sweepOverdueReports } from "../agents/remote-report.ts";
import { sweepRollbacks } from "../agents/remote-rollback.ts";
import { announceDue } from "../approvals/rules/deadline.ts";
import { startProbing, startRecovery } from "../effects/recover.ts";

import type { Clock } from "../kernel/clock.ts";
import { approvalStream } from "../kernel/stream.ts";
import { closeFailed } from "../workflows/operate.ts";
import { endDeadNodes, type OwnEpoch } from "./epochs.ts";
import { sealTenant } from "./keyring.ts";
import { forEachReadable, isUnreadable } from "./lists.ts";
import type { Runtime } from "./runtime.ts";
import { runCommand, storeTime } from "./store-access.ts";

const APPROVALS = "approvals";
const MOST_AT_ONCE = 200;
/** One of several processes announces each approval. If that process dies, another takes over after this time. */
const LEASE_MS = 10_000;

async function announceDueApprovals(
  runtime: Pick<Runtime, "store" | "tenant" | "clock" | "notify">,
): Promise<number> {
  const due = {
    view: APPROVALS,
    bucket: "pending",
    dueBy: runtime.clock.now(),
    limit: MOST_AT_ONCE,
    leaseMs: LEASE_MS,
  };
  let expired = 0;
  await forEachReadable(await runtime.store.claim(runtime.tenant, due), async ({ stream: { id } }) => {
    const answer = await runCommand(runtime, { write: [approvalStream(id)] }, (draft) =>
      announceDue(draft, id),
    );
    if (answer.kind === "ended") expired++;
    if (answer.kind === "reminded") {
      const { action, tool, why, decideBy } = answer;
      runtime.notify({ kind: "reminder", approval: id, action, tool, why, decideBy });
    }
  });
  return expired;
}

export type MaintenanceIntervals = {
  readonly recoverMs: number;
  readonly probeMs: number;
  readonly sweepMs: number;
  readonly sealMs: number;
  /** How often to look for nodes that died with nothing under way. Default: never. */
  readonly nodesMs?: number;
};

export const MAINTENANCE_INTERVALS: MaintenanceIntervals = {
  ...{ recoverMs: 5_000, probeMs: 5_000, sweepMs: 1_000, sealMs: 500 },
  nodesMs: 60_000,
};

/** Suppresses repeated errors. An unreadable stream is reported once, even if other rounds succeed in between. */
function createErrorFilter(): { isNews(error: unknown): boolean; over(): void } {
  let told = "";
  const left = new Set<string>();
  return {
    isNews(error) {
      const text = String(error);
      const known = isUnreadable(error) ? left.has(text) : told === text;
      if (isUnreadable(error)) left.add(text);
      else told = text;
      return !known;
    },
    over() {
      told = "";
    },
  };
}

type Round = { readonly everyMs: number; readonly over: AbortSignal; work(): Promise<unknown> };

/** Repeats until aborted. A failure is reported once, and the next round runs anyway. */
async function repeatUntil(runtime: Runtime, idle: Clock, { everyMs, over, work }: Round): Promise<void> {
  const news = createErrorFilter();
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
): Promise<void> => repeatUntil(runtime, idle, { everyMs, over: runtime.closing, work });

async function sweepOutside(runtime: Runtime): Promise<void> {
  await sweepOverdueReports(runtime);
  await sweepRollbacks(runtime);
  await sweepOverdueIntents(runtime);
}

/** If the lease was lost, another epoch begins. */
async function keepLease(current: () => Promise<OwnEpoch>): Promise<void> {
  const own = await current();
  if (!(await own.renew())) await current();
}

/** The machine's clock may be changed while no decision is made here. Other loops report a store that fails. */
const syncClock = (runtime: Runtime): Promise<unknown> => storeTime(runtime).catch(() => undefined);

/** The current epoch, and the length of its lease. */
type EpochLease = { readonly leaseMs: number | null; readonly current: () => Promise<OwnEpoch> };

/** Runs until all work has ended, not only until close: work still in progress needs the lease. */
export async function holdLease(
  runtime: Runtime,
  { leaseMs, current }: EpochLease,
  idle: Clock,
  over: AbortSignal,
): Promise<void> {
  if (leaseMs === null) return;
  await repeatUntil(runtime, idle, { everyMs: leaseMs / 3, over, work: () => keepLease(current) });
}

/** `idle` does not keep the process alive. Resolves when everything has stopped after closing. */
export async function maintain(
  runtime: Runtime,
  { leaseMs }: Pick<EpochLease, "leaseMs">,
  idle: Clock,
  { rhythm, seals }: { readonly rhythm: MaintenanceIntervals; readonly seals: boolean },
): Promise<void> {
  const rounds = [
    repeat(runtime, idle, rhythm.recoverMs, () => startRecovery(runtime)),
    repeat(runtime, idle, rhythm.probeMs, () => startProbing(runtime, idle)),
    repeat(runtime, idle, rhythm.sweepMs, () => announceDueApprovals(runtime)),
    repeat(runtime, idle, rhythm.sweepMs, () => sweepOutside(runtime)),
    repeat(runtime, idle, rhythm.recoverMs, () => closeFailed(runtime)),
  ];
  if (leaseMs !== null) rounds.push(repeat(runtime, idle, rhythm.recoverMs, () => syncClock(runtime)));
  if (rhythm.nodesMs !== undefined)
    rounds.push(repeat(runtime, idle, rhythm.nodesMs, () => endDeadNodes(runtime)));
  if (seals) rounds.push(repeat(runtime, idle, rhythm.sealMs, () => sealTenant(runtime)));
  await Promise.all(rounds);
  await Promise.all([runtime.recovering.rest(), runtime.probing.rest()]);
}

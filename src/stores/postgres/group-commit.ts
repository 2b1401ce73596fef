/**
 * The queues of a process: members of one tenant that wait at the same time share a transaction. Several batches are
 * under way at once, on different connections; while they are, others queue and then go together.
 *
 * G1. A batch that fails for a reason that passes (server away, lock not had) goes back to the front, until the
 *     members' time is over.
 * G2. A batch that fails for another reason is tried again member by member; a member by itself has its answer.
 * G3. A batch takes at most so many locks: all batches of all connections together fit the server's table of locks.
 * G4. Tenants take turns: one that is never done keeps no other from being served.
 */
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { HoldpointError, isHoldpointError } from "../../kernel/errors.ts";
import { type Member, weightOf } from "./member.ts";
import { type Patience, pauseMs } from "./patience.ts";
import { isPassing, translated } from "./postgres-errors.ts";

/** Runs one batch; answers who has to be decided again. Throws when it is certain that nothing was written. */
export type RunBatch = (tenant: string, members: readonly Member[]) => Promise<readonly Member[]>;

export type Queues = {
  submit(member: Member): void;
  /** Takes no more members, and resolves when those that are queued have their answers. */
  close(): Promise<void>;
};

type Options = {
  readonly run: RunBatch;
  readonly patience: Patience;
  /** Batches under way at once. */
  readonly most: number;
  /** Where members go that are decided again. */
  again?(member: Member): void;
};

type Lane = { readonly tenant: string; readonly queue: Member[]; runners: number };

export const MOST_LOCKS = 192;
const MOST_MEMBERS = 64;
/** Batches of one tenant at once: one decides while another commits. */
const MOST_RUNNERS = 3;
/** With fewer waiting, a second batch would only take members from the next. */
const WORTH_ANOTHER = 16;

export function createQueues(options: Options): Queues {
  const lanes = new Map<string, Lane>();
  const running = new Set<Promise<void>>();
  let closed = false;
  const isFull = () => running.size >= options.most;
  const othersWait = () => isFull() && [...lanes.values()].some(({ runners }) => runners === 0);
  const start = (lane: Lane) => {
    if (isFull() || lane.runners >= MOST_RUNNERS || lane.queue.length === 0) return;
    lane.runners++;
    const run = drain(options, lane, othersWait).finally(() => {
      lane.runners--;
      running.delete(run);
      // To the end of the line: tenants take turns.
      lanes.delete(lane.tenant);
      if (lane.runners + lane.queue.length > 0) lanes.set(lane.tenant, lane);
      for (const other of lanes.values()) if (other.runners === 0) start(other);
    });
    running.add(run);
  };
  return {
    submit(member) {
      if (closed) return member.refuse(new HoldpointError("closed", "The store was closed."));
      const { tenant } = member;
      const lane = lanes.get(tenant) ?? { tenant, queue: [], runners: 0 };
      lanes.set(tenant, lane);
      lane.queue.push(member);
      if (lane.runners === 0 || lane.queue.length >= WORTH_ANOTHER) start(lane);
    },
    async close() {
      closed = true;
      while (running.size > 0) await Promise.all(running);
    },
  };
}

async function drain(options: Options, lane: Lane, othersWait: () => boolean): Promise<void> {
  await nextTurn();
  do {
    const members = take(lane.queue);
    const again = members.length === 0 ? [] : await attempt(options, lane.tenant, members);
    if (options.again === undefined) lane.queue.unshift(...again);
    else again.forEach(options.again);
  } while (lane.queue.length > 0 && !othersWait());
}

function take(queue: Member[]): readonly Member[] {
  const taken: Member[] = [];
  let locks = 0;
  for (let next = queue[0]; next !== undefined; next = queue[0]) {
    locks += weightOf(next);
    const isFull = taken.length >= MOST_MEMBERS || locks > MOST_LOCKS || next.alone;
    if (taken.length > 0 && (isFull || taken[0]?.alone === true)) break;
    taken.push(next);
    queue.shift();
  }
  return taken;
}

async function attempt(
  options: Options,
  tenant: string,
  members: readonly Member[],
): Promise<readonly Member[]> {
  try {
    return await options.run(tenant, members);
  } catch (error) {
    if (isPassing(error)) return waited(options.patience, members, error);
    const isKnown = isHoldpointError(error, "commit_unknown") || members.length === 1;
    if (isKnown) for (const member of members) member.refuse(translated(error));
    else for (const member of members) member.alone = true;
    return isKnown ? [] : members;
  }
}

/** Those whose time is not over yet. */
async function waited(
  patience: Patience,
  members: readonly Member[],
  error: unknown,
): Promise<readonly Member[]> {
  const now = performance.now();
  const left = members.filter(({ deadline }) => now < deadline);
  for (const member of members) if (!left.includes(member)) member.refuse(translated(error));
  if (left.length === 0) return left;
  const tries = Math.max(...left.map((member) => ++member.tries));
  await sleep(pauseMs(patience, tries));
  return left;
}

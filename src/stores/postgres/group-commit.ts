/**
 * Queues of `transact` calls in a process: members of one tenant that wait at the same time share a transaction.
 * Several batches run at once, on different connections; members that queue meanwhile form the next batch.
 * - A batch that fails for a transient reason (server away, lock timeout) goes back to the front until its deadline.
 * - A batch that fails for another reason is retried member by member; a member that was alone gets the error.
 * - A batch takes a limited number of locks: all batches of all connections together fit the server's lock table.
 * - Tenants take turns, so a busy one cannot starve the others.
 */
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { HoldpointError, isHoldpointError } from "../../kernel/errors.ts";
import { streamName } from "../../kernel/stream.ts";
import type { Decide, Needs } from "../../kernel/transaction.ts";
import { checkStoredText, indexName, isRead, MOST_ROUNDS } from "../decision.ts";
import { checkTenantLength } from "./encode.ts";
import { type ConnectRetry, isTransient, pauseMs, translatePostgresError } from "./errors.ts";

export type BatchMember = {
  readonly tenant: string;
  /** Grows if the decision requests more; it is then decided again, from the start, in a later batch. */
  needs: Needs;
  readonly decide: Decide<unknown>;
  /** When retries end. */
  readonly deadline: number;
  rounds: number;
  tries: number;
  /** Its batch failed: it is retried by itself. */
  alone: boolean;
  /** A reader that turned out to write: it is decided again under locks. */
  writes: boolean;
  answer(result: unknown): void;
  refuse(error: unknown): void;
};

export const isReader = ({ needs, writes }: BatchMember): boolean => !writes && isRead(needs);

/** Approximate number of locks it takes. */
const lockCount = ({ needs }: BatchMember): number =>
  (needs.write ?? []).length + (needs.read ?? []).length + (needs.names ?? []).length;

/** Throws if a decision requests more without end. */
export function addNeeds(member: BatchMember, more: Needs): void {
  if (++member.rounds >= MOST_ROUNDS)
    throw new HoldpointError("broken_rule", `A decision asked for more streams ${MOST_ROUNDS} times.`);
  const { write = [], read = [], names = [], index = [], ...mode } = member.needs;
  member.needs = {
    ...mode,
    write: [...write, ...(more.write ?? [])],
    read: [...read, ...(more.read ?? [])],
    names: [...names, ...(more.names ?? [])],
    index: [...index, ...(more.index ?? [])],
  };
}

/** Runs one batch and returns the members to decide again. Throws if certainly nothing was written. */
type RunBatch = (tenant: string, members: readonly BatchMember[]) => Promise<readonly BatchMember[]>;

export type Queues = {
  submit(member: BatchMember): void;
  /** Takes no more members, and resolves when the queued ones have their answers. */
  close(): Promise<void>;
};

type QueueOptions = {
  readonly run: RunBatch;
  readonly patience: ConnectRetry;
  /** Most batches at once. */
  readonly most: number;
  /** Receives members to decide again. Default: the front of their queue. */
  again?(member: BatchMember): void;
};

type TenantQueue = { readonly tenant: string; readonly queue: BatchMember[]; runners: number };

const MOST_LOCKS = 192;
const MOST_MEMBERS = 64;
/** Batches of one tenant at once: one decides while another commits. */
const MOST_RUNNERS = 3;
/** With fewer waiting, a second batch would only take members from the next one. */
const WORTH_ANOTHER = 16;

export function createQueues(options: QueueOptions): Queues {
  const lanes = new Map<string, TenantQueue>();
  const running = new Set<Promise<void>>();
  let closed = false;
  const isFull = () => running.size >= options.most;
  const othersWait = () => isFull() && [...lanes.values()].some(({ runners }) => runners === 0);
  const start = (lane: TenantQueue) => {
    if (isFull() || lane.runners >= MOST_RUNNERS || lane.queue.length === 0) return;
    lane.runners++;
    const run = drainQueue(options, lane, othersWait).finally(() => {
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

async function drainQueue(
  options: QueueOptions,
  lane: TenantQueue,
  othersWait: () => boolean,
): Promise<void> {
  await nextTurn();
  do {
    const members = takeMembers(lane.queue);
    const again = members.length === 0 ? [] : await attemptBatch(options, lane.tenant, members);
    if (options.again === undefined) lane.queue.unshift(...again);
    else again.forEach(options.again);
  } while (lane.queue.length > 0 && !othersWait());
}

function takeMembers(queue: BatchMember[]): readonly BatchMember[] {
  const taken: BatchMember[] = [];
  let locks = 0;
  for (let next = queue[0]; next !== undefined; next = queue[0]) {
    locks += lockCount(next);
    const isFull = taken.length >= MOST_MEMBERS || locks > MOST_LOCKS || next.alone;
    if (taken.length > 0 && (isFull || taken[0]?.alone === true)) break;
    taken.push(next);
    queue.shift();
  }
  return taken;
}

async function attemptBatch(
  options: QueueOptions,
  tenant: string,
  members: readonly BatchMember[],
): Promise<readonly BatchMember[]> {
  try {
    return await options.run(tenant, members);
  } catch (error) {
    if (isTransient(error)) return waitToRetry(options.patience, members, error);
    const isKnown = isHoldpointError(error, "commit_unknown") || members.length === 1;
    if (isKnown) for (const member of members) member.refuse(translatePostgresError(error));
    else for (const member of members) member.alone = true;
    return isKnown ? [] : members;
  }
}

/** Returns the members whose deadline has not passed. */
async function waitToRetry(
  patience: ConnectRetry,
  members: readonly BatchMember[],
  error: unknown,
): Promise<readonly BatchMember[]> {
  const now = performance.now();
  const left = members.filter(({ deadline }) => now < deadline);
  for (const member of members) if (!left.includes(member)) member.refuse(translatePostgresError(error));
  if (left.length === 0) return left;
  const tries = Math.max(...left.map((member) => ++member.tries));
  await sleep(pauseMs(patience, tries));
  return left;
}

type TransactQueues = { readonly writers: Queues; readonly lookers: Queues; readonly patience: ConnectRetry };

export function transactPostgres<Result>(
  { writers, lookers, patience }: TransactQueues,
  tenant: string,
  needs: Needs,
  decide: Decide<Result>,
): Promise<Result> {
  checkTenantLength(checkStoredText("tenant", tenant));
  checkNeeds(needs);
  return new Promise<Result>((resolve, reject) => {
    const member: BatchMember = {
      tenant,
      needs,
      decide,
      deadline: performance.now() + patience.busyMs,
      rounds: 0,
      tries: 0,
      alone: false,
      writes: false,
      answer: (result) => resolve(result as Result),
      refuse: reject,
    };
    (isReader(member) ? lookers : writers).submit(member);
  });
}

/** Checked before the database sees them: a text that it cannot hold would fail the whole batch. */
function checkNeeds({ write = [], read = [], names = [], index = [] }: Needs): void {
  for (const stream of write) checkStoredText("stream", streamName(stream));
  for (const stream of read) checkStoredText("stream", streamName(stream));
  for (const name of names) checkStoredText("name", name);
  for (const key of index) checkStoredText("key", indexName(key));
}

/**
 * The one writer of a process: queued members share a transaction and its one sync, and are answered after it.
 *
 * G1. A member that throws while it prepares has written nothing, and fails alone.
 * G2. When a member's writes or the commit fail, all is rolled back and every member is tried again by itself.
 * G3. A batch holds the file's write lock for about ten milliseconds at most, however many are queued.
 * G4. When others write too, the next batch leaves them a gap.
 * G5. Where many are queued and nobody else writes, batches are decided ahead (`flights.ts`).
 */
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { HoldpointError } from "../../core/errors.ts";
import type { Flights } from "./flights.ts";
import { LONGEST_HOLD_MS, type Member, type Prepared, unknownCommit } from "./member.ts";
import { type Patience, patiently } from "./patience.ts";
import { translated } from "./sqlite-errors.ts";
import type { WriteTransaction } from "./write-transaction.ts";

export type Writer = {
  submit(member: Member): void;
  /** Takes no more members, and resolves when those that are queued have their answers. */
  close(): Promise<void>;
};

type Done = { readonly member: Member; answer(): void };
type Batch = {
  readonly done: readonly Done[];
  readonly failed?: { readonly member: Member; readonly error: unknown };
};

const GAP_MS = 1;
/** Another process that wrote this lately probably waits for the lock again. */
const LATELY_MS = 250;

export function createWriter(transaction: WriteTransaction, patience: Patience, flights?: Flights): Writer {
  const queue: Member[] = [];
  let running: Promise<void> | undefined;
  let closed = false;
  let othersWrote = Number.NEGATIVE_INFINITY;
  let lastEnd = Number.NEGATIVE_INFINITY;

  const writeHere = async (): Promise<void> => {
    const now = performance.now();
    if (now - othersWrote < LATELY_MS && now - lastEnd < GAP_MS) await sleep(GAP_MS);
    const others = await writeNext(transaction, patience, queue);
    lastEnd = performance.now();
    if (others) othersWrote = lastEnd;
  };
  /** Whether the queue is served that way. */
  const flyNext = async (): Promise<boolean> => {
    if (flights === undefined) return false;
    const suits = performance.now() - othersWrote >= LATELY_MS;
    const ahead = suits ? flights.decide(queue) : undefined;
    const again = await flights.land();
    if (again !== undefined) {
      queue.unshift(...again, ...(ahead === undefined ? [] : flights.cancel(ahead)));
      return false;
    }
    if (ahead !== undefined) flights.launch(ahead);
    return ahead !== undefined;
  };
  const run = async (): Promise<void> => {
    while (queue.length > 0 || flights?.isFlying() === true) {
      await nextTurn();
      if (!(await flyNext()) && queue.length > 0) await writeHere();
    }
    running = undefined;
  };
  return {
    submit(member) {
      if (closed) return member.refuse(new HoldpointError("closed", "The store was closed."));
      queue.push(member);
      running ??= run();
    },
    async close() {
      closed = true;
      while (running !== undefined) await running;
      await flights?.close();
    },
  };
}

/** Answers whether other processes wrote meanwhile. */
async function writeNext(
  transaction: WriteTransaction,
  patience: Patience,
  queue: Member[],
): Promise<boolean> {
  const waiting = queue.length;
  let others: boolean;
  try {
    others = await patiently(patience, transaction.begin);
  } catch (error) {
    for (const member of queue.splice(0, waiting)) member.refuse(error);
    return false;
  }
  const batch = gather(transaction, queue);
  if (batch.failed === undefined) await settle(transaction, patience, batch);
  else {
    transaction.rollBack();
    await oneByOne(transaction, patience, { batch, error: batch.failed.error });
  }
  return others;
}

function gather(transaction: WriteTransaction, queue: Member[]): Batch {
  const done: Done[] = [];
  const start = performance.now();
  for (let member = queue[0]; member !== undefined; member = queue[0]) {
    if (done.length > 0 && (member.alone === true || performance.now() - start > LONGEST_HOLD_MS)) break;
    queue.shift();
    let prepared: Prepared;
    try {
      prepared = member.prepare();
    } catch (error) {
      if (member.alone === true || transaction.isBroken(error)) return { done, failed: { member, error } };
      member.refuse(translated(error));
      continue;
    }
    try {
      prepared.write();
    } catch (error) {
      return { done, failed: { member, error } };
    }
    done.push({ member, answer: prepared.answer });
    if (member.alone === true) break;
  }
  return { done };
}

async function settle(transaction: WriteTransaction, patience: Patience, batch: Batch): Promise<void> {
  const outcome = await transaction.commit(batch.done.length);
  if (outcome.kind === "committed") for (const { answer } of batch.done) answer();
  else if (outcome.kind === "undone") await oneByOne(transaction, patience, { batch, error: outcome.error });
  else for (const { member } of batch.done) member.refuse(unknownCommit(outcome.error));
}

/** A member that was by itself already has its answer. */
async function oneByOne(
  transaction: WriteTransaction,
  patience: Patience,
  { batch, error }: { batch: Batch; error: unknown },
): Promise<void> {
  const members = batch.done.map(({ member }) => member);
  if (batch.failed !== undefined) members.push(batch.failed.member);
  if (members.length === 1) members[0]?.refuse(members[0].alone === true ? error : translated(error));
  else for (const member of members) await writeNext(transaction, patience, [member]);
}

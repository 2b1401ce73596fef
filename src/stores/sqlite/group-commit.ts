/**
 * The one writer of a process: queued members share a transaction and its one sync, and are answered after it.
 *
 * G1. A member that throws while it prepares has written nothing, and fails alone.
 * G2. When a member's writes or the commit fail, all is rolled back and every member is tried again by itself.
 * G3. A batch holds the file's write lock for about ten milliseconds at most, however many are queued.
 * G4. When others write too, the next batch leaves them a gap.
 */
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { HoldpointError } from "../../kernel/errors.ts";
import { type Patience, patiently } from "./patience.ts";
import { translated } from "./sqlite-errors.ts";
import type { Outcome, WriteTransaction } from "./write-transaction.ts";

export type Prepared = { write(): void; answer(): void };

export type Member = {
  prepare(): Prepared;
  refuse(error: unknown): void;
  /** Shares its transaction with nobody: `prepare` writes already. */
  readonly alone?: boolean;
};

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

const LONGEST_HOLD_MS = 10;
const GAP_MS = 1;
/** Another process that wrote this lately probably waits for the lock again. */
const LATELY_MS = 250;

export function createWriter(transaction: WriteTransaction, patience: Patience): Writer {
  const queue: Member[] = [];
  let running: Promise<void> | undefined;
  let closed = false;
  let othersWrote = Number.NEGATIVE_INFINITY;
  let lastEnd = Number.NEGATIVE_INFINITY;

  const run = async (): Promise<void> => {
    while (queue.length > 0) {
      await nextTurn();
      const now = performance.now();
      if (now - othersWrote < LATELY_MS && now - lastEnd < GAP_MS) await sleep(GAP_MS);
      const others = await writeNext(transaction, patience, queue);
      lastEnd = performance.now();
      if (others) othersWrote = lastEnd;
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
  else for (const { member } of batch.done) member.refuse(unknownCommit(outcome));
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

function unknownCommit({ error }: Extract<Outcome, { kind: "unknown" }>): HoldpointError {
  return new HoldpointError("commit_unknown", "The disk failed while the store committed.", { cause: error });
}

/**
 * Batches decided ahead: while one is written on the other thread, the next is decided here (`ahead.ts`).
 *
 * A4. A flight that did not land leaves nothing behind: its members, and those decided after it, are decided again here,
 *     under the lock.
 */

import type { OtherThread } from "./ahead.ts";
import type { Mark } from "./append.ts";
import type { Journal } from "./journal.ts";
import { LONGEST_HOLD_MS, type Member, unknownCommit } from "./member.ts";
import type { Rows } from "./rows.ts";
import { translated } from "./sqlite-errors.ts";
import type { WriteTransaction } from "./write-transaction.ts";

type Passenger = { readonly member: Member; answer(): void };

export type Ahead = {
  readonly passengers: readonly Passenger[];
  readonly rows: readonly Rows[];
  readonly looked: ReturnType<Journal["names"]["looked"]>;
  readonly base: { readonly position: number; readonly sid: number };
  readonly mark: Mark | undefined;
};

export type Flights = {
  isFlying(): boolean;
  /** Takes members off the queue and decides them; undefined where that does not suit. */
  decide(queue: Member[]): Ahead | undefined;
  /** Hands the batch over. The one before has landed. */
  launch(ahead: Ahead): void;
  /**
   * Waits for the batch that is out, and answers its members. When it did not land it hands back those that have to be
   * decided again, and whatever was decided after it is to be cancelled.
   */
  land(): Promise<readonly Member[] | undefined>;
  /** Members of a batch that is not handed over after all. */
  cancel(ahead: Ahead): readonly Member[];
  close(): Promise<void>;
};

/** Fewer are written here as fast. */
const FEWEST = 8;

export type FlightParts = {
  readonly journal: Journal;
  readonly thread: OtherThread;
  readonly transaction: WriteTransaction;
  layout(): string;
  committed(): void;
};

export function createFlights(parts: FlightParts): Flights {
  const { journal, thread } = parts;
  let flying: { readonly ahead: Ahead; readonly landing: ReturnType<OtherThread["write"]> } | undefined;

  return {
    isFlying: () => flying !== undefined,
    decide(queue) {
      if (queue.length < FEWEST) return undefined;
      if (!thread.isReady()) {
        thread.start();
        return undefined;
      }
      return decideAhead(journal, queue);
    },
    launch(ahead) {
      journal.heads.launch();
      journal.names.launch();
      const { rows, looked, base } = ahead;
      const landing = thread.write({ rows, looked, base, layout: parts.layout() });
      flying = { ahead, landing: landing.catch(() => ({ kind: "unknown" })) };
    },
    async land() {
      if (flying === undefined) return undefined;
      const { ahead, landing } = flying;
      const { kind } = await landing;
      flying = undefined;
      return landed(parts, ahead, kind);
    },
    cancel: ({ passengers }) => passengers.map(({ member }) => member),
    close: () => thread.close(),
  };
}

function decideAhead(journal: Journal, queue: Member[]): Ahead | undefined {
  const { marker, names, places } = journal;
  const passengers: Passenger[] = [];
  const rows: Rows[] = [];
  const base = { ...places.last() };
  const start = performance.now();
  marker.clear();
  names.looked();
  for (let member = queue[0]; member?.prepareRows !== undefined; member = queue[0]) {
    if (passengers.length > 0 && performance.now() - start > LONGEST_HOLD_MS) break;
    try {
      const prepared = member.prepareRows();
      if (prepared === undefined) break;
      passengers.push({ member, answer: prepared.answer });
      rows.push(prepared.rows);
    } catch (error) {
      member.refuse(translated(error));
    }
    queue.shift();
  }
  if (passengers.length === 0) return undefined;
  return { passengers, rows, looked: names.looked(), base, mark: marker.last() };
}

async function landed(
  { journal, transaction, committed }: FlightParts,
  ahead: Ahead,
  kind: "committed" | "stale" | "undone" | "unknown",
): Promise<readonly Member[] | undefined> {
  const outcome =
    kind === "unknown"
      ? await transaction.findOut(ahead.mark, new Error("the writing thread gave no answer"))
      : { kind, error: undefined };
  if (outcome.kind === "committed") {
    journal.heads.landed();
    journal.names.landed();
    committed();
    for (const { answer } of ahead.passengers) answer();
    return undefined;
  }
  transaction.rollBack();
  if (outcome.kind !== "unknown") return ahead.passengers.map(({ member }) => member);
  journal.heads.clear();
  for (const { member } of ahead.passengers) member.refuse(unknownCommit(outcome.error));
  return [];
}

/**
 * One transaction for several members: two round trips, a third if states have to be loaded. Members that only read use
 * one snapshot of the database, no locks, and leave no transaction open while they decide.
 * - Decisions run in order, each sees the plans of those before it. One that fails has planned nothing and fails alone.
 *   It is answered when the batch has ended: a failed batch is decided again with all of its members.
 * - A member that needs what is not locked moves to a later batch with its larger needs.
 * - Members are answered after the commit returned. A failure before the commit was sent has written nothing.
 * - A commit whose connection was lost: its transaction number says whether it still runs; then its last entry exists
 *   or not. The number alone is not enough: after a crash the server reuses it for another transaction.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { HoldpointError } from "../../kernel/errors.ts";
import { type StreamRef, streamName } from "../../kernel/stream.ts";
import type { Needs } from "../../kernel/transaction.ts";
import type { Folds } from "../../states.ts";
import { indexName, planDecision, type TransactionContext, type TransactionPlan } from "../decision.ts";
import type { Head } from "../head.ts";
import {
  type BatchWrites,
  entryCount,
  isEmptyWrite,
  MOST_ENTRIES,
  noWrites,
  type PostgresAppend,
  planSize,
} from "./append.ts";
import type { Client } from "./connect.ts";
import { isConnectionLost } from "./errors.ts";
import { addNeeds, type BatchMember, isReader } from "./group-commit.ts";
import type { FoundHead, LoadedHead, PostgresHeads } from "./heads.ts";
import type { PostgresJournal } from "./journal.ts";
import { type BatchNeeds, combineNeeds, expandNumberBlocks, type LoadedBatch } from "./lock-and-load.ts";
import {
  COMMIT,
  hexColumn,
  type QueryRunner,
  ROLLBACK,
  type Statement,
  sendPipeline,
  textColumn,
} from "./query.ts";

type BatchDecisions = {
  readonly writing: BatchWrites;
  readonly done: readonly { readonly member: BatchMember; readonly result: unknown }[];
  readonly refused: readonly { readonly member: BatchMember; readonly error: unknown }[];
  readonly again: readonly BatchMember[];
  /** The needs that those requested. */
  readonly asked: readonly Needs[];
};

type BatchContext = {
  readonly tenant: string;
  readonly folds: Folds;
  readonly append: PostgresAppend;
  readonly wanted: BatchNeeds;
  readonly standing: LoadedBatch;
  readonly seen: ReadonlyMap<string, LoadedHead>;
  now(): number;
  random(bytes: number): Uint8Array;
};

function decideBatch(deciding: BatchContext, members: readonly BatchMember[]): BatchDecisions {
  const writing = noWrites();
  const ground = postgresContext(deciding, writing);
  const place = {
    sidOf: (name: string): number => deciding.seen.get(name)?.found.sid ?? 0,
    isTaken: (name: string): boolean => deciding.standing.names.has(name),
  };
  const done: { member: BatchMember; result: unknown }[] = [];
  const refused: { member: BatchMember; error: unknown }[] = [];
  const again: BatchMember[] = [];
  const asked: Needs[] = [];
  for (const member of members) {
    try {
      const plan = planMember(deciding, ground, member);
      if (!("result" in plan)) {
        asked.push(plan);
        again.push(member);
      } else if (fitsInBatch(writing, plan)) {
        deciding.append.add(writing, plan, place);
        done.push({ member, result: plan.result });
      } else again.push(member);
    } catch (error) {
      refused.push({ member, error });
    }
  }
  return { writing, done, refused, again, asked };
}

/** Called when nothing can fail any more. */
function answerMembers({ done, refused }: Pick<BatchDecisions, "done" | "refused">): void {
  for (const { member, result } of done) member.answer(result);
  for (const { member, error } of refused) member.refuse(error);
}

function postgresContext(
  { tenant, folds, standing, seen, now, random }: BatchContext,
  writing: BatchWrites,
): TransactionContext {
  return {
    tenant,
    folds,
    now,
    random,
    head(_stream: StreamRef, name: string): Head {
      const written = writing.streams.get(name);
      if (written !== undefined) return written.head;
      const found = seen.get(name);
      if (found !== undefined && "head" in found) return found.head;
      throw found === undefined ? new TypeError(`"${name}" was not looked at`) : found.error;
    },
    name: (name) => writing.names.get(name)?.stream ?? standing.names.get(name),
    index: (key) => standing.index.get(indexName(key)) ?? [],
  };
}

function planMember(
  deciding: BatchContext,
  ground: TransactionContext,
  member: BatchMember,
): TransactionPlan<unknown> | Needs {
  const steps = planDecision(ground, member.needs, member.decide);
  for (let first = true; ; first = false) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (first || areNeedsLocked(deciding.wanted, step.value)) continue;
    addNeeds(member, step.value);
    return step.value;
  }
}

function areNeedsLocked({ streams, names, index }: BatchNeeds, needs: Needs): boolean {
  return (
    (needs.write ?? []).every((stream) => streams.get(streamName(stream))?.write === true) &&
    (needs.read ?? []).every((stream) => streams.has(streamName(stream))) &&
    (needs.names ?? []).every((name) => names.has(name)) &&
    (needs.index ?? []).every((key) => index.has(indexName(key)))
  );
}

/** Most bytes in one batch, unless one member alone is larger. */
const MOST_BYTES = 16 * 1024 * 1024;

function fitsInBatch(writing: BatchWrites, plan: TransactionPlan<unknown>): boolean {
  const more = plan.streams.reduce((sum, { entries }) => sum + entries.length, 0);
  if (more > MOST_ENTRIES)
    throw new HoldpointError("payload_too_large", `A decision appends at most ${MOST_ENTRIES} entries.`);
  const hasRoom = writing.size === 0 || writing.size + planSize(plan) <= MOST_BYTES;
  return hasRoom && entryCount(writing) + more <= MOST_ENTRIES;
}

type CommitMark = {
  readonly tid: number;
  readonly xid: number;
  /** Absent for a batch that writes only names or artifacts. */
  readonly last?: { readonly sid: number; readonly seq: number; readonly hash: string };
};

type CommitLookup = Pick<QueryRunner, "ask" | "patience"> & { readonly schema: string };

/** Returns if it was committed. Throws the connection's error if it certainly was not, else `commit_unknown`. */
async function resolveLostCommit(place: CommitLookup, mark: CommitMark, error: unknown): Promise<void> {
  const fate = await commitFate(place, mark).catch((cause: unknown) => commitUnknown(cause));
  if (fate === "committed") return;
  throw fate === "undone" ? error : commitUnknown(error);
}

type CommitFate = "committed" | "undone" | "unknown" | HoldpointError;

async function commitFate(place: CommitLookup, mark: CommitMark): Promise<CommitFate> {
  const until = performance.now() + place.patience.busyMs;
  for (let pause = 2; ; pause = Math.min(200, pause * 2)) {
    const fate = await lookUpCommit(place, mark);
    if (fate !== "running") return fate;
    if (performance.now() > until) return "unknown";
    await sleep(pause);
  }
}

const TRANSACTION_STATUS: Statement = {
  name: "hp_fate",
  text: `SELECT CASE WHEN $1::text::xid8 < pg_snapshot_xmax(pg_current_snapshot())
    THEN pg_xact_status($1::text::xid8) ELSE 'forgotten' END`,
};

async function lookUpCommit(
  { ask, schema }: CommitLookup,
  { tid, xid, last }: CommitMark,
): Promise<CommitFate | "running"> {
  const text = `SELECT hash FROM ${schema}.hp_entries WHERE tid = $1 AND sid = $2 AND seq = $3`;
  const values = [tid, last?.sid ?? 0, last?.seq ?? 0];
  // Two statements, the status first: the entry is then looked up in a later snapshot.
  const found = { statement: { name: "hp_fate_entry", text }, values };
  const [status, rows] = await ask(tid, { statement: TRANSACTION_STATUS, values: [String(xid)] }, found);
  const said = textColumn(status?.[0], 0);
  if (said === "in progress") return "running";
  if (last !== undefined) return hexColumn(rows?.[0], 0) === last.hash ? "committed" : "undone";
  return said === "aborted" || said === "forgotten" ? "undone" : "unknown";
}

function commitUnknown(cause: unknown): HoldpointError {
  const what = "The connection was lost while the database committed, and it could not be found out.";
  return new HoldpointError("commit_unknown", what, { cause });
}

/** Positions per transaction: the transaction number determines the first. */
const POSITIONS_PER_TRANSACTION = 16_384;

const firstPosition = (base: number, xid: number): number => base + xid * POSITIONS_PER_TRANSACTION;

/** Returns the members to decide again, with larger needs. Throws if certainly nothing was written. */
export async function runBatch(
  journal: PostgresJournal,
  tenant: string,
  members: readonly BatchMember[],
): Promise<readonly BatchMember[]> {
  const tid = await journal.tenants.ensure(tenant);
  const sent: Sent = { mark: undefined, decided: undefined };
  try {
    await journal.connections.use((client) => inTransaction({ journal, tenant, tid, client, sent }, members));
  } catch (error) {
    if (sent.mark === undefined || !isConnectionLost(error)) throw error;
    await resolveLostCommit(journal, sent.mark, error);
  }
  if (sent.mark !== undefined) journal.committed();
  if (sent.decided === undefined) return [];
  answerMembers(sent.decided);
  return sent.decided.again;
}

type Sent = { mark: CommitMark | undefined; decided: BatchDecisions | undefined };
type Running = {
  readonly journal: PostgresJournal;
  readonly tenant: string;
  readonly tid: number;
  readonly client: Client;
  readonly sent: Sent;
};

async function inTransaction(running: Running, members: readonly BatchMember[]): Promise<void> {
  const { journal, tenant, tid, client, sent } = running;
  const habits = journal.habits(tid);
  const wanted = combineNeeds([...members.map(({ needs }) => needs), habits.usual()]);
  const { grounds, heads } = journal;
  const results = await sendPipeline(client, grounds.locked(tid, wanted, mayBeNew(heads, tid, wanted)));
  const standing = grounds.standing(wanted, results);
  await journal.checkLayout(standing.layout);
  const found = await withStreamNumbers(running, wanted, standing);
  const seen = await heads.resolve(tid, found, (steps) => sendPipeline(client, steps));
  const { folds, append, random, clock } = journal;
  const now = () => clock?.now() ?? standing.clock;
  const decided = decideBatch({ tenant, folds, append, wanted, standing, seen, now, random }, members);
  sent.decided = decided;
  habits.learn(members.length, decided.asked);
  const { writing } = decided;
  if (isEmptyWrite(writing)) {
    await sendPipeline(client, [{ statement: ROLLBACK }]);
    return;
  }
  for (const { stream, head } of writing.streams.values()) heads.remember(tid, stream, head);
  const steps = append.steps(tid, writing, firstPosition(standing.base, standing.xid));
  await journal.hooks.commit?.("before", members.length);
  const last = writing.entries.at(-1);
  sent.mark = { tid, xid: standing.xid, ...(last && { last }) };
  await sendPipeline(client, [...steps, { statement: COMMIT }]);
  await journal.hooks.commit?.("after", members.length);
}

function mayBeNew(heads: PostgresHeads, tid: number, { streams }: BatchNeeds): number {
  let many = 0;
  for (const [name, { write }] of streams) if (write && !heads.isKnown(tid, name)) many++;
  return many;
}

/** Assigns numbers to new streams before they are written. */
async function withStreamNumbers(
  { journal, client }: Running,
  { streams }: BatchNeeds,
  standing: LoadedBatch,
): Promise<readonly FoundHead[]> {
  const isNew = ({ sid, name }: FoundHead) => sid === 0 && streams.get(name)?.write === true;
  const lacking = standing.found.filter(isNew).length - standing.numbers.length;
  const [more] = lacking > 0 ? await sendPipeline(client, [journal.grounds.numbers(lacking)]) : [];
  const numbers = [...standing.numbers, ...expandNumberBlocks(textColumn(more?.[0], 0))];
  return standing.found.map((found) => (isNew(found) ? { ...found, sid: numbers.shift() ?? 0 } : found));
}

/** Returns the members that turned out to write, or to need more. */
export async function runReadOnly(
  journal: PostgresJournal,
  tenant: string,
  members: readonly BatchMember[],
): Promise<readonly BatchMember[]> {
  const { grounds, heads, enter, folds, append, random, clock } = journal;
  const tid = (await journal.tenants.find(tenant)) ?? 0;
  const wanted = combineNeeds(members.map(({ needs }) => needs));
  const { standing, seen } = await journal.connections.use(async (client) => {
    const standing = grounds.standing(wanted, await sendPipeline(client, grounds.looked(tid, wanted)));
    const run = async (steps: Parameters<typeof sendPipeline>[1]) =>
      (await sendPipeline(client, [enter(tid), ...steps])).slice(1);
    return { standing, seen: await heads.resolve(tid, standing.found, run) };
  });
  await journal.checkLayout(standing.layout);
  const now = () => clock?.now() ?? standing.clock;
  const writers: BatchMember[] = [];
  for (const member of members) {
    const deciding = { tenant, folds, append, wanted, standing, seen, now, random };
    const { writing, done, refused, again } = decideBatch(deciding, [member]);
    writers.push(...again);
    if (isEmptyWrite(writing)) answerMembers({ done, refused });
    else writers.push(asWriter(member));
  }
  return writers;
}

/** Artifacts are not declared, and a look may turn out to write. */
function asWriter(member: BatchMember): BatchMember {
  if (isReader(member)) member.writes = true;
  return member;
}

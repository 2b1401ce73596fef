/**
 * One transaction for several members: two round trips, a third where states have to be loaded.
 *
 * B1. Members are answered after the commit returned, never before.
 * B2. What fails before the commit was sent has written nothing. What fails after it is found out.
 */

import { isNothing } from "./append.ts";
import { textAt } from "./ask.ts";
import { type Decided, decideAll, tellAll } from "./decide-all.ts";
import type { Client } from "./driver.ts";
import { type CommitMark, findOut } from "./find-out.ts";
import { COMMIT, numbersIn, ROLLBACK, type Standing, type Wanted, wantedBy } from "./ground.ts";
import type { Found, Heads } from "./heads.ts";
import type { Journal } from "./journal.ts";
import type { Member } from "./member.ts";
import { send } from "./pipeline.ts";
import { isLost } from "./postgres-errors.ts";

/** Positions that a transaction has: its number tells the first. */
const PLACES = 16_384;

export const positionOf = (base: number, xid: number): number => base + xid * PLACES;

/** Answers who has to be decided again, with larger needs. Throws when it is certain that nothing was written. */
export async function runBatch(
  journal: Journal,
  tenant: string,
  members: readonly Member[],
): Promise<readonly Member[]> {
  const tid = await journal.tenants.ensure(tenant);
  const sent: Sent = { mark: undefined, decided: undefined };
  try {
    await journal.connections.use((client) => inTransaction({ journal, tenant, tid, client, sent }, members));
  } catch (error) {
    if (sent.mark === undefined || !isLost(error)) throw error;
    await findOut(journal, sent.mark, error);
  }
  if (sent.mark !== undefined) journal.committed();
  if (sent.decided === undefined) return [];
  tellAll(sent.decided);
  return sent.decided.again;
}

type Sent = { mark: CommitMark | undefined; decided: Decided | undefined };
type Running = {
  readonly journal: Journal;
  readonly tenant: string;
  readonly tid: number;
  readonly client: Client;
  readonly sent: Sent;
};

async function inTransaction(running: Running, members: readonly Member[]): Promise<void> {
  const { journal, tenant, tid, client, sent } = running;
  const habits = journal.habits(tid);
  const wanted = wantedBy([...members.map(({ needs }) => needs), habits.usual()]);
  const { grounds, heads } = journal;
  const results = await send(client, grounds.locked(tid, wanted, mayBeNew(heads, tid, wanted)));
  const standing = grounds.standing(wanted, results);
  await journal.checkLayout(standing.layout);
  const found = await numbered(running, wanted, standing);
  const seen = await heads.resolve(tid, found, (steps) => send(client, steps));
  const { folds, append, random, clock } = journal;
  const now = () => clock?.now() ?? standing.clock;
  const decided = decideAll({ tenant, folds, append, wanted, standing, seen, now, random }, members);
  sent.decided = decided;
  habits.learn(members.length, decided.asked);
  const { writing } = decided;
  if (isNothing(writing)) {
    await send(client, [{ statement: ROLLBACK }]);
    return;
  }
  for (const { stream, head } of writing.streams.values()) heads.remember(tid, stream, head);
  const steps = append.steps(tid, writing, positionOf(standing.base, standing.xid));
  await journal.hooks.commit?.("before", members.length);
  const last = writing.entries.at(-1);
  sent.mark = { tid, xid: standing.xid, ...(last && { last }) };
  await send(client, [...steps, { statement: COMMIT }]);
  await journal.hooks.commit?.("after", members.length);
}

function mayBeNew(heads: Heads, tid: number, { streams }: Wanted): number {
  let many = 0;
  for (const [name, { write }] of streams) if (write && !heads.isKnown(tid, name)) many++;
  return many;
}

/** New streams get their numbers before they are written. */
async function numbered(
  { journal, client }: Running,
  { streams }: Wanted,
  standing: Standing,
): Promise<readonly Found[]> {
  const isNew = ({ sid, name }: Found) => sid === 0 && streams.get(name)?.write === true;
  const lacking = standing.found.filter(isNew).length - standing.numbers.length;
  const [more] = lacking > 0 ? await send(client, [journal.grounds.numbers(lacking)]) : [];
  const numbers = [...standing.numbers, ...numbersIn(textAt(more?.[0], 0))];
  return standing.found.map((found) => (isNew(found) ? { ...found, sid: numbers.shift() ?? 0 } : found));
}

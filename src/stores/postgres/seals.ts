/** Seals: what moved, signed by one at a time under a lock, over what is settled. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Seal, SealDraft } from "../../journal/seal.ts";
import { checkSeal, draftSeal, type SealedSoFar } from "../draft-seal.ts";
import { type Ask, hexAt, numberAt, textAt } from "./ask.ts";
import type { Client } from "./driver.ts";
import { halves } from "./encode.ts";
import { BEGIN, COMMIT, NOW, ROLLBACK } from "./ground.ts";
import { type LockSpace, lockOf } from "./locks.ts";
import { patiently } from "./patience.ts";
import { type Row, send } from "./pipeline.ts";
import { horizonOf } from "./read.ts";
import { fromText } from "./text-key.ts";

type Sign = (draft: SealDraft) => Seal;
export type Sealing = { readonly tid: number; readonly tenant: string };

/** With what an earlier try signed. */
type Attempt = Sealing & { signed: Seal | undefined };

export type Seals = {
  seal(sealing: Sealing, sign: Sign): Promise<Seal | undefined>;
  list(tid: number, after: number): Promise<readonly Seal[]>;
  over(tid: number, position: number | "last"): Promise<Seal | undefined>;
};

type Place = {
  readonly schema: string;
  readonly space: LockSpace;
  readonly clock?: { now(): number };
};

/** What was committed before the call is sealed unless a transaction of somebody else stays open for longer. */
const SETTLE_MS = 1_000;

export function prepareSeals(asking: Ask, place: Place): Seals {
  const { ask } = asking;
  const { schema } = place;
  const columns = "SELECT n, jws, leaves FROM";
  const list = {
    name: "hp_seals",
    text: `${columns} ${schema}.hp_seals WHERE tid = $1 AND n > $2 ORDER BY n`,
  };
  const over = {
    name: "hp_seal_over",
    text: `${columns} ${schema}.hp_seals WHERE tid = $1 AND position >= $2 ORDER BY position LIMIT 1`,
  };
  const newest = {
    name: "hp_last_seal",
    text: `${columns} ${schema}.hp_seals WHERE tid = $1 ORDER BY n DESC LIMIT 1`,
  };
  const statements = sealStatements(schema);
  return {
    async seal(sealing, sign) {
      await settled(asking, sealing.tid, statements.unsettled);
      const attempt: Attempt = { ...sealing, signed: undefined };
      return patiently(asking.patience, () =>
        asking.connections.use((client) => sealOnce({ asking, place, statements, client }, attempt, sign)),
      );
    },
    async list(tid, after) {
      const [rows = []] = await ask(tid, { statement: list, values: [tid, after] });
      return rows.map(kept);
    },
    async over(tid, position) {
      const last = { statement: newest, values: [tid] };
      const [rows] = await ask(
        tid,
        position === "last" ? last : { statement: over, values: [tid, position] },
      );
      return rows?.[0] && kept(rows[0]);
    },
  };
}

function sealStatements(schema: string) {
  const horizon = `(SELECT ${horizonOf(schema)})`;
  const span = `FROM ${schema}.hp_entries e WHERE e.tid = $1 AND e.position > $2 AND e.position < $3`;
  return {
    unsettled: {
      name: "hp_unsettled",
      text: `SELECT 1 FROM ${schema}.hp_entries e WHERE e.tid = $1 AND e.position >= ${horizon} LIMIT 1`,
    },
    lock: { name: "hp_seal_lock", text: "SELECT pg_advisory_xact_lock(k) FROM unnest($1::int8[]) k" },
    last: {
      name: "hp_sealed",
      text: `SELECT n, at, position, entries, jws FROM ${schema}.hp_seals WHERE tid = $1 ORDER BY n DESC LIMIT 1`,
    },
    now: {
      name: "hp_seal_now",
      text: `SELECT ${NOW}, ${horizon}, (SELECT value FROM ${schema}.hp_meta WHERE key = 'incarnation')`,
    },
    span: { name: "hp_seal_span", text: `SELECT count(*), max(e.position) ${span}` },
    leaves: {
      name: "hp_seal_leaves",
      text: `SELECT (SELECT coalesce(s.whole, s.key) FROM ${schema}.hp_streams s WHERE s.sid = m.sid), m.seq, m.hash
        FROM (SELECT DISTINCT ON (e.sid) e.sid, e.seq, e.hash ${span} ORDER BY e.sid, e.seq DESC) m`,
    },
    insert: {
      name: "hp_seal",
      text: `INSERT INTO ${schema}.hp_seals (tid, n, at, position, entries, jws, leaves) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    },
  };
}

async function settled({ ask }: Ask, tid: number, statement: { name: string; text: string }): Promise<void> {
  const until = performance.now() + SETTLE_MS;
  for (let pause = 1; performance.now() < until; pause = Math.min(50, pause * 2)) {
    const [rows] = await ask(tid, { statement, values: [tid] });
    if (rows?.length === 0) return;
    await sleep(pause);
  }
}

type Work = {
  readonly asking: Ask;
  readonly place: Place;
  readonly statements: ReturnType<typeof sealStatements>;
  readonly client: Client;
};

/** A lost connection is tried again: if what was signed then is the last seal now, it was kept after all. */
async function sealOnce(work: Work, sealing: Attempt, sign: Sign): Promise<Seal | undefined> {
  const { asking, statements, client, place } = work;
  const { tid } = sealing;
  const lock = lockOf(place.space, "work", tid, "seal");
  const [, , , last = [], now = []] = await send(client, [
    { statement: BEGIN },
    asking.enter(tid),
    { statement: statements.lock, values: [halves([lock])] },
    { statement: statements.last, values: [tid] },
    { statement: statements.now },
  ]);
  const before = sealedSoFar(last[0]);
  if (sealing.signed !== undefined && before?.jws === sealing.signed.jws) {
    await send(client, [{ statement: ROLLBACK }]);
    return sealing.signed;
  }
  const values = [tid, before?.position ?? 0, numberAt(now[0], 1)];
  const [span = [], leaves = []] = await send(client, [
    { statement: statements.span, values },
    { statement: statements.leaves, values },
  ]);
  if (numberAt(span[0], 0) === 0) {
    await send(client, [{ statement: ROLLBACK }]);
    return undefined;
  }
  const draft = draftSeal({
    tenant: sealing.tenant,
    incarnation: textAt(now[0], 2),
    now: place.clock?.now() ?? numberAt(now[0], 0),
    last: before,
    position: numberAt(span[0], 1),
    entries: numberAt(span[0], 0),
    leaves: leaves.map(leaf),
  });
  const seal = checkSeal(draft, sign(draft));
  sealing.signed = seal;
  const { n, at, position, entries } = draft;
  await send(client, [
    {
      statement: statements.insert,
      values: [tid, n, at, position, entries, seal.jws, JSON.stringify(seal.leaves)],
    },
    { statement: COMMIT },
  ]);
  return seal;
}

function sealedSoFar(row: Row | undefined): SealedSoFar | undefined {
  if (row === undefined) return undefined;
  return {
    n: numberAt(row, 0),
    at: numberAt(row, 1),
    position: numberAt(row, 2),
    entries: numberAt(row, 3),
    jws: textAt(row, 4),
  };
}

const leaf = (row: Row) => ({ stream: fromText(textAt(row, 0)), seq: numberAt(row, 1), hash: hexAt(row, 2) });

const kept = (row: Row): Seal => ({
  n: numberAt(row, 0),
  jws: textAt(row, 1),
  leaves: JSON.parse(textAt(row, 2)),
});

/**
 * Invariant 8 entry by entry, and that no secret reaches the journal. The costly checks: the verifier on whole journals,
 * states and views against the journal, and that cuts show.
 */
import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Header } from "../../../src/journal/entry.ts";
import { verifyJournal } from "../../../src/journal/verify.ts";
import type { JsonObject } from "../../../src/kernel/json.ts";
import type { MemoryTenant } from "../../../src/stores/memory/database.ts";
import { rebuildMemoryViews } from "../../../src/stores/memory/views.ts";
import type { JournalEntry } from "../../../src/stores/store.ts";
import { FOLDS } from "../../../src/streams.ts";
import { CANARY, fail, SIGNING_KEY, type Sim } from "../sim.ts";
import { type Event, expect, type SeenTenant } from "./seen.ts";

const FIRST = { seq: 0, hash: "0".repeat(64), at: 0 };

export function readEntry(sim: Sim, seen: SeenTenant, entry: JournalEntry): Event {
  const header = JSON.parse(entry.header) as Header;
  const { stream, seq, prev, at, type, tenant } = header;
  const before = seen.heads.get(stream) ?? FIRST;
  const hash = createHash("sha256").update(entry.header).digest("hex");
  const body = entry.body ?? "null";
  const digest = createHash("sha256")
    .update(Buffer.from(entry.salt ?? "", "hex"))
    .update(body)
    .digest("hex");
  const at8 = (holds: boolean, what: string) => expect({ sim }, holds, "8", `${stream} ${seq}: ${what}`);
  at8(seq === before.seq + 1 && prev === before.hash, "does not follow the entry before it");
  at8(hash === entry.hash, "has another hash");
  at8(digest === header.body, "has another body");
  at8(at >= before.at, "lies before the entry before it");
  expect({ sim }, tenant === seen.name, "13", `an entry of ${tenant} is in the journal of ${seen.name}`);
  expect({ sim }, !body.includes(CANARY), "14", `${stream} ${seq} (${type}) holds a secret`);
  seen.heads.set(stream, { seq, hash: entry.hash, at });
  const id = stream.slice(stream.indexOf("/") + 1);
  return { tenant, stream, id, type, at, seq, body: JSON.parse(body) as JsonObject };
}

const VERIFICATION_KEYS = [SIGNING_KEY.publicJwk];

function verify(tenant: string, { seals }: MemoryTenant, entries: readonly JournalEntry[]) {
  return verifyJournal({ tenant, seals: seals.map(({ seal }) => seal), keys: VERIFICATION_KEYS, entries });
}

function checkVerifier(sim: Sim, tenant: string, kept: MemoryTenant): void {
  const report = verify(tenant, kept, kept.log);
  if (!report.ok) fail(sim, "8", `the verifier finds ${report.findings[0]?.what} in ${tenant}`);
  let streams = 0;
  for (const { head, entries } of kept.streams.values()) {
    streams += entries.length;
    if (entries.at(-1)?.hash !== head.hash) fail(sim, "8", `a head of ${tenant} is not its last entry`);
  }
  if (streams !== kept.log.length) fail(sim, "8", `the log of ${tenant} is not what its streams hold`);
}

/** Invariant 12: replaying the journal from zero gives the live state, and the views show nothing else. */
function checkReplay(sim: Sim, kept: MemoryTenant): void {
  for (const { stream, head, entries, name } of kept.streams.values()) {
    const fold = FOLDS[stream.kind] as { initial: unknown; evolve(state: unknown, event: unknown): unknown };
    let state = fold.initial;
    for (const entry of entries) {
      const { type, tv, at, seq } = JSON.parse(entry.header);
      state = fold.evolve(state, { type, tv, at, seq, body: JSON.parse(entry.body ?? "null") });
    }
    if (!isDeepStrictEqual(state, head.state)) fail(sim, "12", `the state of ${name} is not its journal's`);
  }
}

function rowsOf(kept: MemoryTenant): unknown {
  const tables = [...kept.views].filter(([, rows]) => rows.size > 0);
  return Object.fromEntries(tables.map(([view, rows]) => [view, Object.fromEntries(rows)]));
}

export function checkWhole(sim: Sim): void {
  const { data } = sim.database;
  const before = [...data.tenants.values()].map(rowsOf);
  for (const [tenant, kept] of data.tenants) {
    checkVerifier(sim, tenant, kept);
    checkReplay(sim, kept);
  }
  rebuildMemoryViews(sim.database);
  const after = [...data.tenants.values()].map(rowsOf);
  if (!isDeepStrictEqual(before, after)) fail(sim, "12", "the views are not those of the journal");
}

/** A verifier that finds nothing proves nothing, unless it finds what is wrong. */
export function checkTampering(sim: Sim): void {
  for (const [tenant, kept] of sim.database.data.tenants) {
    const sealed = kept.seals.at(-1)?.sealed.position ?? 0;
    const last = kept.log.findLastIndex((entry) => entry.position <= sealed);
    const victim = kept.log[last];
    if (victim === undefined) continue;
    const stream = JSON.parse(victim.header).stream as string;
    if (sim.random.chance(0.5)) {
      const forged = kept.log.map((entry) => (entry === victim ? { ...entry, body: '{"forged":1}' } : entry));
      if (verify(tenant, kept, forged).ok)
        fail(sim, "8", `the verifier did not notice a forged body in ${stream}`);
      continue;
    }
    const isAfter = (entry: JournalEntry, at: number) =>
      at >= last && JSON.parse(entry.header).stream === stream;
    const cut = kept.log.filter((entry, at) => !isAfter(entry, at));
    if (verify(tenant, kept, cut).ok) fail(sim, "8", `the verifier did not notice the cut tail of ${stream}`);
  }
}

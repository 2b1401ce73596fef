/** The costly checks: the verifier's word on whole journals, states and views against the journal, and that cuts show. */
import { isDeepStrictEqual } from "node:util";
import { verifyJournal } from "../../../journal/verify.ts";
import type { MemoryTenant } from "../../../stores/memory/database.ts";
import { rebuildMemoryViews } from "../../../stores/memory/views.ts";
import type { JournalEntry } from "../../../stores/store.ts";
import { FOLDS } from "../../../streams.ts";
import { SIGNING_KEY } from "../signing-key.ts";
import { fail, type Sim } from "../sim.ts";

const keys = [SIGNING_KEY.publicJwk];

function verify(tenant: string, { seals }: MemoryTenant, entries: readonly JournalEntry[]) {
  return verifyJournal({ tenant, seals: seals.map(({ seal }) => seal), keys, entries });
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

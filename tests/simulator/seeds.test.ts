// One run of 150 seeds: the invariants hold, and the journals are the ones that are pinned.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, test } from "node:test";
import { comparePin } from "../pins/pin.ts";
import { collectVectors } from "../pins/vectors.ts";
import { tooRare } from "./counters.ts";
import { runSeeds, type Totals } from "./pool.ts";
import type { WrittenEntry } from "./run-seed.ts";
import type { SeedJournal } from "./worker.ts";

const SEEDS = 150;

const digest = (lines: readonly string[]): string =>
  createHash("sha256").update(lines.join("\n")).digest("hex").slice(0, 16);

/**
 * What was written, in order, without and with bodies: where only the second differs, the same events say something else.
 * `npm run sim -- --seed <seed> --events` prints the events of one seed, to be compared with those of another version.
 */
function trailLine({ seed, entries }: SeedJournal): string {
  const typed = entries.map(({ header, body }: WrittenEntry) => {
    const { tenant, stream, type } = JSON.parse(header) as Record<"tenant" | "stream" | "type", string>;
    return { what: `${tenant} ${stream.slice(0, stream.indexOf("/"))} ${type}`, body };
  });
  const types = digest(typed.map(({ what }) => what));
  const events = digest(typed.map(({ what, body }) => `${what} ${body}`));
  return `seed ${seed}  entries ${entries.length}  types ${types}  events ${events}`;
}

type Run = {
  readonly totals: Totals;
  readonly trails: string;
  readonly vectors: string;
  readonly fields: string;
};

async function runAll(): Promise<Run> {
  const trails = new Map<bigint, string>();
  const vectors = collectVectors();
  const onJournal = (journal: SeedJournal) => {
    trails.set(journal.seed, trailLine(journal));
    for (const entry of journal.entries) vectors.add(entry);
  };
  const totals = await runSeeds({ from: 1n, seeds: SEEDS, threads: 2, onJournal }, () => {});
  const sorted = [...trails].toSorted(([a], [b]) => Number(a - b)).map(([, line]) => `${line}\n`);
  return { totals, trails: sorted.join(""), vectors: vectors.text(), fields: vectors.fields() };
}

let running: Promise<Run> | undefined;
const run = (): Promise<Run> => (running ??= runAll());

describe("a simulated company of processes, people and a faulty world", () => {
  test(`keeps every invariant over ${SEEDS} seeds, and meets every fault and race`, async () => {
    const { totals } = await run();
    const [first] = totals.failures;
    const said = `seed ${first?.seed} violates ${first?.invariant}: ${first?.what}\n  npm run sim -- --seed ${first?.seed} --trace`;
    assert.equal(totals.failures.length, 0, said);
    assert.deepEqual(tooRare(totals.counters, SEEDS), []);
  });

  test(`writes the pinned events in each of ${SEEDS} seeds, in the pinned order`, async () => {
    comparePin("trails.txt", (await run()).trails);
  });

  test("writes entries with the pinned bytes and hashes", async () => {
    comparePin("journal/simulator.txt", (await run()).vectors);
  });

  test("writes events with the pinned fields", async () => {
    comparePin("journal/fields.txt", (await run()).fields);
  });
});

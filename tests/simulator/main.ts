/** `npm run sim`: many seeds, one seed, the planted bugs, or the seeds that once failed. */
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { FACTS, FAULTS, leastFor, RACES, tooRare } from "./counters.ts";
import { PLANTED } from "./planted.ts";
import { type Hunt, huntAll, runSeeds, type Totals } from "./pool.ts";
import { runSeed, type WrittenEntry } from "./run-seed.ts";

const THREADS = 2;
const MOST_FOR_PLANTED = 2_000;

const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

function table(title: string, names: readonly string[], totals: Totals): void {
  say(`\n${title}`);
  for (const name of names) say(`  ${String(totals.counters.get(name) ?? 0).padStart(9)}  ${name}`);
}

async function many(seeds: number, from: bigint): Promise<number> {
  const begun = process.hrtime.bigint();
  const isTerminal = process.stderr.isTTY === true;
  const totals = await runSeeds({ from, seeds, threads: THREADS }, (done) => {
    if (isTerminal) process.stderr.write(`\r${done} of ${seeds} seeds`);
  });
  if (isTerminal) process.stderr.write("\r");
  const seconds = Number((process.hrtime.bigint() - begun) / 1_000_000n) / 1_000;
  table("faults", FAULTS, totals);
  table("races", RACES, totals);
  table("facts in journals", FACTS, totals);
  const rare = tooRare(totals.counters, seeds);
  say(`\nseeds       ${totals.seeds} (from ${from})`);
  say(`entries     ${totals.entries}`);
  say(`steps       ${totals.steps}`);
  say(`violations  ${totals.failures.length}`);
  say(`elapsed     ${seconds.toFixed(1)} s on ${THREADS} threads`);
  if (totals.failures.length === 0)
    say(
      `bound       with 95 % confidence fewer than ${(3 / seeds).toPrecision(2)} of such seeds show a violation (3/N)`,
    );
  for (const { seed, invariant, what } of totals.failures.slice(0, 10))
    say(`\nseed ${seed} violates ${invariant}: ${what}\n  npm run sim -- --seed ${seed} --trace`);
  for (const name of rare) say(`too rare (under ${leastFor(seeds)}): ${name}`);
  return totals.failures.length + rare.length === 0 ? 0 : 1;
}

function printEvents(journal: readonly WrittenEntry[]): void {
  for (const { header, body } of journal) {
    const { tenant, stream, type } = JSON.parse(header) as Record<"tenant" | "stream" | "type", string>;
    say(`${tenant} ${stream} ${type} ${body}`);
  }
}

type Shown = { readonly trace: boolean; readonly events: boolean };

async function one(seed: bigint, { trace, events }: Shown): Promise<number> {
  const { digest, entries, steps, violations, journal } = await runSeed(seed, trace ? say : null);
  if (events) printEvents(journal);
  say(`seed ${seed}  entries ${entries}  steps ${steps}  digest ${digest}`);
  for (const { invariant, what } of violations) say(`violates ${invariant}: ${what}`);
  return violations.length === 0 ? 0 : 1;
}

function huntLine({ name, seeds, found }: Hunt): string {
  const by =
    found === undefined ? "NOT FOUND" : `by ${found.invariant}: ${found.what.split("\n")[0]?.slice(0, 90)}`;
  return `  ${String(seeds).padStart(5)}  ${name.padEnd(52)}  ${by}`;
}

/** Where each was found: the test looks there first. */
function writeTrails(hunts: readonly Hunt[]): void {
  const trails = hunts.flatMap(({ name, found }) =>
    found === undefined ? [] : [[name, String(found.seed)]],
  );
  const text = JSON.stringify(Object.fromEntries(trails), null, 2);
  writeFileSync(new URL("./trails.json", import.meta.url), `${text}\n`);
}

async function planted(name: string | undefined): Promise<number> {
  const names = PLANTED.map((bug) => bug.name).filter((known) => name === undefined || known === name);
  if (names.length === 0) {
    say(`there is no planted bug "${name}"; there are:\n  ${PLANTED.map((bug) => bug.name).join("\n  ")}`);
    return 1;
  }
  say("seeds  planted bug                                           found");
  const hunts = await huntAll(names, MOST_FOR_PLANTED, (hunt) => say(huntLine(hunt)));
  const isFound = ({ found: by }: Hunt) => by !== undefined && by.invariant !== "simulator";
  const found = hunts.filter(isFound).length;
  say(`${found} of ${names.length} found`);
  if (name === undefined) writeTrails(hunts.filter(isFound));
  return found === names.length ? 0 : 1;
}

async function regressions(): Promise<number> {
  const kept = JSON.parse(readFileSync(new URL("./regressions.json", import.meta.url), "utf8"));
  let failed = 0;
  for (const { seed, why } of kept as readonly { seed: string; why: string }[]) {
    say(why);
    failed += await one(BigInt(seed), { trace: false, events: false });
  }
  return failed === 0 ? 0 : 1;
}

const HELP = `npm run sim -- [--seeds <n>] [--from <seed>]   many seeds (200), with counts of what they met
npm run sim -- --seed <seed> [--trace]          one 64-bit seed, decimal or 0x…; --trace prints every step
npm run sim -- --seed <seed> --events           the events that it writes, to compare two versions of the code
npm run sim -- --planted [<name>]               plants bugs and looks for them, up to ${MOST_FOR_PLANTED} seeds each;
                                                without a name, writes where each was found for the test
npm run sim -- --regressions                    the seeds that once failed
Exits with 1 when an invariant is violated, a planted bug is not found, or something is met too rarely.`;

const OPTIONS = {
  seeds: { type: "string", default: "200" },
  from: { type: "string", default: "1" },
  seed: { type: "string" },
  trace: { type: "boolean", default: false },
  events: { type: "boolean", default: false },
  planted: { type: "boolean", default: false },
  regressions: { type: "boolean", default: false },
  help: { type: "boolean", default: false },
} as const;

function wholeNumber(flag: string, text: string): bigint {
  if (/^(\d{1,20}|0x[0-9a-f]{1,16})$/i.test(text)) return BigInt(text);
  throw new TypeError(`--${flag} takes a whole number, not "${text}".`);
}

function chosen(): Promise<number> {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: OPTIONS });
  if (values.help) {
    say(HELP);
    return Promise.resolve(0);
  }
  if (values.seed !== undefined) return one(BigInt.asUintN(64, wholeNumber("seed", values.seed)), values);
  if (values.planted) return planted(positionals.length === 0 ? undefined : positionals.join(" "));
  if (values.regressions) return regressions();
  return many(Number(wholeNumber("seeds", values.seeds)), wholeNumber("from", values.from));
}

async function main(): Promise<number> {
  try {
    return await chosen();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    process.stderr.write(`${error.message}\n${HELP}\n`);
    return 2;
  }
}

process.exitCode = await main();

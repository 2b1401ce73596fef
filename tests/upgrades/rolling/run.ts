/** `npm run upgrade`: stores carried on, and a fleet at work, replaced by this version. */
import { parseArgs } from "node:util";
import { findCommit, installCommit, RELEASE } from "../archive.ts";
import { upgradeFrom } from "../from-commit.ts";
import { makeFixtures } from "../make-fixtures.ts";
import { sweepFaults } from "../planted.ts";
import { type RollOptions, roll } from "./roll.ts";

const HELP = `npm run upgrade -- [--from <commit>] [--runs <n>] [--orders <n>] [--pause <seconds>]

npm run upgrade -- --planted

npm run upgrade -- --make-fixture <name> --commit <commit>

Starts two servers and two workers of 0.1.0 on a PostgreSQL of their own, stops them by SIGTERM while orders come in and people
decide, and starts this version. Nothing may be lost, doubled or left behind: by the journal, by a receiver that counts, and by
what clients were told. 0.1.0 cannot read what this version writes, so all its nodes stop first. Nodes of a later commit are
replaced one by one.

  --from <commit>    that commit instead of 0.1.0. First its program leaves everything waiting, on a file and on PostgreSQL,
                     and the present sources carry it on. No fleet where their layouts exclude each other. Needs a clone
                     with history
  --runs <n>         how many fleets, one after the other (3; 1 with --from)
  --orders <n>       orders a second, of seven operations each (10)
  --pause <seconds>  how long the fleet works between two replacements (10)

  --planted          drops rows from the kept stores, one at a time: each has to be missed

  --make-fixture     keeps the stores that the program of a commit leaves in tests/upgrades/<name>, and of a release
                     (a name such as 0.2.0) the program. What exists stays as it is
`;

const { values } = parseArgs({
  options: {
    from: { type: "string" },
    runs: { type: "string" },
    orders: { type: "string", default: "10" },
    pause: { type: "string", default: "10" },
    planted: { type: "boolean", default: false },
    "make-fixture": { type: "string" },
    commit: { type: "string", default: "HEAD" },
    help: { type: "boolean", default: false },
  },
});

const say = (line: string) => console.log(`  ${line}`);

/** What it opens is closed at its end, and when this program is told to stop. */
async function within<Result>(work: (context: never) => Promise<Result>): Promise<Result> {
  const ends: (() => unknown)[] = [];
  const stop = () => {
    for (const end of ends) void end();
  };
  process.once("SIGTERM", stop);
  try {
    return await work({ after: (end: () => unknown) => void ends.push(end) } as never);
  } finally {
    process.removeListener("SIGTERM", stop);
    for (const end of ends) await end();
  }
}

async function rollOnce(older: RollOptions["older"]): Promise<boolean> {
  const options = { older, orders: Number(values.orders), pauseMs: Number(values.pause) * 1_000, say };
  const rolled = await within((context) => roll(context, options));
  console.log(JSON.stringify(rolled, null, 2));
  const { lost, doubled, stuck, wrong } = rolled;
  return [lost, doubled, stuck, wrong].every((list) => list.length === 0);
}

async function rollAll(older: RollOptions["older"], runs: number): Promise<void> {
  for (let run = 1; run <= runs; run++) {
    console.log(`fleet ${run} of ${runs}`);
    if (!(await rollOnce(older))) process.exitCode = 1;
  }
}

/** undefined, and an error said, where there is no such commit. */
function commitOf(name: string): string | undefined {
  const commit = findCommit(name);
  if (commit !== undefined) return commit;
  console.error(`This tree has no commit "${name}": it needs a clone with the history up to there.`);
  process.exitCode = 1;
  return undefined;
}

async function runFrom(commit: string): Promise<void> {
  console.log(`stores of ${commit}`);
  const why = await within((context) => upgradeFrom(context, commit, say));
  const older = { name: commit.slice(0, 8), install: (folder: string) => installCommit(commit, folder) };
  if (why === undefined) await rollAll(older, Number(values.runs ?? 1));
  else console.log(`no fleet: ${why}. All nodes stop for this upgrade`);
}

async function main(): Promise<void> {
  const { from, "make-fixture": name } = values;
  if (values.help) return console.log(HELP);
  if (values.planted) {
    process.exitCode = (await sweepFaults(say)) ? 0 : 1;
    return;
  }
  if (from === undefined && name === undefined) return rollAll(RELEASE, Number(values.runs ?? 3));
  const commit = commitOf(from ?? values.commit);
  if (commit === undefined) return;
  if (name === undefined) return runFrom(commit);
  console.log((await makeFixtures(name, commit)).join("\n"));
}

await main();

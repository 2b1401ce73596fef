/** `npm run scale:fleet`: what many machines share one database for, in figures. */
import { parseArgs } from "node:util";
import { calibrate, compare } from "./calibrate.ts";
import { startDatabase } from "./database.ts";
import { fill } from "./fill.ts";
import { KINDS } from "./kinds.ts";
import { type Latency, measureLatency } from "./latency.ts";
import { measureThroughput } from "./throughput.ts";

const HELP = `npm run scale:fleet -- [--only throughput|grown|model] [--workers 1,2,4] [--seconds n] [--decided n] [--suspended n]

  throughput   guarded calls a second with 1, 2 and 4 worker processes on one PostgreSQL
  grown        the inbox's first page and the waking of workflows: empty, then beside --decided (1000000) approvals that
               people have decided and --suspended (100000) workflows that wait; more than twice as long, in the middle or
               for the slowest of twenty, is wrong
  model        what one of each kind of work leaves in the database, and a mixed load beside what the model says
`;

const say = (text: string) => void process.stderr.write(`${text}\n`);

async function throughput(workers: readonly number[], seconds: number): Promise<boolean> {
  for (const many of workers) console.log(await measureThroughput(many, seconds));
  return true;
}

const MOST_TIMES = 2;

/** The slowest of a hundred is the machine's; the middle and the slowest of twenty are the database's. */
const JUDGED = /P(50|95)Ms$/;

const slower = (before: Latency, after: Latency): readonly string[] =>
  (Object.keys(before) as (keyof Latency)[])
    .filter((field) => JUDGED.test(field) && after[field] > before[field] * MOST_TIMES)
    .map((field) => `${field} was ${before[field]} and is ${after[field]}`);

async function grown(decided: number, suspended: number): Promise<boolean> {
  const database = await startDatabase();
  try {
    await fill(database.url, { suspended: 100 });
    const before = await measureLatency(database.url, 200);
    console.log({ empty: before });
    const began = performance.now();
    const approved = Math.round(decided / 4);
    await fill(database.url, { approved, rejected: decided - approved, suspended });
    say(`filled in ${Math.round((performance.now() - began) / 1_000)} s`);
    const after = await measureLatency(database.url, 200);
    console.log({ decided, suspended, full: after, stock: await database.stock() });
    const wrong = slower(before, after);
    for (const what of wrong) console.log(`WRONG ${what}: more than ${MOST_TIMES} times as long`);
    return wrong.length === 0;
  } finally {
    await database.stop();
  }
}

async function model(): Promise<boolean> {
  for (const kind of KINDS) console.log(kind, await calibrate(kind));
  console.log(await compare());
  return true;
}

const OPTIONS = {
  only: { type: "string", default: "throughput,grown,model" },
  workers: { type: "string", default: "1,2,4" },
  seconds: { type: "string", default: "10" },
  decided: { type: "string", default: "1000000" },
  suspended: { type: "string", default: "100000" },
  help: { type: "boolean", default: false },
} as const;

const { values } = parseArgs({ options: OPTIONS });
if (values.help) process.stdout.write(HELP);
else {
  const wanted = values.only.split(",");
  const { decided, suspended, seconds } = values;
  const proofs = {
    throughput: () => throughput(values.workers.split(",").map(Number), Number(seconds)),
    grown: () => grown(Number(decided), Number(suspended)),
    model,
  };
  let isFine = true;
  for (const [name, prove] of Object.entries(proofs))
    if (wanted.includes(name)) isFine = (await prove()) && isFine;
  process.exitCode = isFine ? 0 : 1;
}

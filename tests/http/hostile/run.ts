/** `npm run hostile`: what people who mean harm, or clients that are wrong, do to a server. */
import { randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import { randomFrom } from "../../server/sample.ts";
import { decideLate, raceDecisions } from "./decisions.ts";
import { hear } from "./listeners.ts";
import { sendMalformed } from "./malformed.ts";
import { startTarget, type Target } from "./server-process.ts";
import { askBesideSlow, judgeSlowed, MOST_TIMES, timesOf } from "./slow.ts";

const USAGE = `npm run hostile -- [--requests n] [--slow n] [--listeners n] [--races n] [--late n] [--seed n]

  Against a server in a process of its own, one after the other:

  --requests   50000  requests that no client should send, by the schemas and at random, with credentials and without
  --slow       1000   sockets that send headers or bodies byte by byte or nothing at all, beside clients that want an answer
  --listeners  1000   listeners to events that come and go while the server is stopped, killed and started again
  --races      1000   two people who decide opposite things at once
  --late       10000  decisions that come late, again, or about something else
  --seed              drawn unless set

  0 leaves one out. Ends with 1 if anything is wrong. Of times, only how long others take beside slow sockets is judged: at
  most ${MOST_TIMES} times as long at the 95th percentile, in the middle of five rounds.
`;

const OPTIONS = {
  requests: { type: "string", default: "50000" },
  slow: { type: "string", default: "1000" },
  listeners: { type: "string", default: "1000" },
  races: { type: "string", default: "1000" },
  late: { type: "string", default: "10000" },
  seed: { type: "string" },
  help: { type: "boolean" },
} as const;

function read() {
  try {
    const { values } = parseArgs({ options: OPTIONS });
    if (values.help === true) return "help" as const;
    const { help: _, seed = String(randomBytes(4).readUInt32BE()), ...counts } = values;
    const numbers = { ...counts, seed };
    if (!Object.values(numbers).every((text) => /^\d{1,10}$/.test(text))) return undefined;
    return Object.fromEntries(Object.entries(numbers).map(([name, text]) => [name, Number(text)])) as {
      readonly [Name in keyof typeof numbers]: number;
    };
  } catch {
    return undefined;
  }
}

type Wanted = Exclude<ReturnType<typeof read>, "help" | undefined>;
type Told = { readonly wrong: readonly string[]; readonly lines: readonly string[] };

const ms = (value: number): string => `${value.toFixed(1)} ms`;

/** In the order in which they are done; the count of each is the option of the same name. */
const PROOFS: { readonly [name: string]: (target: Target, count: number, seed: number) => Promise<Told> } = {
  async requests(target, count, seed) {
    // What is made once, at the first request that wants it, is not measured.
    await sendMalformed(target, 300, randomFrom(seed + 1));
    const { heapMb } = await target.condition();
    const { wrong, silent, byStatus } = await sendMalformed(target, count, randomFrom(seed));
    const after = await target.condition();
    const statuses = [...byStatus].sort(([a], [b]) => a - b).map(([status, n]) => `${status}: ${n}`);
    return {
      wrong,
      lines: [
        `${count} requests: ${statuses.join(", ")}, closed without an answer: ${silent}`,
        `the event loop stood still for ${ms(after.stillMs)} at most`,
        `memory ${heapMb.toFixed(1)} MB before, ${after.heapMb.toFixed(1)} MB after`,
      ],
    };
  },
  async slow(target, count) {
    const slowed = await askBesideSlow(target, { sockets: count, requests: 2_000, rounds: 5 });
    const lines = slowed.map(
      ({ alone, beside, sockets }) =>
        `p95 ${ms(alone)} alone, ${ms(beside)} beside ${sockets} slow sockets: ${(beside / alone).toFixed(2)} times`,
    );
    const most = `at most ${MOST_TIMES} is right`;
    return {
      wrong: judgeSlowed(slowed),
      lines: [...lines, `the middle one: ${timesOf(slowed).toFixed(2)} times, ${most}`],
    };
  },
  async listeners(target, count, seed) {
    const heard = await hear(target, { listeners: count, events: 100, random: randomFrom(seed) });
    const { events, connections, wrong } = heard;
    return {
      wrong,
      lines: [`${count} listeners, ${connections} connections, ${events} events, three servers`],
    };
  },
  async races(target, count) {
    const { races, approved, wrong } = await raceDecisions(target, count);
    return { wrong, lines: [`${races} races: ${approved} approved, ${races - approved} rejected`] };
  },
  async late(target, count) {
    const { sent, wrong } = await decideLate(target, count);
    return { wrong, lines: [`${sent} late, repeated and stale decisions`] };
  },
};

async function prove(wanted: Wanted): Promise<number> {
  console.log(`seed ${wanted.seed}`);
  let wrong = 0;
  for (const [name, proof] of Object.entries(PROOFS)) {
    const count = wanted[name as keyof Wanted];
    if (count === 0) continue;
    const target = await startTarget();
    const told = await proof(target, count, wanted.seed);
    const died = target.isAlive() ? [] : ["the server is dead"];
    await target.close();
    const faults = [...told.wrong, ...died];
    wrong += faults.length;
    for (const line of [...told.lines, ...faults.slice(0, 20).map((fault) => `WRONG ${fault}`)])
      console.log(line);
  }
  console.log(wrong === 0 ? "nothing is wrong" : `${wrong} wrong`);
  return wrong === 0 ? 0 : 1;
}

const wanted = read();
if (wanted === undefined || wanted === "help") {
  (wanted === "help" ? process.stdout : process.stderr).write(USAGE);
  process.exitCode = wanted === "help" ? 0 : 2;
} else process.exitCode = await prove(wanted);

/** `npm run upgrade`: a fleet at work, replaced node by node. */
import { parseArgs } from "node:util";
import { roll } from "./roll.ts";

const HELP = `npm run upgrade -- [--runs <n>] [--orders <n>] [--pause <seconds>]

Starts two servers and two workers of an older version on a PostgreSQL of their own and replaces them one by one by this
version, each told to stop by SIGTERM, while orders come in and people decide. Nothing may be lost, doubled or left behind:
by the journal, by a receiver that counts, and by what clients were told.

  --runs <n>         how many fleets, one after the other (3)
  --orders <n>       orders a second, of seven operations each (10)
  --pause <seconds>  how long the fleet works between two replacements (10)
`;

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "3" },
    orders: { type: "string", default: "10" },
    pause: { type: "string", default: "10" },
    help: { type: "boolean", default: false },
  },
});

async function once(): Promise<boolean> {
  const ends: (() => unknown)[] = [];
  const context = { after: (end: () => unknown) => void ends.push(end) };
  const say = (line: string) => console.log(`  ${line}`);
  const options = { orders: Number(values.orders), pauseMs: Number(values.pause) * 1_000, say };
  const stop = () => {
    for (const end of ends) void end();
  };
  process.once("SIGTERM", stop);
  try {
    const rolled = await roll(context as never, options);
    console.log(JSON.stringify(rolled, null, 2));
    const { lost, doubled, stuck, wrong } = rolled;
    return [lost, doubled, stuck, wrong].every((list) => list.length === 0);
  } finally {
    process.removeListener("SIGTERM", stop);
    for (const end of ends) await end();
  }
}

if (values.help) console.log(HELP);
else
  for (let run = 1; run <= Number(values.runs); run++) {
    console.log(`fleet ${run} of ${values.runs}`);
    if (!(await once())) process.exitCode = 1;
  }

/** `npm run upgrade`: a fleet at work, replaced node by node. */
import { parseArgs } from "node:util";
import { makeFixtures } from "../make-fixtures.ts";
import { roll } from "./roll.ts";

const HELP = `npm run upgrade -- [--runs <n>] [--orders <n>] [--pause <seconds>]

npm run upgrade -- --make-fixture <version> --commit <commit>

Starts two servers and two workers of 0.1.0 on a PostgreSQL of their own and replaces them one by one by this
version, each told to stop by SIGTERM, while orders come in and people decide. Nothing may be lost, doubled or left behind:
by the journal, by a receiver that counts, and by what clients were told.

  --runs <n>         how many fleets, one after the other (3)
  --orders <n>       orders a second, of seven operations each (10)
  --pause <seconds>  how long the fleet works between two replacements (10)

  --make-fixture     keeps the program of a commit and a store that it wrote in tests/upgrades/<version>: once for each
                     release. What exists stays as it is
`;

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "3" },
    orders: { type: "string", default: "10" },
    pause: { type: "string", default: "10" },
    "make-fixture": { type: "string" },
    commit: { type: "string", default: "HEAD" },
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

const { "make-fixture": version } = values;
if (values.help) console.log(HELP);
else if (version === undefined)
  for (let run = 1; run <= Number(values.runs); run++) {
    console.log(`fleet ${run} of ${values.runs}`);
    if (!(await once())) process.exitCode = 1;
  }
else console.log(makeFixtures(version, values.commit).join("\n"));

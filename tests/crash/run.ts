/** `npm run crash`: real processes on a real store, killed at random moments and at named places. */
import { randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import { faultsOf, listed, printed, type RunOptions } from "./summary.ts";
import { superviseRun } from "./supervise.ts";

const USAGE = `npm run crash -- [--store sqlite|postgres] [--kills n] [--server-crashes n] [--workers 1-4] [--seed n] [--list]

  Executing processes and a decider work on one store while they are killed, half of the times at a random moment and
  half at a named place. A separate server applies their effects and syncs each to its log. After every restart what was
  acknowledged has to be there; in the end that log and the receipts have to agree.

  --store           sqlite
  --kills           200
  --server-crashes  0; PostgreSQL only: the database server is stopped as by a crash, under load
  --workers         3
  --seed            drawn unless set; draws the plan of deaths
  --list            names every effect that was in doubt in the end
`;

const OPTIONS = {
  store: { type: "string", default: "sqlite" },
  kills: { type: "string", default: "200" },
  "server-crashes": { type: "string", default: "0" },
  workers: { type: "string", default: "3" },
  seed: { type: "string" },
  list: { type: "boolean" },
  help: { type: "boolean" },
} as const;

type Wanted = RunOptions & { readonly list: boolean };

function read(): Wanted | "help" | undefined {
  try {
    const { values } = parseArgs({ options: OPTIONS });
    if (values.help === true) return "help";
    const { store, workers, kills, "server-crashes": serverCrashes } = values;
    const seed = values.seed ?? String(randomBytes(4).readUInt32BE());
    const areNumbers = [kills, serverCrashes, seed].every((text) => /^\d{1,18}$/.test(text));
    if (!areNumbers || !/^[1-4]$/.test(workers)) return undefined;
    if (store !== "sqlite" && store !== "postgres") return undefined;
    if (store === "sqlite" && serverCrashes !== "0") return undefined;
    return {
      list: values.list === true,
      store,
      kills: Number(kills),
      serverCrashes: Number(serverCrashes),
      workers: Number(workers),
      seed,
    };
  } catch {
    return undefined;
  }
}

const options = read();
if (options === "help" || options === undefined) {
  process.stderr.write(USAGE);
  process.exit(options === "help" ? 0 : 2);
}
console.log(`seed ${options.seed}`);
const summary = await superviseRun(options, (line) => console.log(line));
if (options.list) console.log(listed(summary));
console.log(printed(summary));
process.exitCode = faultsOf(summary).length === 0 ? 0 : 1;

/** `npm run crash`: real processes on a real store, killed at random moments and at named places. */
import { randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import { faultsOf, listed, printed, type RunOptions } from "./summary.ts";
import { superviseRun } from "./supervise.ts";
import { faultsOfWorkflows, printedWorkflows } from "./workflow/summary.ts";
import { superviseWorkflows } from "./workflow/supervise.ts";

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

npm run crash -- --workflows n [--store sqlite|postgres] [--kills n] [--seed n]

  n workflows of twelve operations with three checkpoints, the last of them rejected once and rolled back, driven to their
  end by processes that are killed with many of them under way. Every workflow has to end as if nothing had happened.

  --kills           of executing processes; a tenth of the workflows unless set, and at least 32
`;

const OPTIONS = {
  store: { type: "string", default: "sqlite" },
  kills: { type: "string" },
  workflows: { type: "string" },
  "server-crashes": { type: "string", default: "0" },
  workers: { type: "string", default: "3" },
  seed: { type: "string" },
  list: { type: "boolean" },
  help: { type: "boolean" },
} as const;

type Wanted = RunOptions & { readonly list: boolean; readonly workflows: number | null };

const KILLS = "200";

/** A tenth of the workflows, but enough to come by every named point. */
const killsFor = (workflows: string): string => String(Math.max(32, Math.ceil(Number(workflows) / 10)));

function read(): Wanted | "help" | undefined {
  try {
    const { values } = parseArgs({ options: OPTIONS });
    if (values.help === true) return "help";
    const { store, workers, workflows, "server-crashes": serverCrashes } = values;
    const kills = values.kills ?? (workflows === undefined ? KILLS : killsFor(workflows));
    const seed = values.seed ?? String(randomBytes(4).readUInt32BE());
    const areNumbers = [kills, serverCrashes, seed, workflows ?? "1"].every((text) =>
      /^\d{1,18}$/.test(text),
    );
    if (!areNumbers || !/^[1-4]$/.test(workers)) return undefined;
    if (store !== "sqlite" && store !== "postgres") return undefined;
    if (store === "sqlite" && serverCrashes !== "0") return undefined;
    return {
      list: values.list === true,
      workflows: workflows === undefined ? null : Number(workflows),
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

async function runWorkflows({ store, kills, seed }: Wanted, workflows: number): Promise<readonly string[]> {
  const wanted = { store, workflows, lives: kills, seed };
  const summary = await superviseWorkflows(wanted, (line) => console.log(line));
  console.log(printedWorkflows(summary));
  return faultsOfWorkflows(summary);
}

async function runCalls(wanted: Wanted): Promise<readonly string[]> {
  const summary = await superviseRun(wanted, (line) => console.log(line));
  if (wanted.list) console.log(listed(summary));
  console.log(printed(summary));
  return faultsOf(summary);
}

console.log(`seed ${options.seed}`);
const { workflows } = options;
const faults = await (workflows === null ? runCalls(options) : runWorkflows(options, workflows));
process.exitCode = faults.length === 0 ? 0 : 1;

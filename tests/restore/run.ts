/** `npm run restore`: backups put back under programs that had gone on, and nothing done twice. */
import { randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import { type Drilled, runDrill } from "./drill.ts";

const USAGE = `npm run restore -- [--count n] [--store sqlite|postgres] [--seed n]

  A program works on a store; a backup is made while effects are under way; the program goes on, and is closed or killed.
  Then the backup, or an older one, is put back: over the file, in its place, or elsewhere. Nothing may run before a person
  has acknowledged the restore, and nothing that was open may be sent again after it. A separate server applies the effects
  and syncs each to its log; in the end no order may be there twice.

  --count  200
  --store  sqlite; PostgreSQL: the data folder of a server is copied and put back
  --seed   drawn unless set
`;

const OPTIONS = {
  count: { type: "string", default: "200" },
  store: { type: "string", default: "sqlite" },
  seed: { type: "string" },
  help: { type: "boolean" },
} as const;

function read() {
  try {
    const { values } = parseArgs({ options: OPTIONS });
    if (values.help === true) return "help" as const;
    const { count, store } = values;
    const seed = values.seed ?? String(randomBytes(4).readUInt32BE());
    if (![count, seed].every((text) => /^\d{1,10}$/.test(text))) return undefined;
    if (store !== "sqlite" && store !== "postgres") return undefined;
    return { count: Number(count), store, seed: Number(seed) } as const;
  } catch {
    return undefined;
  }
}

function printed(drilled: Drilled): string {
  const listed = (map: ReadonlyMap<string, number>) =>
    [...map].map(([name, count]) => `${name} ${count}`).join(", ");
  return [
    ...drilled.wrong.map((text) => `WRONG ${text}`),
    `${drilled.restores} restores (${listed(drilled.ways)}), ${drilled.kills} of them after a kill`,
    `${drilled.refused} calls refused before the acknowledgement; after it: ${listed(drilled.answers)}`,
    `${drilled.applied} effects applied, ${drilled.again.length} orders applied again`,
  ].join("\n");
}

const options = read();
if (options === "help" || options === undefined) {
  process.stderr.write(USAGE);
  process.exit(options === "help" ? 0 : 2);
}
console.log(`seed ${options.seed}`);
const drilled = await runDrill(options, (line) => console.log(line));
console.log(printed(drilled));
process.exitCode = drilled.wrong.length + drilled.again.length === 0 ? 0 : 1;

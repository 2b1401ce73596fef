/** `npm run bench`: results on standard output, progress on standard error. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { HELP, readArguments, type Wanted } from "./arguments.ts";
import { type Case, casesOf, PEERS } from "./cases.ts";
import { jsonLine } from "./measurement.ts";
import { report } from "./report.ts";
import { run } from "./run.ts";

const say = (line: string) => void process.stderr.write(`${line}\n`);

/** Those that are not installed cannot start, and that is said of each. */
function installPeers(cases: readonly Case[]): void {
  if (!cases.some(({ system }) => PEERS.has(system))) return;
  const program = join(import.meta.dirname, "../scripts/install-bench.mjs");
  // Standard output is for results.
  spawnSync(process.execPath, [program], { stdio: ["ignore", 2, 2] });
}

async function measure({ only, json, pace }: Extract<Wanted, { kind: "run" }>): Promise<number> {
  const cases = casesOf(only);
  installPeers(cases);
  const stopping = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(name, () => stopping.abort());
  const { figures, failures } = await run(cases, pace, { say, signal: stopping.signal });
  if (stopping.signal.aborted) return 130;
  process.stdout.write(json ? figures.map((one) => `${jsonLine(one)}\n`).join("") : report(figures));
  return failures === 0 ? 0 : 1;
}

const wanted = readArguments(process.argv.slice(2));
if (wanted.kind === "run") {
  process.exitCode = await measure(wanted);
} else {
  if (wanted.kind === "refused") say(`${wanted.reason}\n`);
  (wanted.kind === "help" ? process.stdout : process.stderr).write(HELP);
  process.exitCode = wanted.kind === "help" ? 0 : 2;
}

/**
 * Four processes on one SQLite file: three execute, one decides; they are killed with -9 and frozen at random.
 * `node tests/processes/run.ts --seconds 60` prints what it found.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { holdpoint } from "../../src/index.ts";
import { checkAll, type DecisionTold, type Findings, readLines, type Told } from "./check.ts";

type Running = {
  readonly child: ChildProcess;
  readonly kind: "worker" | "decider";
  readonly name: string;
  /** Whether it has done something since it was started. */
  hasWorked: boolean;
};

/** How many die while they start: on a busy machine that takes longer than the time between two kills. */
const DIE_EARLY = 0.2;

const program = (name: string) => join(import.meta.dirname, name);

function start(kind: Running["kind"], name: string, folder: string): Running {
  const args =
    kind === "worker" ? [join(folder, "data"), join(folder, "effects.log"), name] : [join(folder, "data")];
  const child = spawn(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", program(`${kind}.ts`), ...args],
    {
      env: { ...process.env, HOLDPOINT_KEY_FILE: join(folder, "key.json"), NODE_EXTRA_CA_CERTS: "" },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  child.stdout?.pipe(createWriteStream(join(folder, `${kind}.log`), { flags: "a" }));
  const running = { child, kind, name, hasWorked: false };
  child.stdout?.once("data", () => {
    running.hasWorked = true;
  });
  return running;
}

async function kill(running: Running, killed: Set<number>): Promise<void> {
  killed.add(running.child.pid ?? -1);
  const gone = new Promise((resolve) => running.child.once("exit", resolve));
  running.child.kill("SIGKILL");
  await gone;
}

async function freeze({ child }: Running): Promise<void> {
  child.kill("SIGSTOP");
  await sleep(1_500);
  child.kill("SIGCONT");
}

export async function runProcesses(
  seconds: number,
  random: () => number = Math.random,
): Promise<Findings & { readonly kills: number }> {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-processes-"));
  const killed = new Set<number>();
  const hp = holdpoint({
    folder: join(folder, "data"),
    keyFile: join(folder, "key.json"),
    notify: () => undefined,
  });
  await hp.budgets.limit("shared", { currency: "USD", micros: 500_000_000n });
  await hp.close();
  const running = [
    start("decider", "decider", folder),
    ...["w1", "w2", "w3"].map((name) => start("worker", name, folder)),
  ];
  const until = Date.now() + seconds * 1_000;
  for (let round = 1; Date.now() < until; round++) {
    await sleep(300 + random() * 900);
    const index = Math.floor(random() * running.length);
    const victim = running[index];
    if (victim === undefined || !(victim.hasWorked || random() < DIE_EARLY)) continue;
    if (round % 6 === 0) await freeze(victim);
    else {
      await kill(victim, killed);
      running[index] = start(victim.kind, victim.name, folder);
    }
  }
  for (const one of running) await kill(one, killed);
  const world = {
    applied: readLines<{ effect: string; tool: string; attempt: number }>(join(folder, "effects.log")),
    told: readLines<Told>(join(folder, "worker.log")),
    decisions: readLines<DecisionTold>(join(folder, "decider.log")),
    killed,
  };
  process.env["HOLDPOINT_KEY_FILE"] = join(folder, "key.json");
  const findings = await checkAll(join(folder, "data"), world);
  if (findings.wrong.length === 0) rmSync(folder, { recursive: true, force: true });
  else process.stderr.write(`kept for inspection: ${folder}\n`);
  return { ...findings, kills: killed.size };
}

if (import.meta.main) {
  const options = { seconds: { type: "string", default: "60" }, help: { type: "boolean" } } as const;
  const { values } = parseArgs({ options });
  if (values.help === true || !/^\d+$/.test(values.seconds)) {
    process.stderr.write(
      "npm run processes -- [--seconds <n>]   three workers and a decider on one file, killed and frozen (60)\n",
    );
    process.exit(values.help === true ? 0 : 2);
  }
  const findings = await runProcesses(Number(values.seconds));
  console.log(findings);
  process.exitCode = findings.wrong.length === 0 ? 0 : 1;
}

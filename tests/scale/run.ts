/** `node tests/scale/run.ts --approvals 100000`: how long a fresh process takes on a store with that many waiting. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { fill } from "./fill.ts";
import { measureWaking } from "./measure-waking.ts";

export type Measured = {
  readonly shown: number;
  readonly listedMs: number;
  readonly decidedMs: number;
  readonly memoryMb: number;
};

function firstAnswer(folder: string): Measured {
  const program = join(import.meta.dirname, "first-answer.ts");
  const done = spawnSync(process.execPath, ["--disable-warning=ExperimentalWarning", program, folder], {
    env: { ...process.env, NODE_EXTRA_CA_CERTS: "" },
    encoding: "utf8",
  });
  if (done.status !== 0) throw new Error(done.stderr);
  return JSON.parse(done.stdout) as Measured;
}

/** Times count from the start of the process, Node's own start included. */
export async function measure(
  approvals: number,
  progress: (text: string) => void,
): Promise<Measured & { readonly fileMb: number }> {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-scale-"));
  process.env["HOLDPOINT_KEY_FILE"] = join(folder, "key.json");
  try {
    await fill(join(folder, "data"), approvals, (done) => progress(`${done} of ${approvals} proposed`));
    const fileMb = Math.round(statSync(join(folder, "data", "journal.db")).size / 1024 / 1024);
    return { ...firstAnswer(join(folder, "data")), fileMb };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const HELP = `npm run scale -- [--approvals <n>]   a fresh process on a store with that many approvals waiting (100000)
npm run scale -- --workflows <n>     the same with that many workflows suspended: waking one, waking many
`;

async function runApprovals(approvals: number): Promise<boolean> {
  const measured = await measure(approvals, (text) => process.stderr.write(`${text}\n`));
  console.log({ approvals, ...measured });
  return measured.decidedMs < 2_000 && measured.memoryMb < 300;
}

/** Beside it the same with a hundredth of them: what a process needs does not grow with what waits. */
async function runWorkflows(workflows: number): Promise<boolean> {
  const say = (text: string) => process.stderr.write(`${text}\n`);
  const few = await measureWaking(Math.max(1_000, Math.round(workflows / 100)), 200, say);
  const many = await measureWaking(workflows, 200, say);
  console.log({ few, many, workflows });
  return many.firstWakeMs < 2_000 && many.wakeP50Ms < 20 && many.memoryMb < few.memoryMb * 1.5;
}

if (import.meta.main) {
  const options = {
    approvals: { type: "string", default: "100000" },
    workflows: { type: "string" },
    help: { type: "boolean" },
  } as const;
  const { values } = parseArgs({ options });
  const isNumber = (text: string) => /^\d+$/.test(text);
  if (values.help === true || !isNumber(values.approvals) || !isNumber(values.workflows ?? "0")) {
    process.stderr.write(HELP);
    process.exit(values.help === true ? 0 : 2);
  }
  const isFine =
    values.workflows === undefined
      ? await runApprovals(Number(values.approvals))
      : await runWorkflows(Number(values.workflows));
  process.exitCode = isFine ? 0 : 1;
}

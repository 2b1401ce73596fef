/** `node tests/scale/run.ts --approvals 100000`: how long a fresh process takes on a store with that many waiting. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { fill } from "./fill.ts";

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

if (import.meta.main) {
  const options = { approvals: { type: "string", default: "100000" }, help: { type: "boolean" } } as const;
  const { values } = parseArgs({ options });
  if (values.help === true || !/^\d+$/.test(values.approvals)) {
    process.stderr.write(
      "npm run scale -- [--approvals <n>]   a fresh process on a store with that many waiting (100000)\n",
    );
    process.exit(values.help === true ? 0 : 2);
  }
  const measured = await measure(Number(values.approvals), (text) => process.stderr.write(`${text}\n`));
  console.log({ approvals: Number(values.approvals), ...measured });
  process.exitCode = measured.decidedMs < 2_000 && measured.memoryMb < 300 ? 0 : 1;
}

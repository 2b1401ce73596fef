/** How long a fresh process takes to wake workflows on a store with that many waiting. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { holdpoint } from "../../src/index.ts";
import { fillSuspended } from "./suspended.ts";

export type Waking = {
  readonly firstWakeMs: number;
  readonly wakes: number;
  readonly wakeP50Ms: number;
  readonly wakeP99Ms: number;
  readonly memoryMb: number;
};

/** Decided by a process that cannot run it. */
async function decideOne(folder: string): Promise<void> {
  const hp = holdpoint({ folder, mode: "existing", notify: () => undefined });
  const [one] = (await hp.approvals.list({ limit: 1, order: "newest" })).items;
  if (one === undefined) throw new Error("nobody is asked anything");
  await hp.approvals.approve(one.id, { by: "person:ann" });
  await hp.close();
}

function firstWake(folder: string, wakes: number): Waking {
  const program = join(import.meta.dirname, "first-wake.ts");
  const flags = ["--disable-warning=ExperimentalWarning", program, folder, String(wakes)];
  const done = spawnSync(process.execPath, flags, { encoding: "utf8", timeout: 120_000 });
  if (done.status !== 0) throw new Error(done.stderr);
  return JSON.parse(done.stdout) as Waking;
}

/** Times count from the start of the process, Node's own start included. */
export async function measureWaking(
  workflows: number,
  wakes: number,
  progress: (text: string) => void,
): Promise<Waking & { readonly fileMb: number }> {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-scale-"));
  process.env["HOLDPOINT_KEY_FILE"] = join(folder, "key.json");
  const data = join(folder, "data");
  try {
    await fillSuspended(data, workflows, (done) => progress(`${done} of ${workflows} wait`));
    await decideOne(data);
    const fileMb = Math.round(statSync(join(data, "journal.db")).size / 1024 / 1024);
    return { ...firstWake(data, wakes), fileMb };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** How long the command takes to back-test a policy over so many recorded actions. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { BacktestReport } from "../../src/admin.ts";
import { fillHistory } from "./fill.ts";

const BIN = resolve(import.meta.dirname, "../../bin/holdpoint.mjs");

/** Rules of each kind, a total over the workflow's history, and risk. */
const POLICY = `policy: refunds
default: approve
totals:
  refunded: { tool: issue_refund, sum: args.amount_usd }
risk:
  conditions:
    - { id: large, tool: issue_refund, when: args.amount_usd > 500, weight: 40 }
rules:
  - { id: too_much, tool: issue_refund, when: args.amount_usd > 1000, verdict: block, reason: more than 1000 USD }
  - { id: in_all, tool: issue_refund, when: totals.refunded + args.amount_usd > 3000, verdict: block, reason: 3000 USD in all }
  - { id: capped, tool: issue_refund, when: args.amount_usd > 950, verdict: revise, set: { amount_usd: 950 } }
  - { id: large, tool: issue_refund, when: args.amount_usd > 300 && args.amount_usd < 900, verdict: escalate }
`;

export type Measured = {
  readonly report: BacktestReport;
  /** From the start of the process, Node's own start included. */
  readonly seconds: number;
  readonly fileMb: number;
};

function backtest(
  folder: string,
  data: string,
): { readonly report: BacktestReport; readonly seconds: number } {
  const policy = join(folder, "refunds.yaml");
  writeFileSync(policy, POLICY);
  const began = performance.now();
  const flags = ["policy", "backtest", policy, "--data", data, "--json", "--limit", "5"];
  const done = spawnSync(process.execPath, [BIN, ...flags], {
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  const seconds = (performance.now() - began) / 1_000;
  if (done.status !== 0) throw new Error(done.stderr);
  return { report: JSON.parse(done.stdout) as BacktestReport, seconds };
}

export async function measureBacktest(actions: number, progress: (text: string) => void): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-backtest-"));
  process.env["HOLDPOINT_KEY_FILE"] = join(folder, "key.json");
  const data = join(folder, "data");
  try {
    await fillHistory(data, actions, (done) => progress(`${done} of ${actions} recorded`));
    const fileMb = Math.round(statSync(join(data, "journal.db")).size / 1024 / 1024);
    return { ...backtest(folder, data), fileMb };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

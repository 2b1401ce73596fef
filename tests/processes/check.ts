/** What has to be true of a store, a log of the outside world and what processes were told, after any number of kills. */
import { readFileSync } from "node:fs";
import { type Holdpoint, holdpoint } from "../../src/index.ts";

export type Told = {
  readonly requestId: string;
  readonly tool: string;
  readonly executed: boolean | "in_doubt";
  readonly effect: string;
};
export type DecisionTold = { readonly approval: string; readonly status: string };
export type Applied = { readonly effect: string; readonly tool: string; readonly attempt: number };

export type Findings = {
  readonly calls: number;
  readonly decisions: number;
  readonly applications: number;
  readonly inDoubt: number;
  readonly entries: number;
  readonly recoveredEpochs: number;
  readonly wrong: readonly string[];
};

export function readLines<Line>(file: string): Line[] {
  try {
    return readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line.endsWith("}"))
      .map((line) => JSON.parse(line) as Line);
  } catch {
    return [];
  }
}

/** Classes that may be repeated under their key; everything else happens once. */
const REPEATABLE = ["keyed", "again"];

async function checkApplications(hp: Holdpoint, applied: readonly Applied[], wrong: string[]): Promise<void> {
  const times = new Map<string, number>();
  for (const { effect, tool, attempt } of applied) {
    const seen = (times.get(effect) ?? 0) + 1;
    times.set(effect, seen);
    if (seen > 1 && !REPEATABLE.includes(tool)) wrong.push(`${effect} (${tool}) was applied ${seen} times`);
    if (seen > attempt) wrong.push(`${effect} (${tool}) was applied ${seen} times in ${attempt} attempts`);
  }
  for (const effect of times.keys()) {
    const { phase } = await hp.actions.get(effect);
    if (phase !== "applied" && phase !== "in_doubt")
      wrong.push(`${effect} was applied and is recorded as ${phase}`);
  }
}

async function checkTold(
  hp: Holdpoint,
  told: readonly Told[],
  applied: readonly Applied[],
  wrong: string[],
): Promise<void> {
  const done = new Set(applied.map(({ effect }) => effect));
  for (const { requestId, effect, executed, tool } of told) {
    const action = await hp.actions.get(requestId);
    if (executed !== true) continue;
    if (action.phase !== "applied")
      wrong.push(`${requestId} was answered as executed and is ${action.phase}`);
    if (tool !== "look" && !done.has(effect))
      wrong.push(`${requestId} was answered as executed and never happened`);
  }
}

const DECIDED: Readonly<Record<string, readonly string[]>> = {
  approved: ["approved", "consumed", "lapsed"],
  rejected: ["rejected"],
};

async function checkDecisions(
  hp: Holdpoint,
  decisions: readonly DecisionTold[],
  wrong: string[],
): Promise<void> {
  for (const { approval, status } of decisions) {
    const now = await hp.approvals.get(approval);
    if (!DECIDED[status]?.includes(now.status))
      wrong.push(`${approval} was acknowledged as ${status} and is ${now.status}`);
  }
}

type Line = { readonly header: string; readonly body: string };

/** An epoch may be called dead only if its process was killed: a live one must never lose its effects. */
async function checkEpochs(hp: Holdpoint, killed: ReadonlySet<number>, wrong: string[]): Promise<number> {
  const owners = new Map<string, number>();
  let died = 0;
  for await (const line of hp.journal.export()) {
    const { entry } = JSON.parse(line) as { entry?: Line };
    if (entry === undefined) continue;
    const { stream, type } = JSON.parse(entry.header) as { stream: string; type: string };
    if (type === "epoch.opened")
      owners.set(stream, Number((JSON.parse(entry.body) as { process: string }).process.split("/")[1]));
    if (type !== "epoch.died") continue;
    died++;
    if (!killed.has(owners.get(stream) ?? -1))
      wrong.push(`${stream} was called dead and its process was not`);
  }
  return died;
}

async function checkViews(hp: Holdpoint, wrong: string[]): Promise<void> {
  const phases = ["waiting", "running", "applied", "not_applied", "in_doubt", "refused"] as const;
  const counts = () => Promise.all(phases.map(async (phase) => hp.actions.count(phase)));
  const before = await counts();
  await hp.journal.rebuildViews();
  const after = await counts();
  if (before.join() !== after.join())
    wrong.push(`the views said ${before.join()} and say ${after.join()} after a rebuild`);
}

export async function checkAll(
  folder: string,
  world: { applied: Applied[]; told: Told[]; decisions: DecisionTold[]; killed: ReadonlySet<number> },
): Promise<Findings> {
  const hp = holdpoint({ folder, notify: () => undefined });
  const wrong: string[] = [];
  for (const [name, effect] of [
    ["keyed", "keyed"],
    ["again", "idempotent"],
  ] as const)
    hp.gate({ name, effect, policy: "approve", run: () => null });
  try {
    await hp.recover();
    await checkApplications(hp, world.applied, wrong);
    await checkTold(hp, world.told, world.applied, wrong);
    await checkDecisions(hp, world.decisions, wrong);
    const recoveredEpochs = await checkEpochs(hp, world.killed, wrong);
    await checkViews(hp, wrong);
    const report = await hp.journal.verify();
    for (const finding of report.findings) wrong.push(`verify: ${finding.what}`);
    const budget = await hp.budgets.get("shared");
    if (budget.limit !== null && budget.spent + budget.reserved > budget.limit.micros)
      wrong.push("the shared budget was overrun");
    const inDoubt = await hp.actions.count("in_doubt");
    const { told, decisions, applied } = world;
    return {
      calls: told.length,
      decisions: decisions.length,
      applications: applied.length,
      inDoubt,
      entries: report.counts.entries,
      recoveredEpochs,
      wrong,
    };
  } finally {
    await hp.close();
  }
}

/** What people and workflows notice: how fast the inbox's first page comes, and how fast a decision wakes a workflow. */
import { type Holdpoint, holdpoint } from "../../../src/index.ts";

export type Latency = {
  readonly inboxP50Ms: number;
  readonly inboxP95Ms: number;
  readonly inboxP99Ms: number;
  readonly wakeP50Ms: number;
  readonly wakeP95Ms: number;
  readonly wakeP99Ms: number;
};

const PAGE = 50;
const ANN = "person:ann";

function at(times: readonly number[], share: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return Number((sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(2));
}

async function timed(act: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await act();
  return performance.now() - began;
}

async function inbox(hp: Holdpoint, times: number): Promise<readonly number[]> {
  const all: number[] = [];
  for (let turn = 0; turn < times; turn++)
    all.push(
      await timed(() => hp.approvals.list({ limit: PAGE, order: turn % 2 === 0 ? "newest" : "oldest" })),
    );
  return all;
}

/** Decided by one instance, run by another. */
async function wakes(database: string, times: number): Promise<readonly number[]> {
  const desk = holdpoint({ database, notify: () => undefined });
  const worker = holdpoint({ database, notify: () => undefined });
  const bells = new Map<string, () => void>();
  const woken = worker.workflow("woken", async (ctx, { name }: { readonly name: string }) => {
    await ctx.checkpoint("Review", { summary: name });
    bells.get(name)?.();
    return name;
  });
  const working = worker.work();
  const all: number[] = [];
  try {
    for (let turn = 0; turn < times; turn++) {
      const name = `woken-${performance.now()}`;
      const { id } = await woken.start({ name });
      const approval = await waitingIn(desk, id);
      const rings = new Promise<void>((resolve) => bells.set(name, resolve));
      all.push(
        await timed(async () => {
          await desk.approvals.approve(approval, { by: ANN });
          await rings;
        }),
      );
    }
    return all;
  } finally {
    await Promise.all([worker.close(), desk.close()]);
    await working;
  }
}

/** The approval for which a workflow is suspended. */
async function waitingIn(hp: Holdpoint, workflow: string): Promise<string> {
  for (;;) {
    const { items } = await hp.approvals.list({ limit: PAGE, order: "newest" });
    const own = items.find((item) => item["workflow"] === workflow || item["action"] === workflow);
    const state = await hp.workflows.get(workflow);
    if (own !== undefined && state.runner === null) return own.id;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

export async function measureLatency(database: string, times: number): Promise<Latency> {
  const hp = holdpoint({ database, notify: () => undefined });
  try {
    await inbox(hp, 20);
    const pages = await inbox(hp, times * 2);
    const woken = await wakes(database, times);
    return {
      inboxP50Ms: at(pages, 0.5),
      inboxP95Ms: at(pages, 0.95),
      inboxP99Ms: at(pages, 0.99),
      wakeP50Ms: at(woken, 0.5),
      wakeP95Ms: at(woken, 0.95),
      wakeP99Ms: at(woken, 0.99),
    };
  } finally {
    await hp.close();
  }
}

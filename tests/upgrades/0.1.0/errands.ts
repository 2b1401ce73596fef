/** Workflows that wait for everything that a definition of 0.1.0 can wait for. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Context, Holdpoint, Workflow } from "./api.ts";

export const WAITS = ["checkpoint", "question", "sleep", "approval", "child"] as const;
export type Errand = { readonly n: number; readonly wait: (typeof WAITS)[number] };

/** More entries than a snapshot of a stream takes. */
const LINES = 250;
const SLEEP_MS = 3_000;

function define(hp: Holdpoint, ran: (line: string) => void): Workflow {
  const deliver = hp.gate({ name: "deliver", policy: "approve", run: ({ n }) => ran(`deliver ${n}`) });
  const sign = hp.gate({ name: "sign", policy: "escalate", run: ({ n }) => ran(`sign ${n}`) });
  const child = hp.workflow("child", async (ctx, { n }: { n: number }) => {
    await ctx.ask("child", `Shall the child of ${n} go on?`);
    return n;
  });
  const wait: { [what in Errand["wait"]]: (ctx: Context, n: number) => Promise<unknown> } = {
    checkpoint: (ctx, n) => ctx.checkpoint("Look", { outputs: { n } }),
    question: (ctx, n) => ctx.ask("go", `Shall ${n} go on?`),
    sleep: (ctx) => ctx.sleep(SLEEP_MS),
    approval: (ctx, n) => ctx.call(sign, { n }),
    child: (ctx, n) => ctx.spawn(child, { n }),
  };
  return hp.workflow("errand", async (ctx, { n, wait: what }: Errand) => {
    await ctx.step("begin", () => ran(`begin ${n}`));
    if (what === "checkpoint") for (let line = 0; line < LINES; line++) ctx.log("on the way", { line });
    await wait[what](ctx, n);
    await ctx.call(deliver, { n });
    return { n, what };
  });
}

export function defineErrands(hp: Holdpoint, ran: (line: string) => void) {
  const errand = define(hp, ran);
  return {
    /** Answers the ids of workflows, each of which nobody runs any more. */
    async leave(): Promise<readonly string[]> {
      const ids: string[] = [];
      for (const [n, wait] of WAITS.entries())
        ids.push((await errand.start({ n, wait }, { requestId: `errand ${n}` })).id);
      for (const id of ids)
        for (;;) {
          const { runner, waits } = await hp.workflows.get(id);
          if (runner === null && waits.length > 0) break;
          await sleep(10);
        }
      return ids;
    },
  };
}

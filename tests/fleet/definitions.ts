/** What the nodes of these tests run: a workflow of steps that append a line each, and pause as long as a file says so. */
import { appendFileSync, existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Holdpoint } from "../../src/index.ts";

export const STEPS = 6;

/** `folder` has the log; while there is a file `pause` in it, a step does not end. */
type Errand = { readonly n: number; readonly folder: string };

export function declare(hp: Holdpoint) {
  return hp.workflow("errand", async (ctx, { n, folder }: Errand) => {
    for (let at = 1; at <= STEPS; at++)
      await ctx.step(`stop ${at}`, { effect: "idempotent" }, async () => {
        while (existsSync(`${folder}/pause`)) await sleep(20);
        appendFileSync(`${folder}/log`, `${n} ${at} ${process.pid}\n`);
      });
    return { n };
  });
}

// biome-ignore lint/style/noDefaultExport: it is what `--definitions` takes.
export default (hp: Holdpoint): void => void declare(hp);

/** Workflows that wait: half of them for people, half for a day that is far away. */
import { type Holdpoint, holdpoint } from "../../src/index.ts";

const LANES = 200;
const MONTH_MS = 30 * 24 * 60 * 60 * 1000;

export type Woken = (number: number) => void;

/** Each has done something, and then waits. */
export function defineWaiting(hp: Holdpoint, woken: Woken) {
  return hp.workflow("waiting", async (ctx, { number }: { readonly number: number }) => {
    const found = await ctx.step("look up", () => ({ account: `account-${number}`, amount: number }));
    if (number % 2 === 0) await ctx.checkpoint("Review", { summary: `payment ${number}`, outputs: found });
    else await ctx.sleep(MONTH_MS);
    woken(number);
    return found.amount;
  });
}

export async function fillSuspended(
  folder: string,
  workflows: number,
  progress: (done: number) => void,
): Promise<void> {
  const hp = holdpoint({ folder, notify: () => undefined });
  const waiting = defineWaiting(hp, () => undefined);
  let next = 0;
  const lane = async () => {
    for (let number = next++; number < workflows; number = next++) {
      const { id } = await waiting.start({ number });
      // So many at a time are run as there are lanes.
      while ((await hp.workflows.get(id)).runner !== null)
        await new Promise((resolve) => setTimeout(resolve, 5));
      if (number % 10_000 === 0) progress(number);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  await hp.close();
}

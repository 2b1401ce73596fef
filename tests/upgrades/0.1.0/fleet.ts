/** What workers of 0.1.0 run: an order is shipped in two parts, and people are asked in between. */
import type { Holdpoint } from "./api.ts";

type Order = { readonly n: number; readonly receiver: string };

// biome-ignore lint/style/noDefaultExport: it is what `--definitions` takes.
export default (hp: Holdpoint): void => {
  // Nobody may send it twice: a process that does not know the outcome has to ask a person.
  const ship = hp.gate({
    name: "ship",
    policy: "approve",
    effect: "once",
    run: async ({ n, part, receiver }, { idempotencyKey }) => {
      const body = JSON.stringify({ n, part, key: idempotencyKey });
      const answer = await fetch(String(receiver), { method: "POST", body });
      if (!answer.ok) throw new Error(`the receiver said ${answer.status}`);
      return { n, part };
    },
  });
  hp.workflow("order", { version: "1" }, async (ctx, { n, receiver }: Order) => {
    await ctx.step("pick", () => n);
    await ctx.call(ship, { n, receiver, part: "first" });
    await ctx.ask("go", `Shall ${n} have the rest?`);
    await ctx.call(ship, { n, receiver, part: "rest" });
    return { n };
  });
};

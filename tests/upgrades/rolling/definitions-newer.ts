import type { Holdpoint } from "../../../src/index.ts";
import { type Order, shipping } from "./order.ts";

// biome-ignore lint/style/noDefaultExport: it is what `--definitions` takes.
export default (hp: Holdpoint): void => {
  const ship = shipping(hp);
  hp.workflow("order", { version: "2" }, async (ctx, { n, receiver }: Order) => {
    await ctx.step("pick", () => n);
    if (ctx.version("look twice") >= 1) {
      await ctx.step("look twice", () => n);
      ctx.log("looked twice", { n });
    }
    await ctx.call(ship, { n, receiver, part: "first" });
    await ctx.ask("go", `Shall ${n} have the rest?`);
    await ctx.call(ship, { n, receiver, part: "rest" });
    return { n };
  });
};

/** A workflow whose definition calls one gated tool by itself, and another one with ctx.call. */
import { appendFileSync } from "node:fs";
import { holdpoint } from "holdpoint";

const hp = holdpoint();
const mail = hp.gate({
  name: "mail",
  policy: "approve",
  run: (args: { to: string }) => {
    appendFileSync("effects.log", `mail ${args.to}\n`);
    return "sent";
  },
});
const pay = hp.gate({
  name: "pay",
  run: (args: { n: number }) => {
    appendFileSync("effects.log", `pay ${args.n}\n`);
    return "paid";
  },
});
const flow = hp.workflow("w", async (ctx) => {
  const sent = await mail({ to: "ann" });
  const paid = await ctx.call(pay, { n: 1 });
  return [sent.status === "done" && sent.result, paid.status === "done" && paid.result];
});
console.log(JSON.stringify(await flow.run({}, { requestId: "w1" })));
await hp.close();

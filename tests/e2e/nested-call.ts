/** A gated tool whose function calls another gated tool, as an agent does that is offered as a tool. */
import { appendFileSync } from "node:fs";
import { holdpoint } from "holdpoint";

const hp = holdpoint();
const pay = hp.gate({
  name: "pay",
  run: (args: { n: number }) => {
    appendFileSync("effects.log", `pay ${args.n}\n`);
    return "paid";
  },
});
const desk = hp.gate({
  name: "desk",
  policy: "approve",
  run: async (args: { n: number }) => (await pay(args, { requestId: "inner-1" })).status,
});
console.log(JSON.stringify(await desk({ n: 1 }, { requestId: "outer-1", waitMs: 1_000 })));
const known = await Promise.allSettled(["outer-1", "inner-1"].map((id) => hp.actions.get(id)));
console.log(JSON.stringify(known.map(({ status }) => status)));
await hp.close();

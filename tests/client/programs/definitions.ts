/** A tool that people are asked about, called under one request id however often this process starts. */
import type { Holdpoint } from "../../../src/index.ts";

// biome-ignore lint/style/noDefaultExport: what a server runs is a file's default export.
export default (hp: Holdpoint): void => {
  const pay = hp.gate({
    name: "pay",
    effect: "idempotent",
    policy: { verdict: "escalate", decideWithinMs: 3_600_000 },
    run: (args: { amount: number }) => ({ paid: args.amount }),
  });
  pay({ amount: 1 }, { requestId: "pay-1" }).catch(() => undefined);
};

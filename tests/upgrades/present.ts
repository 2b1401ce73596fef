/** The program that left everything waiting, as it is written today: the same tools and workflows, on the same store. */
import type { Holdpoint, WorkflowContext } from "../../src/index.ts";

type Args = Record<string, unknown>;
export type Errand = { readonly n: number; readonly wait: string };

const usd = (micros: bigint) => ({ currency: "USD", micros });

function defineErrand(hp: Holdpoint, ran: (line: string) => void): void {
  const deliver = hp.gate({ name: "deliver", policy: "approve", run: ({ n }: Args) => ran(`deliver ${n}`) });
  const sign = hp.gate({ name: "sign", policy: "escalate", run: ({ n }: Args) => ran(`sign ${n}`) });
  const child = hp.workflow("child", async (ctx, { n }: { n: number }) => {
    await ctx.ask("child", `Shall the child of ${n} go on?`);
    return n;
  });
  const wait: { [what: string]: (ctx: WorkflowContext, n: number) => Promise<unknown> } = {
    checkpoint: (ctx, n) => ctx.checkpoint("Look", { outputs: { n } }),
    question: (ctx, n) => ctx.ask("go", `Shall ${n} go on?`),
    sleep: (ctx) => ctx.sleep(3_000),
    approval: (ctx, n) => ctx.call(sign, { n }),
    child: (ctx, n) => ctx.spawn(child, { n }),
  };
  hp.workflow("errand", async (ctx, { n, wait: what }: Errand) => {
    await ctx.step("begin", () => ran(`begin ${n}`));
    if (what === "checkpoint") for (let line = 0; line < 250; line++) ctx.log("on the way", { line });
    await wait[what]?.(ctx, n);
    await ctx.call(deliver, { n });
    return { n, what };
  });
}

export function definePresent(hp: Holdpoint, ran: (line: string) => void) {
  const pay = ({ requestId, amount = "" }: Args) => {
    ran(`pay ${requestId} ${amount}`.trim());
    return { paid: requestId };
  };
  const approvers = { quorum: 2, from: ["person:ann", "person:bob"] };
  const stages = [
    { quorum: 1, from: ["person:ann"] },
    { quorum: 1, from: ["person:bob"] },
  ];
  const cost = () => ({ budget: "trip", amount: usd(2_000_000n) });
  const twoPeople = { verdict: "escalate", approvers } as const;
  const twoStages = { verdict: "escalate", stages } as const;
  hp.remote.tool({ name: "wire", policy: "approve" });
  hp.remote.tool({ name: "ship" });
  hp.remote.tool({ name: "book", policy: "approve", undo: true });
  defineErrand(hp, ran);
  return {
    pay: hp.gate({ name: "pay", policy: "escalate", run: pay }),
    both: hp.gate({ name: "pay.both", policy: twoPeople, run: pay }),
    staged: hp.gate({ name: "pay.staged", policy: twoStages, run: pay }),
    spend: hp.gate({ name: "spend", policy: "approve", cost, run: ({ n }: Args) => ran(`spend ${n}`) }),
    refund: hp.gate({ name: "refund", policy: "escalate", run: ({ n }: Args) => ran(`refund ${n}`) }),
    report: hp.gate({ name: "report", policy: "approve", run: () => ran("report, a second time") }),
    told: hp.gate({ name: "told", policy: "escalate", run: () => ran("told") }),
    hangsSafely: hp.gate({
      ...{ name: "hangs.idempotent", policy: "approve", effect: "idempotent" },
      run: () => ran("hangs.idempotent"),
    }),
    hangs: hp.gate({ name: "hangs.once", policy: "approve", effect: "once", run: () => ran("hangs.once") }),
  };
}

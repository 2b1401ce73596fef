/** The tools and workflows of the program that leaves everything waiting, and of the one that carries it on. */
import type { Holdpoint, WorkflowContext } from "../../../src/index.ts";

type Args = Record<string, unknown>;
export const WAITS = ["checkpoint", "question", "sleep", "approval", "child"] as const;
export type Errand = { readonly n: number; readonly wait: string };

const usd = (micros: bigint) => ({ currency: "USD", micros });

function defineErrand(hp: Holdpoint, ran: (line: string) => void) {
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
  return hp.workflow("errand", async (ctx, { n, wait: what }: Errand) => {
    await ctx.step("begin", () => ran(`begin ${n}`));
    if (what === "checkpoint") for (let line = 0; line < 250; line++) ctx.log("on the way", { line });
    await wait[what]?.(ctx, n);
    await ctx.call(deliver, { n });
    return { n, what };
  });
}

/** A workflow that asks before it takes back what it did, and one that waits for an intent. */
function defineLonger(hp: Holdpoint, ran: (line: string) => void) {
  const reserve = hp.gate({
    ...{ name: "reserve", policy: "approve", effect: "idempotent" },
    run: ({ n }: Args) => ran(`reserve ${n}`),
    undo: { policy: "escalate", run: ({ n }: Args) => ran(`release ${n}`) },
  });
  return {
    undoing: hp.workflow("undoing", async (ctx, _: object) => {
      await ctx.call(reserve, { n: ctx.attempt });
      await ctx.checkpoint("Look");
      return ctx.attempt;
    }),
    awaiting: hp.workflow("awaiting", async (ctx, _: object) => {
      const timed = { payload: { n: 4 }, withinMs: 3_600_000 };
      const id = await ctx.send("sent", { intentType: "translate", toAgent: "agent://helper", ...timed });
      return (await ctx.waitFor("answer", id)).status;
    }),
  };
}

/** What a first program does and a second one must not do again. */
export type FirstRuns = { readonly report: () => unknown; readonly hang: (name: string) => unknown };

/** The policy of one tenant, whose versions its journal keeps. */
export const RULED = {
  policy: "ruled",
  default: "block",
  rules: [{ id: "ask", tool: "pay", verdict: "escalate" }],
} as const;

/** What a monitor watches for. Its alert holds for longer than an upgrade takes. */
export const WATCH = {
  name: "watch",
  rules: [{ kind: "rate", name: "many calls", of: "calls", windowMs: 600_000, above: 2 }],
} as const;

const DEADLINE_MS = 2_000;

function definePayments(hp: Holdpoint, ran: (line: string) => void) {
  const run = ({ requestId, amount = "" }: Args) => {
    ran(`pay ${requestId} ${amount}`.trim());
    return { paid: requestId };
  };
  const approvers = { quorum: 2, from: ["person:ann", "person:bob"] };
  const mine = { quorum: 1, from: ["person:ann"] };
  const stages = [mine, { quorum: 1, from: ["person:bob"] }];
  const escalate = { verdict: "escalate" } as const;
  return {
    pay: hp.gate({ name: "pay", policy: "escalate", run }),
    both: hp.gate({ name: "pay.both", policy: { ...escalate, approvers }, run }),
    staged: hp.gate({ name: "pay.staged", policy: { ...escalate, stages }, run }),
    mine: hp.gate({ name: "pay.mine", policy: { ...escalate, approvers: mine }, run }),
    soon: hp.gate({ name: "pay.soon", policy: { ...escalate, decideWithinMs: DEADLINE_MS }, run }),
  };
}

export function definePresent(hp: Holdpoint, ran: (line: string) => void, first?: FirstRuns) {
  const { report = () => ran("report, a second time"), hang = ran } = first ?? {};
  const cost = () => ({ budget: "trip", amount: usd(2_000_000n) });
  hp.remote.tool({ name: "wire", policy: "approve" });
  hp.remote.tool({ name: "ship" });
  hp.remote.tool({ name: "book", policy: "approve", undo: true });
  return {
    ...definePayments(hp, ran),
    ...defineLonger(hp, ran),
    errand: defineErrand(hp, ran),
    spend: hp.gate({ name: "spend", policy: "approve", cost, run: ({ n }: Args) => ran(`spend ${n}`) }),
    refund: hp.gate({ name: "refund", policy: "escalate", run: ({ n }: Args) => ran(`refund ${n}`) }),
    report: hp.gate({ name: "report", policy: "approve", run: report }),
    told: hp.gate({ name: "told", policy: "escalate", run: () => ran("told") }),
    hangsSafely: hp.gate({
      ...{ name: "hangs.idempotent", policy: "approve", effect: "idempotent" },
      run: () => hang("hangs.idempotent"),
    }),
    hangsWithSecret: hp.gate({
      ...{ name: "hangs.sealed", policy: "approve", effect: "idempotent" },
      run: ({ token }: Args) => hang(`hangs.sealed ${token}`),
    }),
    hangs: hp.gate({
      ...{ name: "hangs.once", policy: "approve", effect: "once" },
      run: () => hang("hangs.once"),
    }),
  };
}

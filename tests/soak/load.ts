/** Steady load: so many calls a second of every kind, decided where needed by another instance. */
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type Answer, type GatedTool, type Holdpoint, NotApplied } from "../../src/index.ts";

type Args = { readonly n: number; readonly text: string };
type Tool = GatedTool<Args, unknown>;

export type Load = {
  readonly counts: ReadonlyMap<string, number>;
  /** Calls until told to stop; resolves when all of them were answered. */
  run(rate: number, inFlight: number, over: AbortSignal): Promise<void>;
  /** Begins no new calls while `work` runs, and waits first until those under way have ended. */
  pause(work: () => Promise<void>): Promise<void>;
};

const SMALL_BYTES = 200;
/** Kept as an artifact. */
const LARGE_BYTES = 80_000;
/** Of a hundred calls, always in the same order. `again` asks for one that was answered already. */
const MIX: readonly (readonly [string, number])[] = [
  ["pay", 60],
  ["capped", 10],
  ["look", 8],
  ["blocked", 6],
  ["ask", 6],
  ["refused", 2],
  ["fails", 4],
  ["breaks", 2],
  ["again", 2],
];
const LARGE_EVERY = 250;

const textOf = (n: number, bytes: number): string =>
  createHash("shake256", { outputLength: bytes / 2 })
    .update(String(n))
    .digest("hex");

export function createLoad(hp: Holdpoint): Load {
  const tools = declare(hp);
  const turn = spread();
  const counts = new Map<string, number>();
  const open = new Set<Promise<void>>();
  let resume: Promise<void> = Promise.resolve();
  let paid: Args = { n: 1, text: textOf(1, SMALL_BYTES) };
  const call = async (n: number): Promise<void> => {
    const isLarge = n % LARGE_EVERY === 0;
    const name = isLarge ? "pay" : (turn[n % turn.length] ?? "pay");
    const fresh = { n, text: textOf(n, isLarge ? LARGE_BYTES : SMALL_BYTES) };
    const args = name === "again" ? paid : fresh;
    const tool = name === "again" ? "pay" : name;
    const answer = await tools[tool]?.(args, { requestId: `${tool} ${args.n}` });
    if (name === "pay") paid = args;
    const key = `${isLarge ? "large" : name} ${said(answer)}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  };
  return {
    counts,
    async run(rate, inFlight, over) {
      const began = performance.now();
      let shift = 0;
      for (let n = 1; !over.aborted; n++) {
        const paused = performance.now();
        await resume;
        shift += performance.now() - paused;
        while (open.size >= inFlight) await Promise.race(open);
        const early = began + shift + (n * 1_000) / rate - performance.now();
        if (early > 1) await sleep(early);
        const one: Promise<void> = call(n).finally(() => open.delete(one));
        open.add(one);
      }
      await Promise.all(open);
    },
    async pause(work) {
      let goOn = () => {};
      resume = new Promise((resolve) => {
        goOn = resolve;
      });
      // One may have been on its way past the gate.
      await sleep(20);
      await Promise.all(open);
      await work().finally(goOn);
    },
  };
}

function said(answer: Answer<unknown> | undefined): string {
  if (answer === undefined) return "never";
  if (answer.status === "in_doubt") return "in doubt";
  return answer.status === "done" ? "executed" : answer.code;
}

function spread(): readonly string[] {
  const turn = MIX.flatMap(([name, share]) => Array.from({ length: share }, () => name));
  const step = 37;
  return turn.map((_, index) => turn[(index * step) % turn.length] ?? "pay");
}

function declare(hp: Holdpoint): Readonly<Record<string, Tool>> {
  const run = ({ text }: Args) => ({ text });
  const fail = (error: Error) => async () => {
    throw error;
  };
  const tools: readonly Tool[] = [
    hp.gate({
      name: "pay",
      policy: ({ args }) => (args.n > 0 ? "approve" : "block"),
      timeoutMs: 60_000,
      run,
    }),
    hp.gate({
      name: "capped",
      policy: "approve",
      cost: () => ({ budget: "shared", amount: { currency: "USD", micros: 1_000n } }),
      run,
    }),
    hp.gate({ name: "look", policy: "approve", effect: "read", run }),
    hp.gate({ name: "blocked", policy: "block", run }),
    hp.gate({ name: "ask", policy: "escalate", run }),
    hp.gate({ name: "refused", policy: "escalate", run }),
    hp.gate({ name: "fails", policy: "approve", run: fail(new NotApplied("the receiver said no")) }),
    hp.gate({ name: "breaks", policy: "approve", run: fail(new Error("the line went dead")) }),
  ];
  return Object.fromEntries(tools.map((tool) => [tool.toolName, tool]));
}

/** Another instance that decides what waits, and ends doubts. */
export async function decide(hp: Holdpoint, over: AbortSignal): Promise<number> {
  const ann = { by: "person:ann" };
  let decided = 0;
  while (!over.aborted) {
    for (const { id, ...row } of (await hp.approvals.list()).items) {
      if (row["tool"] === "refused") await hp.approvals.reject(id, { ...ann, reason: "not this one" });
      else await hp.approvals.approve(id, ann);
      decided++;
    }
    const { items } = await hp.actions.list({ phase: "in_doubt", limit: 20 });
    for (const { id } of items)
      await hp.actions.resolve(id.replace("act_", "eff_"), {
        ...ann,
        reason: "asked",
        status: "not_applied",
      });
    await sleep(50, undefined, { signal: over }).catch(() => undefined);
  }
  return decided;
}

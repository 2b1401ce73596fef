/**
 * What every node of the fleet declares: tools of every promise against the receiver that fits it, a budget that they
 * share, what people are asked about, and a trip that is booked, paid, decided on and undone.
 */
import { type Answer, type Holdpoint, NotApplied, type ToolContext } from "../../../src/index.ts";
import type { Mode } from "../../crash/effects.ts";
import { createReceiver } from "../../crash/receiver.ts";
import { BUDGET, RESERVED, SPENT } from "./tools.ts";

type Args = { readonly n: number };
type Sent = Pick<ToolContext, "idempotencyKey" | "signal">;

const receiver = createReceiver(Number(process.env["FLEET_RECEIVER"]));
const TIMEOUT_MS = 4_000;

async function send(mode: Mode, tool: string, args: unknown, { idempotencyKey, signal }: Sent) {
  const body = { key: idempotencyKey, tool, args: args as Args };
  const { status, result } = await receiver.post(mode, body, { signal, written: () => undefined });
  if (status === 422) throw new NotApplied("the receiver refused it");
  if (status !== 200 || result === null) throw new Error(`HTTP ${status}`);
  return result;
}

const through = (mode: Mode) => (args: Args, context: ToolContext) => send(mode, context.tool, args, context);

function declareTools(hp: Holdpoint): void {
  const usual = { policy: "approve", timeoutMs: TIMEOUT_MS } as const;
  hp.gate<Args, string>({ ...usual, name: "once.pay", effect: "once", run: through("ignores") });
  hp.gate<Args, string>({ ...usual, name: "keyed.post", effect: "keyed", run: through("honours") });
  hp.gate<Args, string>({ ...usual, name: "again.put", effect: "idempotent", run: through("honours") });
  hp.gate<Args, string>({
    ...usual,
    name: "probed.send",
    effect: "probed",
    finalityMs: 2 * TIMEOUT_MS,
    run: through("ignores"),
    verify: async ({ idempotencyKey }) => {
      const { result } = await receiver.get("ignores", idempotencyKey);
      return result === null ? { answer: "not_applied" } : { answer: "applied", result };
    },
  });
  hp.gate<Args, string>({
    ...usual,
    name: "bank.draw",
    effect: "once",
    cost: () => ({ budget: BUDGET, amount: { currency: "USD", micros: RESERVED } }),
    run: async (args, context) => {
      const result = await send("ignores", context.tool, args, context);
      context.spent(BUDGET, { currency: "USD", micros: SPENT });
      return result;
    },
  });
  hp.gate<Args, string>({ ...usual, name: "asked.wire", policy: "escalate", run: through("ignores") });
  hp.remote.tool({ name: "ship", policy: "approve", effect: "keyed" });
}

function done(answer: Answer<unknown>): void {
  if (answer.status !== "done")
    throw new Error(`not executed: ${"code" in answer ? answer.code : "in doubt"}`);
}

function declareTrip(hp: Holdpoint) {
  const withUndo = (name: string, effect: "keyed" | "once", mode: Mode) =>
    hp.gate<Args, string>({
      name,
      effect,
      policy: "approve",
      timeoutMs: TIMEOUT_MS,
      run: through(mode),
      undo: (args, result, context) => send(mode, `${name}.undo`, { args, result }, context),
    });
  const book = withUndo("trip.book", "keyed", "honours");
  const pay = withUndo("trip.pay", "once", "ignores");
  const tell = hp.gate<Args, string>({
    ...{ name: "trip.tell", policy: "approve", effect: "keyed", run: through("honours") },
  });
  const options = { checkpoints: [{ name: "Go" }], rollbackEnabled: true };
  return hp.workflow("trip", options, async (ctx, { n }: Args) => {
    done(await ctx.call(book, { n }));
    await ctx.sleep(10);
    done(await ctx.call(pay, { n }));
    await ctx.checkpoint("Go", { outputs: { n }, summary: "Booked and paid" });
    done(await ctx.call(tell, { n }));
    return { n };
  });
}

// biome-ignore lint/style/noDefaultExport: it is what `--definitions` takes.
export default (hp: Holdpoint): void => {
  declareTools(hp);
  const trip = declareTrip(hp);
  hp.gate<Args, string>({
    name: "trip.begin",
    policy: "approve",
    effect: "idempotent",
    run: async ({ n }) => (await trip.start({ n }, { requestId: `trip-${n}` })).id,
  });
};

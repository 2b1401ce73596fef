/** One process that only decides: approves most, edits and rejects some, raises the budget, keeps seals. */
import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { admin } from "../../src/admin.ts";
import { type ApprovalSummary, holdpoint, isHoldpointError } from "../../src/index.ts";
import { errorText } from "../../src/kernel/text.ts";
import { createDeath, listen, report } from "./orders.ts";
import { logOf, optionsOf, readSetup } from "./setup.ts";
import { openLog } from "./told.ts";
import { BUDGET } from "./tools.ts";

type Kind = "approve" | "reject" | "edit";

const setup = readSetup();
const write = openLog(logOf(setup, "decider"));
const decisions = new AsyncLocalStorage<{ about: Kind; requestId: string; starts: number }>();
const death = createDeath(() => decisions.getStore());
const hp = holdpoint({
  ...(await optionsOf(setup)),
  agent: "decider",
  notify: () => undefined,
  reach: death.reach,
});

/** Always the same for an approval, so that a decision that was cut off is made again. */
function kindFor(id: string): Kind {
  const last = id.charCodeAt(id.length - 1) % 10;
  if (last === 0) return "reject";
  return last < 3 ? "edit" : "approve";
}

const ANN = "person:ann";
const BOB = "person:bob";

function decide(kind: Kind, id: string, by: string) {
  if (kind === "reject") return hp.approvals.reject(id, { by, reason: "some are refused" });
  return hp.approvals.approve(id, kind === "edit" ? { by, edit: { to: "somebody else" } } : { by });
}

/** Whatever the store says may pass; anything that is not a refusal is a fault. */
async function patiently(what: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isHoldpointError(error)) write({ kind: "wrong", what: `${what}: ${errorText(error)}` });
    else if (error.retryable) await sleep(50);
  }
}

async function decideOne({ id, ...item }: ApprovalSummary): Promise<void> {
  const kind = item["tool"] === "keyed.asked" ? "approve" : kindFor(id);
  for (const by of item["tool"] === "keyed.asked" ? [ANN, BOB] : [ANN])
    await patiently(id, async () => {
      const context = { about: kind, requestId: id, starts: 0 };
      const { status } = await decisions.run(context, () => decide(kind, id, by));
      write({ kind: "decision", approval: id, status, by });
    });
}

/** Limits only grow, so the last one acknowledged is the least there may be. */
async function raiseBudget(): Promise<void> {
  const { limit } = await hp.budgets.get(BUDGET);
  const micros = (limit?.micros ?? 0n) + 20_000_000n;
  await hp.budgets.limit(BUDGET, { currency: "USD", micros });
  write({ kind: "budget", budget: BUDGET, micros: String(micros) });
}

async function keepSeal(): Promise<void> {
  const seal = await admin(hp).seals.save();
  if (seal !== undefined) write({ kind: "seal", seal });
}

async function work(): Promise<never> {
  for (let round = 0; ; round++) {
    await patiently("the list", async () => {
      const { items } = await hp.approvals.list({ limit: 20 });
      for (const item of items) await decideOne(item);
    });
    if (round % 10 === 0) await patiently("the budget", raiseBudget);
    if (round % 40 === 39) await patiently("the seal", keepSeal);
    await sleep(20);
  }
}

listen(({ order }) => {
  death.take(order);
  report({ kind: "running" });
  void work();
}, death.take);

/** Workflows, one in each state that lasts: those that a definition runs, and those that agents drive from outside. */
import assert from "node:assert/strict";
import type { Holdpoint } from "../../../src/index.ts";
import { HOUR_MS, MINUTE_MS, type Scene } from "./decide.ts";
import { AGENTS, ANN, BEN, CHLOE } from "./people.ts";
import type { Tools } from "./tools.ts";

export type Flows = {
  readonly awaiting: string;
  readonly question: string;
  readonly executing: string;
  readonly goingBack: string;
  readonly completed: string;
  readonly failed: string;
  readonly initialized: string;
  /** The approvals that they wait for. */
  readonly checkpoint: string;
  readonly asked: string;
};

type Campaign = { readonly segment: string; readonly month: string };

const plan = (segment: string) => ({
  summary: `Write to 4,210 customers of ${segment} with a voucher of 15 USD each`,
  decisionNeeded: "May the letter go out, and is the voucher right?",
  recommendation: "approve" as const,
  confidence: 0.82,
  artifacts: [{ kind: "draft", words: 214 }],
  context: { segment, vouchers_usd: 63_150, complaints_last_year: 12 },
  inputs: { segment, from: "crm" },
  outputs: { voucher_usd: 15, subject: "Fifteen dollars, because you stayed", customers: 4_210 },
  nextSteps: ["refund the double charges of the same people", "send the letter", "watch the complaints"],
  confidenceScores: { segment: 0.91, voucher: 0.74, wording: 0.8 },
  memory: {
    conversationHistory: [{ from: "marketing", text: "Not more than 20 USD, please." }],
    factsLearned: ["12 % of the segment has left within a year"],
    currentContext: { draft: 3 },
  },
  apiCalls: [
    { method: "GET", endpoint: "/crm/segments/loyal", status: 200, summary: "4,210 customers" },
    { method: "POST", endpoint: "/vouchers/quote", status: 200, summary: "63,150 USD" },
  ],
  trace: ["looked the segment up", "compared three vouchers", "wrote three drafts and kept the shortest"],
  resources: { apiCalls: 2, tokensUsed: 18_400, executionTimeSeconds: 41, estimatedCostUsd: 0.27 },
});

export function defineFlows(hp: Holdpoint, { refunds, find, mail }: Tools) {
  const campaign = hp.workflow("campaign", async (ctx, { segment, month }: Campaign) => {
    await ctx.call(find, { customer: segment });
    await ctx.call(refunds, {
      ...{ order: `C-${month}`, customer: segment, amount_usd: 18, reason: "goodwill" as const },
    });
    const { outputs } = await ctx.checkpoint("Review plan", plan(segment));
    await ctx.call(mail, { to: [`${segment}@lists.example.com`], subject: outputs.subject, body: "…" });
    await ctx.checkpoint("Before the second wave", { summary: "The first wave is out; nobody complained" });
    return { written_to: outputs.customers };
  });
  const audit = hp.workflow("quarterly audit", async (ctx, input: { quarter: string }) => {
    await ctx.call(find, { customer: input.quarter });
    const { answered } = await ctx.ask("threshold", "From which amount on is an invoice looked at by hand?", {
      suggestion: 5_000,
      approvers: { from: ["group:finance"] },
    });
    return { answered };
  });
  const backup = hp.workflow("nightly backup", async (ctx, input: { bucket: string }) => {
    await ctx.step("copy", () => ({ bucket: input.bucket, objects: 90_112 }));
    await ctx.sleep(20 * HOUR_MS);
    return "done";
  });
  return { campaign, audit, backup };
}
export type Definitions = ReturnType<typeof defineFlows>;

async function until<Value>(look: () => Promise<Value | undefined>): Promise<Value> {
  for (let tries = 0; tries < 2_000; tries++) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise<void>((resolve) => setTimeout(resolve, 5));
  }
  return assert.fail("it does not come");
}

/** What is asked from now on, one after the other. */
async function questions({ hp }: Pick<Scene, "hp">): Promise<() => Promise<string>> {
  const pending = async () => (await hp.approvals.list({ limit: 1_000 })).items.map(({ id }) => id);
  const seen = new Set(await pending());
  return async () => {
    const next = await until(async () => (await pending()).find((id) => !seen.has(id)));
    seen.add(next);
    return next;
  };
}

/** Gone through to the end, sent back once on the way. */
async function completed(scene: Scene, { campaign }: Definitions): Promise<string> {
  const { hp, time } = scene;
  const next = await questions(scene);
  const { id, result } = await campaign.start({ segment: "returning", month: "2025-12" });
  const plan = await next();
  time.at(Date.now() + 22 * MINUTE_MS);
  await hp.approvals.reject(plan, { by: CHLOE, reason: "15 USD is more than marketing allows here" });
  const another = await next();
  time.at(Date.now() + 35 * MINUTE_MS);
  await hp.approvals.approve(another, { by: BEN, edit: { voucher_usd: 10 }, note: "ten is enough" });
  // The letter, and the checkpoint behind it.
  for (const by of [CHLOE, BEN]) await hp.approvals.approve(await next(), { by });
  await result();
  return id;
}

/** Driven by an agent that was told to take back what it had done, and has not begun to. */
async function goingBack(scene: Scene): Promise<string> {
  const { hp } = scene;
  const next = await questions(scene);
  const agent = AGENTS.release;
  const { workflows } = hp.remote;
  const id = await workflows.create({
    ...{ name: "Move the shop to Frankfurt", checkpoints: ["Cut over"], by: agent, poster: BEN },
    description: "Database first, then the shop, then the names",
  });
  await workflows.start(id, { agent });
  const copied = { tool: "dns.point", args: { name: "shop.example", to: "fra-2" }, workflow: id, agent };
  const answer = await hp.remote.propose(copied);
  if (answer.status === "permitted")
    await hp.remote.report(answer.action, { agent, status: "applied", result: { ttl: 300 } });
  await workflows.checkpoint(id, { checkpoint: "Cut over", agent, summary: "Everything is copied" });
  await hp.approvals.reject(await next(), { by: ANN, reason: "not on a Friday" });
  return id;
}

async function failed({ hp }: Scene): Promise<string> {
  const agent = AGENTS.tidy;
  const { workflows } = hp.remote;
  const id = await workflows.create({ name: "Archive old cases", checkpoints: ["Delete"], by: agent });
  await workflows.start(id, { agent });
  await workflows.fail(id, { agent, reason: "the archive answers 507: it is full" });
  return id;
}

/** Those that are over, a few days ago. */
export async function past(scene: Scene, definitions: Definitions) {
  return { completed: await completed(scene, definitions), failed: await failed(scene) };
}

/** Those that are under way now. */
export async function present(scene: Scene, definitions: Definitions) {
  const { hp } = scene;
  const next = await questions(scene);
  const { id: awaiting } = await definitions.campaign.start({ segment: "loyal", month: "2026-01" });
  const checkpoint = await next();
  const { id: question } = await definitions.audit.start({ quarter: "2025-Q4" });
  const asked = await next();
  const { id: executing } = await definitions.backup.start({ bucket: "exports-eu" });
  const initialized = await hp.remote.workflows.create({
    ...{ name: "Renew the certificates", checkpoints: ["Install"], by: AGENTS.release, poster: CHLOE },
  });
  return {
    ...{ awaiting, question, executing, initialized, checkpoint, asked },
    goingBack: await goingBack(scene),
  };
}

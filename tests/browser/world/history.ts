/** A month of work: what was asked, decided and done on each of its days. */
import { pick } from "../../server/sample.ts";
import { DAY_MS, decided, MINUTE_MS, type Outcome, type Proposed, propose, type Scene } from "./decide.ts";
import { AGENTS, ANN, BEN, CHLOE } from "./people.ts";
import { DECLINED, LOST } from "./tools.ts";

const CUSTOMERS = ["Ines Ferreira", "Tom Whitlock", "Priya Raman", "Jonas Weber", "Aiko Mori", "Lena Novak"];
const REASONS = ["damaged", "late", "wrong item", "goodwill"] as const;

function refundOf({ random }: Scene, order: string, amount: number): Proposed {
  const customer = pick(random, CUSTOMERS);
  const reason = pick(random, REASONS);
  return {
    tool: "payments.refund",
    agent: AGENTS.refunds,
    args: { order, customer, amount_usd: amount, reason, notify_customer: true },
    rationale: `${customer} reported the order as ${reason}. Photos are in the case.`,
  };
}

function decisionOf({ random }: Scene): Outcome {
  const draw = random();
  const by = pick(random, [ANN, BEN, BEN, CHLOE]);
  if (draw < 0.72) return { kind: "approve", by, ...(draw < 0.2 ? { note: "checked with the shop" } : {}) };
  if (draw < 0.86) return { kind: "approve", by, edit: { amount_usd: 25 }, note: "shipping only" };
  return { kind: "reject", by, reason: pick(random, ["no proof of damage", "refunded last week already"]) };
}

const waitOf = ({ random }: Scene): number => Math.round((1 + random() ** 3 * 240) * MINUTE_MS);

/** Approved without a change, over and over: what a suggestion is made of. */
async function usual(scene: Scene, day: number): Promise<void> {
  const by = pick(scene.random, [BEN, CHLOE]);
  const customer = pick(scene.random, CUSTOMERS);
  const refund: Proposed = {
    tool: "payments.refund",
    agent: AGENTS.parcels,
    args: { order: `P-${500 + day}`, customer, amount_usd: 21 + (day % 9), reason: "late" },
    rationale: "The parcel was more than a week late; this is the postage.",
  };
  await decided(scene, refund, { kind: "approve", by }, waitOf(scene));
}

async function aDay(scene: Scene, day: number, dayAt: number): Promise<void> {
  const { random, time } = scene;
  const count = 2 + Math.floor(random() * 5);
  for (let number = 1; number <= count; number++) {
    time.at(Math.max(Date.now(), dayAt + number * 50 * MINUTE_MS));
    const order = `A-${1000 + day * 10 + number}`;
    const amount = Math.round(20 + random() * 600) + 0.5;
    if (number === 1) await propose(scene, refundOf(scene, order, 12.5));
    await propose(scene, { tool: "crm.lookup", agent: AGENTS.refunds, args: { customer: order } });
    await decided(scene, refundOf(scene, order, amount), decisionOf(scene), waitOf(scene));
  }
  await usual(scene, day);
}

/** What nobody decided in time, what policy forbids, what the receiver declined, and what got lost. */
async function mishaps(scene: Scene, day: number): Promise<void> {
  const agree: Outcome = { kind: "approve", by: ANN };
  if (day % 9 === 4) await propose(scene, refundOf(scene, `A-${day}-late`, 310));
  if (day % 7 === 3) await propose(scene, refundOf(scene, `A-${day}-much`, 4_800));
  if (day % 10 === 6) await decided(scene, refundOf(scene, `A-${DECLINED}-${day}`, 75), agree, MINUTE_MS);
}

async function releases(scene: Scene, day: number): Promise<void> {
  const args = { service: "checkout", version: `4.${day}.0`, environment: "production", replicas: 12 };
  const release = { tool: "deploy.release", agent: AGENTS.release, rationale: "tests are green on staging" };
  await propose(scene, { ...release, args: { ...args, environment: "staging" } });
  if (day % 3 === 0)
    await decided(scene, { ...release, args }, { kind: "approve", by: CHLOE }, waitOf(scene));
}

/** Days `from` up to `to`, counted back from the present: 30 is a month ago. */
export async function work(scene: Scene, now: number, from: number, to: number): Promise<void> {
  for (let ago = from; ago > to; ago--) {
    const day = 30 - ago;
    const dayAt = now - ago * DAY_MS;
    scene.time.at(Math.max(Date.now(), dayAt));
    await aDay(scene, day, dayAt);
    await releases(scene, day);
    await mishaps(scene, day);
  }
}

/** Yesterday: two that nobody knows the fate of. */
export async function doubts(scene: Scene): Promise<void> {
  const agree: Outcome = { kind: "approve", by: ANN };
  const pay = { vendor: "Northwind Paper", iban: "DE02120300000000202051", amount_usd: 1_840 };
  const invoice: Proposed = {
    tool: "mail.send",
    agent: AGENTS.letters,
    args: {
      to: ["legal@partner.example"],
      subject: `Notice of termination (${LOST})`,
      body: "Dear partner,",
    },
    rationale: "the notice has to arrive this week",
  };
  await decided(scene, refundOf(scene, `A-4711-${LOST}`, 240), agree, 3 * MINUTE_MS);
  await decided(scene, invoice, agree, 9 * MINUTE_MS);
  const paid = await propose(scene, {
    tool: "payments.pay",
    agent: AGENTS.books,
    args: { ...pay, invoice: "NP-2290", due: "2026-01-31" },
  });
  if (paid.status !== "pending" || paid.waitingFor !== "approval") return;
  await scene.hp.approvals.approve(paid.approval, { by: BEN });
  await scene.hp.approvals.approve(paid.approval, { by: ANN });
  await scene.hp.remote.start(paid.action, { agent: AGENTS.books });
}

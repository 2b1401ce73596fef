/** A store with rows in every list, whose names, addresses, reasons and arguments are as long as they are at work. */
import assert from "node:assert/strict";
import { admin } from "../../src/admin.ts";
import type { Holdpoint } from "../../src/index.ts";
import { type Folder, pendingApproval } from "../fixtures/folder.ts";

const HOUR = 3_600_000;
const by = "person:root";
const reason = "the customer wrote that the parcel never arrived, and the carrier agrees";
const args = { order: "SO-2026-004711", amount_usd: 1_249.5, customer: "Anneliese Oberhuber", note: reason };
const options = (requestId: string) => ({ requestId, waitMs: 0 });

async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let look = 0; !(await isSo()); look++) {
    assert.ok(look < 1_000, "it does not come");
    await new Promise<void>((resolve) => setTimeout(resolve, 10));
  }
}

async function people(hp: Holdpoint): Promise<void> {
  const groups = ["finance-emea", "refunds-second-line"];
  const { people: list, keys } = admin(hp);
  await list.add({ person: by, roles: ["admin", "supervisor", "auditor"], by });
  const mail = "anneliese.oberhuber@accounting.example.com";
  await list.add({
    person: "person:ann",
    name: "Anneliese Oberhuber-Feldmann",
    roles: ["supervisor"],
    groups,
    mail,
    by,
  });
  await list.add({
    person: "person:christopher.featherstone",
    roles: ["verifier", "poster"],
    groups: [],
    by,
  });
  const key = { name: "production, eu-west-1", scopes: ["actions:read", "approvals:read"], by } as const;
  await keys.issue({
    principal: "agent:refund-assistant-emea",
    roles: ["executor"],
    forMs: 90 * 24 * HOUR,
    ...key,
  });
  await keys.issue({ principal: "service:nightly-reconciliation", roles: ["auditor", "poster"], ...key });
}

/** Some wait, in stages and with a deadline; one is decided, one in doubt. */
async function actions(hp: Holdpoint): Promise<void> {
  const asked = { verdict: "escalate", decideWithinMs: 5 * HOUR } as const;
  const stages = [{ from: ["person:christopher.featherstone", by] }, { from: ["person:ann"] }];
  const refund = hp.gate({
    ...{ name: "payments.refund", title: "Refund {amount_usd} USD of order {order} to {customer}" },
    ...{ policy: { ...asked, stages, onTimeout: "escalate" as const }, run: (_: typeof args) => null },
  });
  const plain = hp.gate({ name: "mail.send", policy: asked, run: (_: typeof args) => null });
  const lost = hp.gate({
    ...{ name: "payments.transfer", policy: "approve" as const },
    run: (_: typeof args) =>
      Promise.reject(new Error("socket hang up while the bank was answering the request")),
  });
  await plain(args, options("decided"));
  await hp.approvals.reject(await pendingApproval(hp), { by, reason });
  await refund(args, options("staged"));
  await plain(args, options("plain"));
  await lost(args, options("lost"));
  await lost({ ...args, order: "SO-2026-004712" }, options("lost-2"));
}

async function workflows(hp: Holdpoint): Promise<void> {
  const flow = hp.workflow("monthly-supplier-reconciliation", async (ctx, _: object) => {
    await ctx.checkpoint("payment-proposal-reviewed", { outputs: args });
    return ctx.ask("which-ledger", "Which of the three ledgers do the transfers of last month belong to?");
  });
  const failing = hp.workflow("quarterly-report", async (_ctx, _: object) => {
    throw new Error("the figures of the third quarter are missing for two of the subsidiaries");
  });
  const asking = hp.workflow("question", async (ctx, _: object) =>
    ctx.ask("which-ledger", `Which ledger is it, as ${reason}?`),
  );
  await flow.start({});
  await asking.start({});
  await (await failing.start({})).result();
  await until(async () => (await hp.approvals.count("pending")) === 5);
}

async function limits(hp: Holdpoint): Promise<void> {
  const usd = (micros: bigint) => ({ currency: "USD", micros });
  await hp.budgets.limit("refunds-emea-second-quarter-2026", usd(250_000_000_000n));
  await hp.budgets.limit("travel", usd(9_000_000n));
  const when = 'args.amount_usd <= 100 && args.customer != "" && !args.note.contains("lawyer")';
  const limit = { total: usd(5_000_000_000n), amount: "args.amount_usd" };
  await hp.grants.give({
    tool: "payments.refund",
    agent: "agent:refund-assistant-emea",
    when,
    uses: 500,
    forMs: 24 * HOUR,
    ...limit,
    by,
    reason,
  });
  const brief = await hp.grants.give({ tool: "mail.send", uses: 3, forMs: HOUR, by, reason });
  await hp.grants.revoke(brief.id, { by, reason });
  const payload = { task: "collect the three offers", ...args };
  await hp.intents.send({ intentType: "human_approval", toAgent: "agent://approver", payload });
  await hp.intents.send({
    intentType: "request_for_quotation",
    toAgent: "agent://procurement-emea",
    payload,
  });
}

async function notices(hp: Holdpoint): Promise<void> {
  const { endpoints, monitor } = admin(hp);
  await endpoints.add({
    url: "https://integrations.accounting.invalid/v2/holdpoint/events?team=emea",
    events: ["approval.*", "workflow.failed", "alert.raised"],
    name: "erp",
    by,
  });
  await endpoints.add({
    to: ["role:supervisor", "group:refunds-second-line", "ops@accounting.example.com"],
    events: ["approval.requested", "approval.escalated", "approval.rejected"],
    by,
  });
  const rule = {
    kind: "rate",
    name: "too-many-calls-of-one-tool",
    of: "calls",
    per: "tool",
    windowMs: HOUR,
    above: 0,
  } as const;
  const { caughtUp } = await monitor({
    name: "finance-emea",
    rules: [
      { ...rule, severity: "critical" },
      { ...rule, name: "calls", per: "agent" },
    ],
  });
  const ping = hp.gate({ name: "ledger.entries.search", policy: "approve", effect: "read", run: () => 1 });
  await ping({}, { requestId: "ping" });
  await caughtUp();
}

/** Nobody is there. An endpoint of which nothing is sent is added afterwards. */
async function messages(hp: Holdpoint): Promise<void> {
  const { deliver, messages: outbox, endpoints } = admin(hp);
  const over = new AbortController();
  const delivering = deliver(over.signal, { timeoutMs: 100 });
  await until(async () => (await outbox.list({})).items.some(({ attempts }) => attempts > 0));
  over.abort();
  await delivering;
  await endpoints.add({ url: "https://hooks.slack.com/services/T0/B0/secret", name: "on-call finance", by });
}

/** The policy is put in force by another program than the rest. */
export async function crowd(folder: Folder): Promise<void> {
  const rules = [
    { id: "small", tool: "payments.*", when: "args.amount_usd < 10", verdict: "approve", reason },
  ] as const;
  const policy = { policy: "refunds-and-transfers-emea", default: "escalate", rules } as const;
  const first = folder.open({ policy, agent: "refund-assistant-emea" });
  await first.gate({ name: "payments.check", run: (_: { amount_usd: number }) => 1 })({ amount_usd: 5 });
  await first.close();
  const hp = folder.open({ agent: "refund-assistant-emea", node: { kind: "worker", version: "2026.5.14" } });
  await people(hp);
  await notices(hp);
  await actions(hp);
  await limits(hp);
  await workflows(hp);
  await messages(hp);
  await admin(hp).tenants.add({ name: "northern-europe-subsidiaries", admin: "person:ann", by });
  await admin(hp).tenants.close("northern-europe-subsidiaries", { by, reason });
}

/** The tools of a company that lets agents refund, deploy, migrate, write and tidy up. They do nothing but answer. */
import { z } from "zod";
import type { Holdpoint } from "../../../src/index.ts";

/** Arguments that name one of these are lost on the way: nobody knows whether it happened. */
export const LOST = "lost-line";
/** These are turned down by the receiver: it certainly did not happen. */
export const DECLINED = "declined";

const DAY_MS = 86_400_000;
const micros = (usd: number): bigint => BigInt(Math.round(usd * 1_000_000));

function answerFor(text: string): void {
  if (text.includes(LOST)) throw new Error("the connection was closed before an answer came");
}

const refund = z.object({
  order: z.string().min(3),
  customer: z.string(),
  amount_usd: z.number().positive().max(20_000),
  reason: z.enum(["damaged", "late", "wrong item", "goodwill"]),
  notify_customer: z.boolean().optional(),
});
const release = z.object({
  service: z.string(),
  version: z.string(),
  environment: z.enum(["staging", "production"]),
  replicas: z.number().int().min(1).max(40),
});
const migration = z.object({ database: z.string(), sql: z.string(), in_transaction: z.boolean() });
const letter = z.object({ to: z.array(z.string()), subject: z.string(), body: z.string() });
const deletion = z.object({ bucket: z.string(), paths: z.array(z.string()), keep_days: z.number().int() });
const payment = z.object({
  vendor: z.string(),
  iban: z.string(),
  amount_usd: z.number().positive(),
  invoice: z.string(),
  due: z.string(),
});
const lookup = z.object({ customer: z.string() });

const diffOf = ({ service, version, replicas }: z.output<typeof release>): string =>
  [
    `--- a/${service}/deployment.yaml`,
    `+++ b/${service}/deployment.yaml`,
    "@@ -11,7 +11,7 @@ spec:",
    "   template:",
    "     spec:",
    "       containers:",
    `-        - image: registry.example/${service}:4.17.2`,
    `+        - image: registry.example/${service}:${version}`,
    "           env:",
    "-            - { name: PAYMENTS_TIMEOUT, value: 30s }",
    "+            - { name: PAYMENTS_TIMEOUT, value: 5s }",
    `   replicas: ${replicas}`,
  ].join("\n");

function moneyTools(hp: Holdpoint) {
  const refunds = hp.gate({
    name: "payments.refund",
    description: "Gives a customer's money back to the card that was charged",
    input: refund,
    effect: "keyed",
    policy: "approve",
    keyRetentionMs: 30 * DAY_MS,
    cost: ({ amount_usd }) => ({
      budget: "refunds",
      amount: { currency: "USD", micros: micros(amount_usd) },
    }),
    isDefinite: (error) => String(error).includes(DECLINED),
    undo: ({ order }) => ({ charged_again: order }),
    run: ({ order, amount_usd }) => {
      if (order.includes(DECLINED)) throw new Error(`${DECLINED}: the card was closed`);
      answerFor(order);
      return { refund: `re_${order}`, amount_usd };
    },
  });
  const pay = hp.gate({
    name: "payments.pay",
    description: "Pays a vendor's invoice",
    input: payment,
    policy: "approve",
    run: ({ invoice }) => {
      answerFor(invoice);
      return { transfer: `tr_${invoice}` };
    },
  });
  return { refunds, pay };
}

function systemTools(hp: Holdpoint) {
  const deploy = hp.gate({
    name: "deploy.release",
    description: "Rolls a version out",
    input: release,
    effect: "idempotent",
    policy: "approve",
    preview: (args) => ({ diff: diffOf(args), pods_restarted: args.replicas }),
    undo: ({ service }) => ({ back_to: `${service}:4.17.2` }),
    run: ({ service, version }) => {
      answerFor(version);
      return { rolled_out: `${service}:${version}` };
    },
  });
  const migrate = hp.gate({
    name: "db.migrate",
    description: "Changes the schema of a database",
    input: migration,
    policy: "approve",
    preview: () => ({ tables: ["invoices", "invoice_lines"], rows_touched: 184_213, locks: "exclusive" }),
    run: ({ sql }) => {
      answerFor(sql);
      return { statements: sql.split(";").length - 1 };
    },
  });
  const remove = hp.gate({
    name: "files.delete",
    description: "Deletes files for good",
    input: deletion,
    policy: "approve",
    run: ({ paths }) => {
      answerFor(paths.join());
      return { deleted: paths.length };
    },
  });
  return { deploy, migrate, remove };
}

function wordTools(hp: Holdpoint) {
  const mail = hp.gate({
    name: "mail.send",
    description: "Sends a letter to customers",
    input: letter,
    policy: "approve",
    run: ({ to, subject }) => {
      answerFor(subject);
      return { sent: to.length };
    },
  });
  const find = hp.gate({
    name: "crm.lookup",
    description: "Reads what is known of a customer",
    input: lookup,
    effect: "read",
    policy: "approve",
    run: ({ customer }) => ({ customer, orders: 12, since: "2023-04-02" }),
  });
  return { mail, find };
}

export const defineTools = (hp: Holdpoint) => ({ ...moneyTools(hp), ...systemTools(hp), ...wordTools(hp) });
export type Tools = ReturnType<typeof defineTools>;

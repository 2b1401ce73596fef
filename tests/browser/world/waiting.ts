/** What waits for people now: one of each kind. */
import { MINUTE_MS, type Proposed, propose, type Scene } from "./decide.ts";
import { AGENTS, BEN } from "./people.ts";

const LETTER = `Dear Ms Ferreira,

thank you for your patience. The blender that reached you on 3 January was cracked at the base, as your photos show. We have sent a new one today; it should arrive before the weekend.

You need not send the broken one back. If you prefer your money instead of another blender, answer this letter and we will refund the full price within two days.

We have asked the warehouse to pack this model in the larger box from now on, because yours was not the only one that broke on the way. That does not repair your morning, but it may spare somebody else theirs.

With kind regards,
the service desk`;

const SQL = `BEGIN;
ALTER TABLE invoices ADD COLUMN settled_at timestamptz;
UPDATE invoices SET settled_at = paid_at WHERE status = 'paid';
ALTER TABLE invoices DROP COLUMN paid_at;
CREATE INDEX CONCURRENTLY invoices_settled ON invoices (settled_at);
COMMIT;`;

/** By name, for whoever wants the page of one. */
export type Waiting = {
  readonly refund: string;
  readonly deploy: string;
  readonly migration: string;
  readonly letter: string;
  readonly deletion: string;
  readonly invoice: string;
  readonly intent: string;
};

const REFUND: Proposed = {
  tool: "payments.refund",
  agent: AGENTS.refunds,
  args: {
    ...{ order: "A-20417", customer: "Ines Ferreira", amount_usd: 849, reason: "damaged" },
    notify_customer: true,
  },
  rationale:
    "The espresso machine leaks; the customer sent a video. The shop confirmed that it cannot be repaired.",
};
const DEPLOY: Proposed = {
  tool: "deploy.release",
  agent: AGENTS.release,
  args: { service: "checkout", version: "4.18.0", environment: "production", replicas: 12 },
  rationale: "Fixes the double tax line. All 1,204 tests pass; staging has run it for two days.",
};
const MIGRATION: Proposed = {
  tool: "db.migrate",
  agent: AGENTS.schema,
  args: { database: "billing", sql: SQL, in_transaction: true },
  rationale: "paid_at means two things; this splits them.",
};
const MAIL: Proposed = {
  tool: "mail.send",
  agent: AGENTS.letters,
  args: {
    to: ["ines.ferreira@example.net"],
    subject: "Your blender, and what we do about it",
    body: LETTER,
  },
  rationale: "Answers the complaint of this morning.",
};
const DELETION: Proposed = {
  tool: "files.delete",
  agent: AGENTS.tidy,
  args: {
    bucket: "exports-eu",
    paths: ["2024/01/", "2024/02/", "2024/03/", "2024/04/", "tmp/*.parquet"],
    keep_days: 0,
  },
  rationale: "These exports were not read for a year. Storage would fall by 4.1 TB.",
};
const INVOICE: Proposed = {
  tool: "payments.pay",
  agent: AGENTS.books,
  args: {
    ...{ vendor: "Halden Logistics", iban: "NO9386011117947", amount_usd: 18_240.55 },
    ...{ invoice: "HL-88131", due: "2026-02-01" },
  },
  rationale: "Matches the order and the delivery note. Halden was paid eleven times before.",
};

async function asked(scene: Scene, proposed: Proposed, laterMs: number): Promise<string> {
  scene.time.at(Date.now() + laterMs);
  const answer = await propose(scene, proposed);
  if (answer.status !== "pending" || answer.waitingFor !== "approval")
    throw new Error(`${proposed.tool} does not wait: ${answer.status}`);
  return answer.approval;
}

/** `now`: when people look. One of them has six minutes left. */
export async function ask(scene: Scene, now: number): Promise<Waiting> {
  const { hp } = scene;
  const invoice = await asked(scene, INVOICE, 0);
  await hp.approvals.approve(invoice, { by: BEN, note: "the delivery note is in the folder" });
  const migration = await asked(scene, MIGRATION, 40 * MINUTE_MS);
  await hp.approvals.approve(migration, { by: BEN, note: "ran it on a copy: 41 seconds" });
  const letter = await asked(scene, MAIL, 25 * MINUTE_MS);
  const deletion = await asked(scene, DELETION, 12 * MINUTE_MS);
  const deploy = await asked(scene, DEPLOY, 11 * MINUTE_MS);
  const { approval } = await hp.intents.send({
    intentType: "human_approval",
    toAgent: "agent://approver",
    from: AGENTS.books,
    payload: { task: "Close the books of December", risk_level: "medium", entries: 1_933 },
    withinMs: now - Date.now() + 6 * MINUTE_MS,
  });
  const refund = await asked(scene, REFUND, 7 * MINUTE_MS);
  return { refund, deploy, migration, letter, deletion, invoice, intent: approval ?? "" };
}

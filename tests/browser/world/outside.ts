/** What stands around the work: budgets, standing grants, an alert, and endpoints of which one is gone. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { admin, type MonitorRule } from "../../../src/admin.ts";
import type { Holdpoint } from "../../../src/index.ts";
import { DAY_MS, HOUR_MS, propose, type Scene } from "./decide.ts";
import { AGENTS, ANN, BEN } from "./people.ts";

export async function openBudgets(hp: Holdpoint): Promise<void> {
  await hp.budgets.limit("refunds", { currency: "USD", micros: 60_000_000_000n });
  await hp.budgets.limit("travel", { currency: "EUR", micros: 4_500_000_000n });
}

/** Three times the agent did without asking, of twenty. */
export async function grantRefunds(scene: Scene): Promise<string> {
  const { hp, time } = scene;
  const { id } = await hp.grants.give({
    ...{ tool: "payments.refund", agent: AGENTS.refunds, by: BEN, uses: 20, forMs: 14 * DAY_MS },
    when: 'args.amount_usd <= 60 && args.reason == "late"',
    total: { currency: "USD", micros: 900_000_000n },
    amount: "args.amount_usd",
    reason: "the parcel service is on strike; these are all alike",
  });
  for (const number of [1, 2, 3]) {
    time.at(Date.now() + HOUR_MS);
    await propose(scene, {
      ...{ tool: "payments.refund", agent: AGENTS.refunds, rationale: "late by nine days" },
      args: { order: `S-${number}`, customer: "Lena Novak", amount_usd: 40 + number, reason: "late" },
    });
  }
  const over = { tool: "mail.send", uses: 5, forMs: 7 * DAY_MS, by: ANN, reason: "for the sale" };
  const other = await hp.grants.give(over);
  await hp.grants.revoke(other.id, { by: ANN, reason: "the sale is over" });
  return id;
}

/** More refunds within an hour than usual. */
export async function raiseAlert(scene: Scene): Promise<void> {
  const { hp } = scene;
  const rule: MonitorRule = {
    kind: "rate",
    name: "many refunds",
    of: "calls",
    per: "agent",
    severity: "critical",
    windowMs: HOUR_MS,
    above: 6,
  };
  const monitor = await admin(hp).monitor({ name: "watch", rules: [rule] });
  for (let number = 0; number < 9; number++)
    await propose(scene, {
      ...{ tool: "payments.refund", agent: AGENTS.refunds },
      args: { order: `B-${number}`, customer: "Jonas Weber", amount_usd: 9.5, reason: "late" },
    });
  await monitor.caughtUp();
  await monitor.close();
}

const GONE = 410;

/** A receiver that has taken the one webhook, and says of the other that it is gone for good. */
export async function tellOutside(hp: Holdpoint, act: () => Promise<void>): Promise<void> {
  const receiver = createServer((request, answer) => {
    answer.writeHead(request.url === "/gone" ? GONE : 200).end();
  });
  receiver.listen(0, "127.0.0.1");
  await once(receiver, "listening");
  const { port } = receiver.address() as AddressInfo;
  const by = ANN;
  const events = ["approval.*", "effect.in_doubt"];
  const at = (path: string) => `http://127.0.0.1:${port}/${path}`;
  await admin(hp).endpoints.add({ url: at("hooks"), name: "on-call channel", events, by });
  await admin(hp).endpoints.add({
    url: at("gone"),
    name: "the old ticket system",
    events: ["approval.*"],
    by,
  });
  await admin(hp).endpoints.add({
    to: ["role:supervisor"],
    name: "supervisors by mail",
    events: ["alert.*"],
    by,
  });
  const over = new AbortController();
  const delivering = admin(hp).deliver(over.signal, { allowPrivate: true, timeoutMs: 2_000 });
  await act();
  for (let tries = 0; tries < 400; tries++) {
    const { items } = await admin(hp).messages.list({ status: "dead", limit: 1 });
    if (items.length > 0) break;
    await new Promise<void>((resolve) => setTimeout(resolve, 10));
  }
  over.abort();
  await delivering;
  receiver.close();
}

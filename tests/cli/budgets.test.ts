// Budgets from a terminal: what was opened, and what it has come to.
import assert from "node:assert/strict";
import { test } from "node:test";
import { temporaryFolder } from "../fixtures/folder.ts";
import { runCli } from "./bench.ts";

const usd = (dollars: bigint) => ({ currency: "USD", micros: dollars * 1_000_000n });

test("budgets lists what was opened with what was spent, as columns and as JSON", async (t) => {
  const folder = temporaryFolder(t);
  const hp = folder.open();
  await hp.budgets.limit("trips", usd(500n));
  await hp.budgets.limit("refunds", usd(20n));
  const cost = () => ({ budget: "trips", amount: usd(120n) });
  await hp.gate({ name: "book", policy: "approve", cost, run: () => "booked" })({});

  const listed = await runCli(folder, ["budgets"]);
  assert.equal(listed.code, 0, listed.err);
  assert.deepEqual(listed.out.trimEnd().split("\n"), [
    "trips\t500 USD\t120 USD\t0 USD\t0",
    "refunds\t20 USD\t0 USD\t0 USD\t0",
  ]);
  const [first, ...more] = (await runCli(folder, ["budgets", "--limit", "1", "--json"])).out
    .trim()
    .split("\n");
  assert.deepEqual(more, []);
  assert.partialDeepStrictEqual(JSON.parse(first ?? ""), { name: "trips", spent: "120000000", effects: 0 });
  assert.match((await runCli(folder, ["budgets", "--limit", "1"])).err, /more \(use --limit 2\)/);
});

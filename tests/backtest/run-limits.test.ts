/** What the limits of a supervised run refused is not a policy's to change, and no change of one. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { admin } from "../../src/admin.ts";
import type { PolicyText } from "../../src/policy/rules/document.ts";
import type { SuperviseOptions } from "../../src/supervise/options.ts";
import { errorOf, linesOf, runCli } from "../cli/bench.ts";
import { eraseEntries } from "../fixtures/erase-entries.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { GOAL, scripted } from "../supervise/refund.ts";

const look = (order: number) => ({ kind: "tool", name: "look", args: { order } });
const OPEN: PolicyText = { policy: "open", default: "approve" };

/** The third call of a tool is refused by what is usual in a run; with `limits`, by what the program set. */
async function ran(context: TestContext, more: Partial<SuperviseOptions> = {}) {
  const folder = temporaryFolder(context);
  const hp = folder.open();
  const tools = [hp.gate({ name: "look", effect: "read", policy: "approve", run: () => "seen" })];
  const model = scripted(look(1), look(2), look(3));
  const { stop_reason } = await hp.supervise({ goal: GOAL, tools, model, ...more });
  const { items } = await hp.actions.list({ phase: "refused" });
  return { folder, hp, stop_reason, refused: items[0]?.id ?? "" };
}

test("a call that the usual limit of a run refused is counted apart, and is no change", async (context) => {
  const { folder, hp, stop_reason } = await ran(context);
  assert.equal(stop_reason, "loop_detected:per_tool_limit");
  const report = await admin(hp).policies.backtest(OPEN);
  assert.deepEqual([report.compared, report.changed, report.limited], [3, 0, 1]);
  assert.deepEqual(report.changes, []);
  await hp.close();
  const file = join(folder.path, "open.yaml");
  writeFileSync(file, "policy: open\ndefault: approve\n");
  const { code, out } = await runCli(folder, ["policy", "backtest", file, "--fail-over", "0"]);
  assert.equal(code, 0, out);
  assert.match(out, /1 refused by limits of the supervised run itself, which no policy can change/);
});

test("one that a policy with limits of its own would have let through is a change of the policy's", async (context) => {
  const { hp } = await ran(context);
  const report = await admin(hp).policies.backtest({ ...OPEN, tools: { look: { calls: 5 } } });
  assert.deepEqual([report.changed, report.limited], [1, 0]);
  assert.equal(report.changes[0]?.from.rule, "limit:calls");
  await hp.close();
});

test("one that the program limited itself stays refused, whatever the policy counts", async (context) => {
  const { hp } = await ran(context, { limits: { tools: { look: { calls: 2 } } } });
  const report = await admin(hp).policies.backtest({ ...OPEN, tools: { look: { calls: 5 } } });
  assert.deepEqual([report.changed, report.limited], [0, 1]);
  await hp.close();
});

test("what a document's own limit refused is the policy's to change", async (context) => {
  const { hp } = await ran(context, { policy: { ...OPEN, tools: { look: { calls: 2 } } } });
  const report = await admin(hp).policies.backtest({ ...OPEN, tools: { look: { calls: 5 } } });
  assert.deepEqual([report.changed, report.limited], [1, 0]);
  await hp.close();
});

test("explain says whose limit refused it, beside what the documents said", async (context) => {
  const { folder, hp, refused } = await ran(context, { policy: OPEN });
  await hp.close();
  const { code, out } = await runCli(folder, ["policy", "explain", refused]);
  assert.equal(code, 0);
  assert.match(out.replaceAll(/\s+/g, " "), /a usual limit of supervised runs refused it then/);
});

test("explain says so too where no document was asked", async (context) => {
  const { folder, hp, refused } = await ran(context);
  await hp.close();
  const ran1 = await runCli(folder, ["policy", "explain", refused, "--json"]);
  assert.equal(ran1.code, 2);
  assert.match(errorOf(ran1)["what"] ?? "", /a limit of the supervised run decided/);
});

test("explain says which document was asked and is no longer kept", async (context) => {
  const { folder, hp } = await ran(context, { policy: OPEN });
  const { items } = await hp.actions.list({ phase: "applied" });
  const action = items.at(0)?.id ?? "";
  const house = folder.open({ policy: { policy: "house", default: "approve" } });
  const other = house.gate({ name: "other", run: () => null });
  const model = scripted({ kind: "tool", name: "other", args: {} });
  await house.supervise({ goal: GOAL, tools: [other], policy: OPEN, model });
  const both = (await house.actions.list({ phase: "applied" })).items.find(({ tool }) => tool === "other");
  await Promise.all([hp.close(), house.close()]);
  const isOpen = (type: string, body: string) =>
    type === "policy.adopted" && body.includes('"policy":"open"');
  eraseEntries(join(folder.path, "journal.db"), isOpen);
  const one = await runCli(folder, ["policy", "explain", both?.id ?? "", "--json"]);
  const told = linesOf(one.out).map((line) => JSON.parse(line));
  assert.deepEqual(
    told.map(({ policy, gone }) => [policy.name, gone.length]),
    [["house", 1]],
  );
  const people = await runCli(folder, ["policy", "explain", both?.id ?? ""]);
  assert.match(people.out.replaceAll(/\s+/g, " "), /was asked too and is no longer kept/);
  const none = await runCli(folder, ["policy", "explain", action, "--json"]);
  assert.equal(none.code, 2);
  assert.match(
    errorOf(none)["what"] ?? "",
    /The policy documents that were asked about .* are no longer kept/,
  );
});

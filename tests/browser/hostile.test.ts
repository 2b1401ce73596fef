/** Texts that others write, in every field that they can write: they are shown as they are, and nothing of them is run. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { admin } from "../../src/admin.ts";
import { type Holdpoint, isHoldpointError } from "../../src/index.ts";
import { type Desk, endOf, openDesk, ROOT, sharedBrowser } from "./desk.ts";
import { settled } from "./pages.ts";
import { PAYLOADS } from "./payloads.ts";
import { bringCanary, readPlain } from "./plain-page.ts";
import type { Visit } from "./visit.ts";

const end = endOf({ after });
const browser = sharedBrowser(end);
const by = ROOT;
const agent = "agent:stranger";
const oneLine = (text: string): string => text.replaceAll(/[\n\r\t]/g, " ").trim();
const names = PAYLOADS.map((text) => oneLine(text).slice(0, 90)).filter(
  (text) => text !== "" && text.isWellFormed(),
);
/** As much as what an agent says may hold. */
const SAYS = PAYLOADS.join("\n").slice(0, 9_900).toWellFormed();
const byKey = Object.fromEntries(
  PAYLOADS.map((text, at) => [`${at} ${text}`.toWellFormed(), text.toWellFormed()]),
);
/** Of which there are many pages: a few of each kind. */
const SOME = names.filter((_, at) => at % 8 === 0);

function policyText(): string {
  const rules = PAYLOADS.map((text, at) => ({
    ...{ id: `rule_${at}`, tool: `tool.${at}`, verdict: "block" },
    ...{ reason: text.toWellFormed() || "none", description: text.toWellFormed() || "none" },
  }));
  return JSON.stringify({
    policy: "hostile",
    default: "escalate",
    description: SAYS.slice(0, 1_900).toWellFormed(),
    rules,
  });
}

type Ids = {
  readonly approval: string;
  readonly checkpoint: string;
  readonly workflow: string;
  /** Past its checkpoint: it can be sent back there. */
  readonly passed: string;
  readonly action: string;
};

const texts = PAYLOADS.map((text) => text.toWellFormed());
const LAYERS = {
  ...{ summary: SAYS, decisionNeeded: SAYS, context: byKey, artifacts: [byKey] },
  ...{ inputs: byKey, outputs: byKey, nextSteps: texts, risk: byKey },
  executionState: { agent_memory: byKey, decision_trace: texts },
};

/** Many names, and one workflow in which every layer is full. */
async function atCheckpoint({ hp }: Desk): Promise<Pick<Ids, "checkpoint" | "workflow" | "passed">> {
  const { workflows } = hp.remote;
  let [workflow, passed] = ["", ""];
  for (const [at, name] of SOME.entries()) {
    workflow = await workflows.create({ name, description: SAYS, by: agent });
    await workflows.start(workflow, { agent });
    const checkpoint = `at ${name.replaceAll(/[/#]/g, "")}`.trim();
    const layers = at === SOME.length - 1 ? LAYERS : { summary: name };
    await workflows.checkpoint(workflow, { checkpoint, agent, ...layers });
    if (at > 0) continue;
    passed = workflow;
    const [asked] = (await hp.approvals.list({ limit: 1 })).items;
    await hp.approvals.approve(asked?.id ?? "", { by });
  }
  const [last] = (await hp.approvals.list({ order: "newest", limit: 1 })).items;
  return { workflow, passed, checkpoint: last?.id ?? "" };
}

async function acted({ hp }: Desk): Promise<Pick<Ids, "approval" | "action">> {
  const waiting = await hp.remote.propose({ tool: "stranger.act", args: byKey, rationale: SAYS, agent });
  assert.equal(waiting.status, "pending");
  const approval = waiting.status === "pending" && waiting.waitingFor === "approval" ? waiting.approval : "";
  const other = await hp.remote.propose({ tool: "stranger.other", args: byKey, rationale: SAYS, agent });
  if (other.status !== "pending" || other.waitingFor !== "approval") return assert.fail();
  await hp.approvals.reject(other.approval, { by, reason: SAYS });
  return { approval, action: other.action };
}

/** It was approved and begun, and its agent does not know what became of it. */
async function doubted({ hp }: Desk): Promise<void> {
  const waiting = await hp.remote.propose({ tool: "stranger.lost", args: byKey, rationale: SAYS, agent });
  if (waiting.status !== "pending" || waiting.waitingFor !== "approval") return assert.fail();
  const { action, approval } = waiting;
  await hp.approvals.approve(approval, { by });
  assert.equal((await hp.remote.start(action, { agent })).status, "permitted");
  await hp.remote.report(action, { agent, status: "unknown", reason: SAYS });
}

/** Some fields take no hidden characters at all: whatever is refused there is nowhere to be seen. */
async function unlessRefused(act: Promise<unknown>): Promise<void> {
  await act.catch((error: unknown) => {
    if (!isHoldpointError(error, "invalid_input")) throw error;
  });
}

/** In the order in which they are looked at: later ones say less of what is new. */
async function furnish(desk: Desk): Promise<Ids> {
  const { hp } = desk;
  for (const name of names)
    await unlessRefused(admin(hp).keys.issue({ principal: agent, name, roles: ["executor"], by }));
  for (const [at, name] of SOME.entries()) {
    await unlessRefused(admin(hp).people.add({ person: `person:p${at}`, name, roles: ["auditor"], by }));
    await unlessRefused(admin(hp).endpoints.add({ url: `https://hooks.example/${at}`, name, by }));
    await unlessRefused(
      hp.grants.give({ tool: "stranger.granted", uses: 1, forMs: 3_600_000, by, reason: name }),
    );
  }
  const flows = await atCheckpoint(desk);
  await doubted(desk);
  const actions = await acted(desk);
  const client = await desk.agent("stranger");
  for (const text of PAYLOADS.filter((_, at) => at % 4 === 0))
    await client.approvals.comment(actions.approval, { text: text.toWellFormed().trim() || "none" });
  await hp.pause({ agent: "lost", by, reason: SAYS });
  return { ...flows, ...actions };
}

let opened: Desk;
let visit: Visit;
let url = "";
let ids: Ids;
before(async () => {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-hostile-"));
  end.after(() => rmSync(folder, { recursive: true, force: true }));
  const policy = join(folder, "policy.json");
  writeFileSync(policy, policyText());
  const define = (hp: Holdpoint) => hp.remote.tool({ name: "stranger.granted" });
  const desk = await openDesk(end, { browser, policy, folder, define });
  opened = desk;
  ids = await furnish(desk);
  url = desk.url;
  visit = await desk.visit(ROOT);
  await bringCanary(visit.context);
});

type Place = readonly [field: string, path: () => string, shows: string];
/** Where nothing of theirs need be: what they wrote elsewhere does not come there as anything but text. */
const place = (field: string, path: () => string): Place => [field, path, "Holdpoint"];

const PAGES: readonly Place[] = [
  [
    "arguments, what the agent says and comments, on the card",
    () => `/approvals/${ids.approval}`,
    "<SCRIPT>canary()",
  ],
  [
    "names of checkpoints and all three layers, on the card",
    () => `/approvals/${ids.checkpoint}`,
    "<SCRIPT>canary()",
  ],
  ["all of it in the list of approvals", () => "/approvals?tab=waiting", "canary()"],
  ["what was decided, and why", () => "/approvals?tab=decided", "stranger.other"],
  ["an action and why it was refused", () => `/actions/${ids.action}`, "canary()"],
  ["names and descriptions of workflows", () => "/workflows", "canary()"],
  ["a workflow with its timeline", () => `/workflows/${ids.workflow}`, "canary()"],
  ["names of keys", () => "/agents", "canary()"],
  ["names of people", () => "/agents?tab=people", "canary()"],
  ["the text of policies", () => "/policies", "canary()"],
  ["reasons of standing grants", () => "/policies?tab=grants", "canary()"],
  ["names of endpoints", () => "/settings?tab=endpoints", "canary()"],
  ["the main page", () => "/", "canary()"],
  ["activity", () => "/activity", "stranger"],
  ["what is in doubt, and why", () => "/in-doubt", "canary()"],
  ["why somebody was stopped", () => "/kill-switch", "canary()"],
  ["checkpoints of a workflow", () => `/workflows/${ids.workflow}?tab=checkpoints`, "canary()"],
  ["jobs of a workflow", () => `/workflows/${ids.workflow}?tab=jobs`, "canary()"],
  ["the journal of a workflow", () => `/workflows/${ids.workflow}?tab=journal`, "workflow.created"],
  ...["effects", "values"].map((tab) =>
    place(`a workflow's ${tab}`, () => `/workflows/${ids.workflow}?tab=${tab}`),
  ),
  ...["explain", "backtest", "suggestions"].map((tab) =>
    place(`policies, ${tab}`, () => `/policies?tab=${tab}`),
  ),
  ...["alerts", "budgets", "tenants", "server"].map((tab) =>
    place(`settings, ${tab}`, () => `/settings?tab=${tab}`),
  ),
  place("nodes", () => "/nodes"),
];

describe(`${PAYLOADS.length} hostile texts`, () => {
  test("are two hundred", () => assert.equal(PAYLOADS.length, 200));
  for (const [field, path, shows] of PAGES)
    test(`are text and nothing else: ${field}`, async () => {
      const { page } = visit;
      await page.goto(`${url}${path()}`);
      await settled(page);
      const all = page.getByRole("button", { name: "Show all" });
      if ((await all.count()) > 0) await all.first().click();
      await page.getByText(shows, { exact: false }).first().waitFor({ state: "attached" });
      const { wrong } = await readPlain(page);
      assert.deepEqual(wrong, []);
    });
});

test("names of checkpoints are text, too, where a workflow is sent back to one", async () => {
  const { page } = visit;
  await page.goto(`${url}/workflows/${ids.passed}`);
  await page.getByRole("button", { name: "Send back" }).click();
  const back = page.getByRole("dialog").getByLabel("Back to");
  assert.match(await back.innerText(), /at /);
  assert.deepEqual((await readPlain(page)).wrong, []);
});

/** Names that every object has by nature, in rows that make a table. */
const INHERITED = ["constructor", "toString", "valueOf", "hasOwnProperty"];

test("arguments named like what every object has are shown, and can be decided on", async () => {
  const args = { items: INHERITED.map((name) => ({ [name]: `under ${name}` })) };
  const waiting = await opened.hp.remote.propose({ tool: "stranger.named", args, agent });
  if (waiting.status !== "pending" || waiting.waitingFor !== "approval") return assert.fail();
  const { page } = visit;
  await page.goto(`${url}/approvals/${waiting.approval}`);
  for (const name of INHERITED) await page.getByText(`under ${name}`).waitFor();
  await page.getByRole("button", { name: "Approve", disabled: false }).waitFor();
});

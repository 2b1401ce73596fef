/** Every page of the desk, and the states of it that look different: for whoever goes through all of them. */
import type { Page } from "playwright-core";
import type { World } from "./world.ts";

export type Look = {
  /** What its pictures are called. */
  readonly name: string;
  readonly path: string | ((world: World) => string);
  /** Brings about what an address cannot. */
  readonly act?: (page: Page) => Promise<void>;
};

const tab = (name: string) => (page: Page) => page.getByRole("tab", { name }).click();
const press = (name: string) => (page: Page) =>
  page.getByRole("button", { name, exact: true }).first().click();
const LENIENT = '{ "policy": "lenient", "default": "approve", "rules": [] }';

/** A text that asks nobody about anything, on trial; what the first action that would change was proposed with. */
async function tryAll(page: Page): Promise<void> {
  await page.getByRole("textbox", { name: "The policy's text, as YAML or JSON" }).fill(LENIENT);
  await page.getByRole("button", { name: "Run the back-test" }).click();
  await page.getByRole("button", { name: "Arguments", exact: true }).first().click();
  await page.getByRole("button", { name: "Hide the arguments" }).waitFor();
}

/** All tabs but the first are somewhere else. */
const tabs = (name: string, path: string, ids: readonly string[]): readonly Look[] =>
  ids.map((id) => ({ name: `${name}-${id}`, path: `${path}?tab=${id}` }));

const openFirst = (within: string) => (page: Page) =>
  page.locator(within).filter({ visible: true }).first().locator("summary").click();

async function openTables(page: Page): Promise<void> {
  for (const summary of await page.getByText("As a table", { exact: true }).all()) await summary.click();
}

/** Two that wait, selected, and the dialogue in which they are decided together. */
async function decideTogether(page: Page): Promise<void> {
  const boxes = page.getByRole("checkbox", { name: /^Select/ });
  for (const at of [0, 1]) await boxes.nth(at).check();
  await page.getByRole("region", { name: "Selected" }).getByRole("button", { name: "Reject" }).click();
  await page.getByRole("dialog").waitFor();
}

/** As a server is seen on which nobody has asked for anything. */
async function asIfUnused(page: Page): Promise<void> {
  await page.route("**/api/attention", async (route) => {
    const answer = await route.fetch();
    const figures = { pending: 0, mine: 0, looked_at: 0, is_all: true, is_empty: true };
    await route.fulfill({ response: answer, json: { ...(await answer.json()), ...figures } });
  });
  await page.reload();
}

const card = (name: string, of: keyof World, act?: Look["act"]): Look => ({
  ...{ name: `card-${name}`, path: (world: World) => `/approvals/${world[of]}` },
  ...(act === undefined ? {} : { act }),
});
const flow = (name: string, of: keyof World): Look => ({
  ...{ name: `workflow-${name}`, path: (world: World) => `/workflows/${world[of]}` },
});

/** What is not there is said too. */
export const NOBODY = "apr_0000000000000000000000000Z";

export const LOOKS: readonly Look[] = [
  { name: "today", path: "/" },
  { name: "inbox", path: "/approvals" },
  { name: "inbox-waiting", path: "/approvals?tab=waiting" },
  { name: "inbox-decided", path: "/approvals?tab=decided" },
  { name: "inbox-together", path: "/approvals", act: decideTogether },
  { name: "first-run", path: "/", act: asIfUnused },
  { name: "login", path: "/login?out=1" },
  card("refund", "refund"),
  card("diff", "deploy"),
  card("quorum", "migration"),
  card("letter", "letter"),
  card("irreversible", "deletion"),
  card("stages", "invoice"),
  card("intent", "intent"),
  card("checkpoint", "checkpoint"),
  card("question", "asked"),
  card("decided", "decided"),
  card("modify", "refund", press("Modify")),
  card("reject", "checkpoint", press("Reject")),
  card("confirm", "deletion", press("Approve")),
  { name: "card-not-there", path: `/approvals/${NOBODY}` },
  { name: "action", path: (world) => `/actions/${world.action}` },
  { name: "workflows", path: "/workflows" },
  flow("awaiting", "awaiting"),
  flow("completed", "completed"),
  flow("going-back", "goingBack"),
  flow("failed", "failed"),
  flow("executing", "executing"),
  flow("initialized", "initialized"),
  { name: "workflow-checkpoints", path: ({ awaiting }) => `/workflows/${awaiting}?tab=checkpoints` },
  ...["jobs", "values", "journal"].map((id) => ({
    ...{ name: `workflow-${id}`, path: ({ completed }: World) => `/workflows/${completed}?tab=${id}` },
  })),
  {
    ...{ name: "workflow-effects", path: ({ completed }) => `/workflows/${completed}?tab=effects` },
    act: openFirst("main details"),
  },
  { name: "in-doubt", path: "/in-doubt" },
  { name: "policies", path: "/policies" },
  { name: "policies-explain", path: "/policies", act: tab("Explain") },
  { name: "policies-backtest", path: "/policies", act: tab("Back-test") },
  { name: "policies-changed", path: "/policies?tab=backtest", act: tryAll },
  { name: "policies-suggestions", path: "/policies", act: tab("Suggestions") },
  { name: "policies-grants", path: "/policies", act: tab("Standing grants") },
  { name: "agents", path: "/agents" },
  { name: "agents-people", path: "/agents", act: tab("People") },
  { name: "activity", path: "/activity" },
  { name: "activity-tables", path: "/activity", act: openTables },
  { name: "nodes", path: "/nodes" },
  { name: "kill-switch", path: "/kill-switch" },
  { name: "settings", path: "/settings" },
  ...tabs("settings", "/settings", ["endpoints", "alerts", "budgets", "tenants", "server"]),
  { name: "more", path: "/more" },
];

/** What is asked for has come, and letters are drawn in their own type. */
export async function settled(page: Page): Promise<void> {
  await page.locator("main").waitFor();
  await page.getByRole("status", { name: "Loading" }).first().waitFor({ state: "detached" });
  await page.locator("[data-decide] [aria-disabled]").waitFor({ state: "detached" });
  await page.evaluate("document.fonts.ready.then(() => undefined)");
}

/** Opens it and waits until it stands. */
export async function look(
  page: Page,
  { url, world }: { url: string; world: World },
  one: Look,
): Promise<void> {
  const { path, act } = one;
  await page.unrouteAll();
  await page.goto(`${url}${typeof path === "string" ? path : path(world)}`);
  await settled(page);
  if (act === undefined) return;
  await act(page);
  await settled(page);
}

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
  card("refund", "refund"),
  card("diff", "deploy"),
  card("quorum", "migration"),
  card("letter", "letter"),
  card("irreversible", "deletion"),
  card("stages", "invoice"),
  card("intent", "intent"),
  card("checkpoint", "checkpoint"),
  card("question", "asked"),
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
  { name: "in-doubt", path: "/in-doubt" },
  { name: "policies", path: "/policies" },
  { name: "policies-explain", path: "/policies", act: tab("Explain") },
  { name: "policies-backtest", path: "/policies", act: tab("Back-test") },
  { name: "policies-suggestions", path: "/policies", act: tab("Suggestions") },
  { name: "policies-grants", path: "/policies", act: tab("Standing grants") },
  { name: "agents", path: "/agents" },
  { name: "activity", path: "/activity" },
  { name: "nodes", path: "/nodes" },
  { name: "kill-switch", path: "/kill-switch" },
  { name: "settings", path: "/settings" },
  { name: "more", path: "/more" },
];

/** What is asked for has come, and letters are drawn in their own type. */
export async function settled(page: Page): Promise<void> {
  await page.locator("main").waitFor();
  await page.getByRole("status", { name: "Loading" }).first().waitFor({ state: "detached" });
  await page.evaluate("document.fonts.ready.then(() => undefined)");
}

/** Opens it and waits until it stands. */
export async function look(
  page: Page,
  { url, world }: { url: string; world: World },
  one: Look,
): Promise<void> {
  const { path, act } = one;
  await page.goto(`${url}${typeof path === "string" ? path : path(world)}`);
  await settled(page);
  if (act === undefined) return;
  await act(page);
  await settled(page);
}

/** What is looked after in the settings: budgets, and where the outside is told what happens. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { admin } from "../../src/admin.ts";
import { endOf, openDesk, ROOT, sharedBrowser } from "./desk.ts";
import { openShop } from "./shop.ts";

const browser = sharedBrowser(endOf({ after }));

test("budgets are listed with what they have come to; an admin opens one and gives another limit", async (t) => {
  const desk = await openDesk(t, { browser, define: openShop().define });
  const { page, open } = await desk.visit(ROOT);
  await open("/settings?tab=budgets");
  await page.getByText("No budget was opened yet").waitFor();
  await page.getByRole("button", { name: "Open a budget" }).click();
  const opening = page.getByRole("dialog", { name: "Open a budget" });
  await opening.getByLabel("Name").fill("refunds");
  await opening.getByLabel("Limit").fill("60");
  await opening.getByRole("button", { name: "Open the budget" }).click();
  await page.getByText("Limit 60.00 USD").waitFor();
  await page.getByText("0.00 USD spent, 0.00 USD reserved").waitFor();
  await page.getByRole("button", { name: "Change the limit of refunds" }).click();
  const changing = page.getByRole("dialog", { name: "Limit of refunds" });
  await changing.getByLabel("Limit in USD").fill("75.50");
  await changing.getByRole("button", { name: "Set the limit" }).click();
  await page.getByText("Limit 75.50 USD").waitFor();
  assert.equal((await desk.hp.budgets.get("refunds")).limit?.micros, 75_500_000n);
  // What others do arrives by itself.
  await desk.hp.budgets.limit("trips", { currency: "EUR", micros: 9_000_000n });
  await page.getByText("Limit 9.00 EUR").waitFor();
});

test("an endpoint is changed: what was not touched stays, and what the server refuses is said", async (t) => {
  const desk = await openDesk(t, { browser, define: openShop().define });
  const { page, open, faults } = await desk.visit(ROOT);
  faults.expect(/4\d\d/);
  const { id } = await admin(desk.hp).endpoints.add({
    ...{ url: "https://hooks.example/a", name: "on-call", events: ["approval.*"], by: ROOT },
  });
  await open("/settings?tab=endpoints");
  await page.getByRole("button", { name: "Change" }).click();
  await page.getByRole("dialog", { name: "Change on-call" }).waitFor();
  const dialog = page.getByRole("dialog");
  const submit = dialog.getByRole("button", { name: "Change" });
  assert.equal(await dialog.getByLabel("Address").inputValue(), "https://hooks.example/a");
  assert.ok(await submit.isDisabled(), "nothing is different yet");
  await dialog.getByLabel("Events").fill("alert.*, approval.requested");
  await admin(desk.hp).endpoints.change(id, { name: "night shift", by: ROOT });
  await dialog.getByLabel("Whose it is").fill("nobody");
  await submit.click();
  await dialog.getByRole("alert").getByText("owns nothing").waitFor();
  await dialog.getByLabel("Whose it is").fill("person:ann");
  await submit.click();
  await page.getByText("Changed; it counts at once.").waitFor();
  const { name, events, owner, target } = await admin(desk.hp).endpoints.get(id);
  assert.deepEqual(
    [name, events, owner, target],
    [
      ...["night shift", ["alert.*", "approval.requested"], "person:ann"],
      { kind: "webhook", url: "https://hooks.example/a" },
    ],
  );
});

test("keys and people are looked after: what is shown once can be copied, or is said not to be, and what wants a reason", async (t) => {
  const desk = await openDesk(t, { browser, define: openShop().define });
  await desk.agent("refunds");
  await desk.link("person:ben");
  const { page, open } = await desk.visit(ROOT);
  await page.addInitScript('Object.defineProperty(navigator, "clipboard", { value: undefined })');
  await open("/agents");
  await page.getByRole("button", { name: "Rotate" }).click();
  const rotating = page.getByRole("dialog", { name: "Rotate refunds" });
  await rotating.getByRole("button", { name: "Make the new key" }).click();
  assert.match(await rotating.getByLabel("The new key").inputValue(), /^hpk_/);
  // As on plain http of another machine, and then in a browser that allows nothing.
  await rotating.getByRole("button", { name: "Copy" }).click();
  await rotating.getByText("Copied.").waitFor();
  await page.evaluate("document.execCommand = () => false");
  await rotating.getByRole("button", { name: "Copy" }).click();
  await rotating.getByText("The browser does not let this page copy").waitFor();
  await rotating.getByRole("button", { name: "I have it" }).click();
  await open("/agents?tab=people");
  const row = page.getByRole("listitem").filter({ hasText: "person:ben" });
  await row.getByRole("button", { name: "Suspend" }).click();
  const suspending = page.getByRole("dialog", { name: "Suspend ben" });
  const suspend = suspending.getByRole("button", { name: "Suspend" });
  assert.ok(await suspend.isDisabled(), "a reason is wanted");
  await suspending.getByLabel("Reason").fill("on leave");
  await suspend.click();
  await row.getByText("suspended").waitFor();
  await row.getByRole("button", { name: "Reinstate" }).click();
  await page.getByRole("button", { name: "Leave it" }).click();
  assert.equal((await admin(desk.hp).people.get("person:ben")).suspended, true);
});

test("whatever is stopped stands on the kill switch's page and on the first one, also an agent that nobody knows here", async (t) => {
  const desk = await openDesk(t, { browser, define: openShop().define });
  const { page, open } = await desk.visit(ROOT);
  await open("/kill-switch");
  const panel = page.getByRole("region", { name: "Agents, services and workflows" });
  await panel.getByText("none is stopped").waitFor();
  await desk.hp.pause({ agent: "zebra", by: ROOT, reason: "it runs in circles" });
  await panel.getByText("1 stopped").waitFor();
  const row = panel.getByRole("listitem").filter({ hasText: "agent:zebra" });
  await row.getByText("it runs in circles").waitFor();
  await open("/");
  await page.getByRole("link", { name: "1 agent or workflow is stopped" }).click();
  await row.getByRole("button", { name: "Release" }).click();
  const releasing = page.getByRole("dialog", { name: "Release" });
  await releasing.getByLabel("Reason").fill("it was mended");
  await releasing.getByRole("button", { name: "Release" }).click();
  await panel.getByText("none is stopped").waitFor();
});

test("whoever cannot end all their sessions is told so", async (t) => {
  const desk = await openDesk(t, { browser });
  const { page, open, faults } = await desk.visit(ROOT);
  faults.expect(/ERR_FAILED|api\/sessions/);
  await open("/settings");
  await page.route("**/api/sessions", (route) =>
    route.request().method() === "DELETE" ? route.abort() : route.continue(),
  );
  await page.getByRole("button", { name: "End all, this one too" }).click();
  await page.getByRole("region", { name: "Your sessions" }).getByRole("alert").waitFor();
});

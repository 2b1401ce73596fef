/** What cannot be drawn takes nothing else down with it, and says what to do. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { endOf, openDesk, ROOT, sharedBrowser } from "./desk.ts";
import { askRefund, openShop } from "./shop.ts";

const browser = sharedBrowser(endOf({ after }));

/** As browsers translate a page: what stands there is put into elements of their own, behind the back of whoever drew it. */
const translate = (page: Page): Promise<unknown> =>
  page.evaluate(`for (const mark of document.querySelectorAll("main mark")) {
    const font = document.createElement("font");
    mark.replaceWith(font);
    font.append(mark);
  }`);

test("a value that a translated page cannot draw any more says so; the rest lives, and its exact JSON is at hand", async (t) => {
  const desk = await openDesk(t, { browser, define: openShop().define });
  const args = { order: "A-7", letter: `${"Dear Ann, ".repeat(300)}\u202eyours` };
  const asked = await desk.hp.remote.propose({ tool: "mail.send", args, agent: "agent:far" });
  const { page, open, faults } = await desk.visit("person:ann");
  faults.expect(/NotFoundError/);
  await open(`/actions/${asked.action}`);
  await page.getByRole("button", { name: /characters more: show all/ }).click();
  await page.locator("main mark").waitFor();
  await translate(page);
  await page.getByRole("button", { name: "Fold again" }).click();
  const part = page.getByRole("alert");
  await part.getByText("This part could not be shown: look at the exact JSON.").waitFor();
  await page.getByRole("heading", { name: "Arguments" }).waitFor();
  await part.getByRole("button", { name: "Show it" }).click();
  const exact = page.getByLabel("What could not be shown, exact JSON");
  assert.match((await exact.textContent()) ?? "", /"order": "A-7"/);
  await page.getByRole("link", { name: "Approvals" }).first().click();
  await page.getByRole("heading", { name: "Approvals" }).waitFor();
});

test("a page that gets an answer of a wrong shape says so; the frame and the other pages live, and it is tried again", async (t) => {
  const desk = await openDesk(t, { browser, define: openShop().define });
  await desk.hp.budgets.limit("refunds", { currency: "USD", micros: 60_000_000n });
  await askRefund(await desk.agent("refunds"));
  const { page, open, faults } = await desk.visit(ROOT);
  faults.expect(/TypeError|Cannot read/);
  await page.route("**/api/budgets*", (route) => route.fulfill({ json: { budgets: [{ name: "refunds" }] } }));
  await open("/settings?tab=budgets");
  const failure = page.getByRole("alert");
  await failure.getByText("Load the page again; if it stays, look at the server's log.").waitFor();
  await page.getByRole("link", { name: "Approvals" }).first().click();
  await page.getByRole("link", { name: /shop\.refund/ }).waitFor();
  await page.goBack();
  await failure.waitFor();
  await page.unroute("**/api/budgets*");
  await failure.getByRole("button", { name: "Try again" }).click();
  await page.getByText("Limit 60.00 USD").waitFor();
});

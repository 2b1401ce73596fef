/** What is seen before the desk's script runs, and when it never does. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { endOf, openDesk, sharedBrowser } from "./desk.ts";
import { openShop } from "./shop.ts";

const browser = sharedBrowser(endOf({ after }));
const WHAT_TO_DO = "An approval can be read without scripts";

test("while scripts are on their way it says so; when they do not come, what to do", async (t) => {
  const desk = await openDesk(t, { browser, define: openShop().define });
  const { page, faults } = await desk.visit("person:ann");
  faults.expect(/ERR_FAILED|assets\/.*\.js/);
  await page.route("**/assets/*.js", (route) => route.abort());
  await page.goto(`${desk.url}/approvals`);
  await page.getByRole("status").getByText("Loading").waitFor();
  const words = [page.getByText("The desk has not come yet"), page.getByText(WHAT_TO_DO)];
  for (const word of words) assert.equal(await word.isVisible(), false);
  await page.evaluate("for (const one of document.getAnimations()) one.finish()");
  for (const word of words) await word.waitFor();

  await page.unroute("**/assets/*.js");
  await page.reload();
  await page.getByRole("heading", { name: "Approvals" }).waitFor();
  assert.equal(await page.getByText(WHAT_TO_DO).count(), 0);
});

test("a browser without scripts is told at once, and not that anything loads", async (t) => {
  const desk = await openDesk(t, { browser });
  const context = await (await browser()).newContext({ javaScriptEnabled: false });
  t.after(() => context.close());
  const page = await context.newPage();
  await page.goto(`${desk.url}/approvals`);
  await page.locator("noscript p").waitFor();
  await page.getByText(WHAT_TO_DO).waitFor();
  assert.equal(await page.getByText("Loading").isVisible(), false);
});

test("an address where nothing is says so, with the way back", async (t) => {
  const desk = await openDesk(t, { browser, define: openShop().define });
  const { page, faults, open } = await desk.visit("person:ann");
  faults.expect(/404/);
  await open("/nope");
  await page.getByText("There is no such page").waitFor();
  await page.getByRole("link", { name: "Go to what waits today" }).click();
  await page.waitForURL(`${desk.url}/`);
  await page.goto(`${desk.url}/approvals/`);
  await page.getByRole("heading", { name: "Approvals" }).waitFor();
});

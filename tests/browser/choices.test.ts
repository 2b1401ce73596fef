/** One of a few is chosen: it is marked, for eyes and for readers. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { endOf, openDesk, sharedBrowser } from "./desk.ts";
import { openShop } from "./shop.ts";

const browser = sharedBrowser(endOf({ after }));

type Seen = { readonly text: string; readonly look: string };

/** Which one of a group looks otherwise than all others. */
async function markedIn(page: Page, selector: string): Promise<string | undefined> {
  const seen =
    (await page.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})].map((element) => {
    const { backgroundColor, color, borderTopColor, fontWeight } = getComputedStyle(element);
    const look = [backgroundColor, color, borderTopColor, fontWeight].join(" ");
    return { text: element.textContent, look };
  })`)) as readonly Seen[];
  return seen.find(({ look }) => seen.filter((other) => other.look === look).length === 1)?.text;
}

test("the days that activity is shown of are marked, before and after another choice", async (t) => {
  const desk = await openDesk(t, { browser, define: openShop().define });
  const { page, open } = await desk.visit("person:ann");
  await open("/activity");
  const choice = page.getByRole("group", { name: "Over how many days" });
  await choice.getByRole("radio", { name: "30 days", checked: true }).waitFor();
  assert.equal(await markedIn(page, "fieldset label"), "30 days");
  await choice.getByText("7 days").click();
  await choice.getByRole("radio", { name: "7 days", checked: true }).waitFor();
  await page.waitForURL(/days=/);
  assert.equal(await markedIn(page, "fieldset label"), "7 days");
});

test("the state that workflows are listed by is marked, before and after another choice", async (t) => {
  const desk = await openDesk(t, { browser, define: openShop().define });
  const { page, open } = await desk.visit("person:ann");
  await open("/workflows");
  const links = page.getByRole("navigation", { name: "By status" }).getByRole("link");
  await links.first().waitFor();
  assert.match((await markedIn(page, 'nav[aria-label="By status"] a')) ?? "", /^all/);
  await links.filter({ hasText: "failed" }).click();
  await page.waitForURL(/status=failed/);
  await page.mouse.move(0, 0);
  assert.match((await markedIn(page, 'nav[aria-label="By status"] a')) ?? "", /^failed/);
});

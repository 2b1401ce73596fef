/** A text of a million characters that cannot be seen: it is told in a few words, and the page goes on. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { endOf, openDesk, sharedBrowser } from "./desk.ts";
import { openShop } from "./shop.ts";

const browser = sharedBrowser(endOf({ after }));
const MILLION = 1_000_000;

test("a million hidden characters are counted where they are alike, said where they are left out, and freeze nothing", async (t) => {
  const desk = await openDesk(t, { browser, define: openShop().define });
  const args = {
    alike: `pay${"\u200b".repeat(MILLION)}`,
    between: "a\u200b".repeat(MILLION / 4),
    mixed: "\u200b\u200c".repeat(MILLION / 4),
  };
  const asked = await desk.hp.outside.propose({ tool: "stranger.act", args, agent: "agent:far" });
  const { page, open } = await desk.visit("person:ann");
  await open(`/actions/${asked.action}`);
  const unfold = page.getByRole("button", { name: /characters more: show all/ });
  await unfold.first().waitFor();
  assert.equal(await unfold.count(), 3);
  for (let left = 3; left > 0; left--) await unfold.first().click();
  await page.getByText("\\u200b × 1,000,000").waitFor();
  await page.getByText("… and 499,900 more, left out here").waitFor();
  await page.getByText("249,000 more that cannot be seen follow, written out and not marked:").waitFor();
  assert.ok((await page.locator("mark").count()) < 1_100);
  await page.getByRole("link", { name: "Approvals" }).first().click();
  await page.getByRole("heading", { name: "Approvals" }).waitFor();
});

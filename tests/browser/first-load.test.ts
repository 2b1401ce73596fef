/** What somebody waits for who opens the desk for the first time, far from a good network. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { endOf, openDesk, sharedBrowser } from "./desk.ts";
import { firstLoad } from "./first-load.ts";
import { settled } from "./pages.ts";
import { askRefund, openShop } from "./shop.ts";

const browser = sharedBrowser(endOf({ after }));
const MOST_BYTES = 200_000;

test("the first load of the main pages, fonts included, is under 200 KB compressed", async (t) => {
  const desk = await openDesk(t, { browser, define: openShop().define });
  const { approval } = await askRefund(await desk.agent("refunds"));
  const { page } = await desk.visit("person:ann");
  for (const path of ["/", "/approvals", `/approvals/${approval}`, "/workflows"]) {
    const { ownBytes, largest } = await firstLoad(page, `${desk.url}${path}`, () => settled(page));
    t.diagnostic(`${path}: ${(ownBytes / 1_000).toFixed(1)} KB`);
    assert.ok(ownBytes > 50_000, "it was not taken from a cache");
    assert.ok(ownBytes < MOST_BYTES, `${path} transfers ${ownBytes} bytes:\n${largest.join("\n")}`);
  }
});

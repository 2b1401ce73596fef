/** What somebody waits for who opens the desk for the first time, far from a good network. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { endOf, openDesk, ROOT, sharedBrowser } from "./desk.ts";
import { firstLoad } from "./first-load.ts";
import { settled } from "./pages.ts";
import { askRefund, openShop } from "./shop.ts";

const browser = sharedBrowser(endOf({ after }));
const MOST_BYTES = 200_000;
const MOST_FILES = 12;
const PAGES = ["", "approvals", "workflows", "in-doubt", "policies", "agents", "activity", "nodes"];
const MORE_PAGES = ["kill-switch", "settings", "more"];

test("the first load of every page, fonts included, is under 200 KB compressed and takes a dozen files", async (t) => {
  const desk = await openDesk(t, { browser, define: openShop().define });
  const { approval, action } = await askRefund(await desk.agent("refunds"));
  const workflow = await desk.hp.workflows.start("trip", { hotel: "Grand" });
  const single = [`approvals/${approval}`, `actions/${action}`, `workflows/${workflow.id}`];
  const { page } = await desk.visit(ROOT);
  // What the page after the login still loads is none of the first one's.
  await settled(page);
  for (const path of [...PAGES, ...MORE_PAGES, ...single]) {
    const { ownBytes, files, largest } = await firstLoad(page, `${desk.url}/${path}`, () => settled(page));
    t.diagnostic(`/${path}: ${(ownBytes / 1_000).toFixed(1)} KB in ${files} files`);
    assert.ok(ownBytes > 50_000, "it was not taken from a cache");
    assert.ok(ownBytes < MOST_BYTES, `/${path} transfers ${ownBytes} bytes:\n${largest.join("\n")}`);
    assert.ok(files <= MOST_FILES, `/${path} asks for ${files} files:\n${largest.join("\n")}`);
  }
});

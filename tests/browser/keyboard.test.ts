/** Without a mouse, and with nothing but a thumb. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { endOf, openDesk, sharedBrowser } from "./desk.ts";
import { askRefund, openShop } from "./shop.ts";
import { PHONE } from "./visit.ts";

const browser = sharedBrowser(endOf({ after }));

describe("with the keyboard alone", () => {
  test("one goes from the inbox to a decision, and from there to the next", async (t) => {
    const desk = await openDesk(t, { browser, define: openShop().define });
    const agent = await desk.agent("refunds");
    const first = await askRefund(agent, 51);
    const second = await askRefund(agent, 52);
    const { page, open } = await desk.visit("person:ann");
    await open("/approvals");
    await page
      .getByRole("link", { name: /shop\.refund/ })
      .nth(1)
      .waitFor();
    // A box to tick is no place to type in.
    await page
      .getByRole("checkbox", { name: /^Select/ })
      .first()
      .focus();
    for (const key of ["g", "w"]) await page.keyboard.press(key);
    await page.waitForURL("**/workflows");
    await open("/approvals");
    await page
      .getByRole("link", { name: /shop\.refund/ })
      .nth(1)
      .waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/approvals/${first.approval}`);
    await page.getByRole("button", { name: "Approve", disabled: false }).waitFor();
    await page.keyboard.press("a");
    await page.keyboard.press("Enter");
    await page.getByText("Approved by ann.").waitFor();
    await page.keyboard.press("n");
    await page.waitForURL(`**/approvals/${second.approval}`);
    await page.getByRole("button", { name: "Reject" }).waitFor();
    await page.keyboard.press("r");
    await page.getByRole("dialog", { name: "Reject" }).waitFor();
    await page.keyboard.type("no photo");
    for (const key of ["Tab", "Tab", "Enter"]) await page.keyboard.press(key);
    await page.getByText("Rejected by ann.").first().waitFor();
    assert.equal((await desk.hp.approvals.get(first.approval)).status, "approved");
    assert.equal((await desk.hp.approvals.get(second.approval)).status, "rejected");
  });
});

describe("from a card", () => {
  test("one goes on, and back, in the list as it was looked at; what is typed with a blank at its end stays", async (t) => {
    const desk = await openDesk(t, { browser, define: openShop().define });
    const agent = await desk.agent("refunds");
    const first = await askRefund(agent, 41, "one");
    await agent.actions.propose({ tool: "shop.look", args: {} });
    const last = await askRefund(agent, 42, "two");
    const { page, open } = await desk.visit("person:ann");
    await open("/approvals?tab=waiting&order=newest");
    const box = page.getByRole("searchbox", { name: "Search" });
    await box.pressSequentially("money ");
    await page.waitForURL("**/approvals?*q=money*");
    await box.pressSequentially("leaves");
    await page.waitForURL(/q=money(\+|%20)leaves/);
    assert.equal(await box.inputValue(), "money leaves");
    const rows = page.getByRole("link", { name: /shop\.refund/ });
    await rows.nth(1).waitFor();
    await rows.first().click();
    await page.waitForURL(`**/approvals/${last.approval}`);
    await page.getByRole("button", { name: "Next approval" }).and(page.locator(":enabled")).first().waitFor();
    await page.keyboard.press("j");
    await page.waitForURL(`**/approvals/${first.approval}`);
    await page.locator("main").getByRole("link", { name: "Approvals", exact: true }).click();
    await page.waitForURL(/tab=waiting/);
    assert.equal(await box.inputValue(), "money leaves");
  });
});

describe("after a decision", () => {
  test("nothing is said to wait only where that is known", async (t) => {
    const desk = await openDesk(t, { browser, define: openShop().define });
    const { approval } = await askRefund(await desk.agent("refunds"));
    const { page, open, faults } = await desk.visit("person:ann");
    faults.expect(/ERR_FAILED/);
    await page.route("**/api/approvals?*mine=true*", (route) => route.abort());
    await open(`/approvals/${approval}`);
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByText("Approved by ann.").waitFor();
    await page.getByRole("link", { name: "See what else waits" }).waitFor();
    assert.equal(await page.getByText("Nothing else waits for you").count(), 0);
  });
});

describe("on a phone", () => {
  test("one decides with taps, on buttons that a thumb can hit", async (t) => {
    const desk = await openDesk(t, { browser, define: openShop().define });
    const { approval } = await askRefund(await desk.agent("refunds"));
    const { page, open } = await desk.visit("person:ann", { size: PHONE, touch: true });
    await open("/approvals");
    await page.getByRole("link", { name: /shop\.refund/ }).tap();
    for (const name of ["Approve", "Modify", "Reject"]) {
      const box = await page.getByRole("button", { name, exact: true }).boundingBox();
      assert.ok(box !== null && box.height >= 44 && box.width >= 44, `${name}: ${JSON.stringify(box)}`);
      assert.ok(box.y + box.height <= PHONE.height, `${name} is in sight without scrolling`);
    }
    await page.getByRole("button", { name: "Approve" }).tap();
    await page.getByText("Approved by ann.").waitFor();
    const on = await page.getByRole("link", { name: "Nothing else waits for you" }).boundingBox();
    assert.ok(on !== null && on.y > PHONE.height / 2 && on.y + on.height <= PHONE.height, JSON.stringify(on));
    assert.equal((await desk.hp.approvals.get(approval)).status, "approved");
  });
});

describe("a chart on a phone", () => {
  test("keeps telling of the day that was tapped when the finger is lifted", async (t) => {
    const desk = await openDesk(t, { browser, define: openShop().define });
    await askRefund(await desk.agent("refunds"));
    const { page, open } = await desk.visit("person:ann", { size: PHONE, touch: true });
    await open("/activity");
    const chart = page.getByRole("slider").first();
    assert.match(String(await chart.getAttribute("aria-valuetext")), /^all \d+ days/);
    await chart.tap();
    assert.doesNotMatch(String(await chart.getAttribute("aria-valuetext")), /^all/);
  });
});

describe("what was just done, told on a phone", () => {
  test("lies on no button that decides, and goes when it is tapped", async (t) => {
    const desk = await openDesk(t, { browser, define: openShop().define });
    const { approval } = await askRefund(await desk.agent("refunds"));
    const { page, open } = await desk.visit("person:ann", { size: PHONE, touch: true });
    await open(`/approvals/${approval}`);
    await page.getByRole("button", { name: "More to do with it" }).filter({ visible: true }).tap();
    await page.getByRole("button", { name: "Give more time" }).tap();
    await page.getByRole("dialog").getByRole("button", { name: "Give more time" }).tap();
    const told = page.getByRole("button", { name: "There is more time." });
    const box = await told.boundingBox();
    assert.ok(box !== null && box.y + box.height < PHONE.height / 2, JSON.stringify(box));
    await told.tap();
    await told.waitFor({ state: "detached" });
    assert.equal((await desk.hp.approvals.get(approval)).status, "pending");
  });
});

describe("the theme", () => {
  test("follows the system, and then what was chosen in the settings, also after a reload", async (t) => {
    const desk = await openDesk(t, { browser });
    const { page, open } = await desk.visit("person:ann", { theme: "dark" });
    await open("/settings");
    await page.locator('html[data-theme="dark"]').waitFor();
    await page.getByText("Light", { exact: true }).click();
    await page.locator('html[data-theme="light"]').waitFor();
    await page.reload();
    await page.locator('html[data-theme="light"]').waitFor();
  });
});

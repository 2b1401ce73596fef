/** The list that people keep open: what comes appears by itself, and however much waits, it stays quick. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { endOf, openDesk, sharedBrowser } from "./desk.ts";
import { fillInbox } from "./many.ts";
import { askRefund, openShop } from "./shop.ts";

const browser = sharedBrowser(endOf({ after }));

describe("the inbox", () => {
  test("shows an approval that arrives while it is open, and says that nothing waits before", async (t) => {
    const desk = await openDesk(t, { browser, define: openShop().define });
    const agent = await desk.agent("refunds");
    const { page, open } = await desk.visit("person:ann");
    await open("/approvals?tab=waiting");
    await page.getByText(/Nothing waits|Nobody has asked for anything yet/).waitFor();
    const asked = performance.now();
    await askRefund(agent);
    await page.getByRole("link", { name: /shop\.refund/ }).waitFor();
    t.diagnostic(`visible after ${Math.round(performance.now() - asked)} ms`);
  });

  test("of 10,000 approvals holds only those in sight, and can be scrolled to its end", async (t) => {
    const desk = await openDesk(t, { browser });
    await fillInbox(desk.hp, 10_000);
    const { page, open } = await desk.visit("person:ann");
    await open("/approvals?tab=waiting");
    const rows = page.locator("[data-row]");
    await rows.first().waitFor();
    await page.getByText("10,000").first().waitFor();
    let most = 0;
    const isEnd = page.getByText("order-9999", { exact: false });
    for (let scrolls = 0; scrolls < 400 && (await isEnd.count()) === 0; scrolls++) {
      most = Math.max(most, await rows.count());
      await page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)");
      await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    }
    await isEnd.first().waitFor();
    assert.ok(most < 200, `${most} rows were there at once`);
  });

  test("tells of what came below what is in sight, and shows it; of all that is loaded only the first page is asked for again", async (t) => {
    const desk = await openDesk(t, { browser, define: openShop().define });
    await fillInbox(desk.hp, 600);
    const agent = await desk.agent("refunds");
    const { page, open } = await desk.visit("person:ann");
    await open("/approvals?tab=waiting");
    await page.locator("[data-row]").first().waitFor();
    const isDeep = page.getByText("order-599", { exact: false });
    for (let scrolls = 0; scrolls < 100 && (await isDeep.count()) === 0; scrolls++) {
      await page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)");
      await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    }
    await page.evaluate("window.scrollTo(0, 0)");
    await page.getByText("order-0", { exact: false }).first().waitFor();
    let pages = 0;
    page.on("request", (request) => {
      if (/api\/approvals\?.*cursor=/.test(request.url())) pages += 1;
    });
    await askRefund(agent);
    await page.getByRole("button", { name: "1 new, show it" }).click();
    await page.getByRole("link", { name: /shop\.refund/ }).waitFor();
    assert.equal(pages, 0);
  });
});

describe("a row that leaves the inbox", () => {
  test("takes the focus of nobody who writes elsewhere, and scrolls nothing", async (t) => {
    const desk = await openDesk(t, { browser, define: openShop().define });
    await fillInbox(desk.hp, 40);
    const { page, open } = await desk.visit("person:ann");
    await open("/approvals?tab=waiting");
    const first = page.locator("[data-row] a").first();
    await first.waitFor();
    await page.keyboard.press("j");
    await page.locator("[data-row] a:focus").waitFor();
    const id = (await page.locator("[data-row]").first().getAttribute("data-row")) ?? "";
    await page.getByRole("searchbox", { name: "Search" }).focus();
    await page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)");
    await desk.hp.approvals.reject(id, { by: "person:ann", reason: "no" });
    await page.getByRole("list", { name: "39 approvals" }).waitFor();
    await page.evaluate("new Promise((done) => setTimeout(() => requestAnimationFrame(done), 100))");
    assert.ok(Number(await page.evaluate("window.scrollY")) > 500);
    assert.equal(await page.evaluate("document.activeElement.type"), "search");
  });
});

describe("what was decided", () => {
  test("stands by its decision, in the inbox and on Today, however long ago it was asked", async (t) => {
    const desk = await openDesk(t, { browser, define: openShop().define });
    const { approval } = await askRefund(await desk.agent("refunds"));
    await fillInbox(desk.hp, 210);
    const { page, open } = await desk.visit("person:ann");
    const reject = (id: string) => desk.hp.approvals.reject(id, { by: "person:ann", reason: "no" });
    const { items } = await desk.hp.approvals.list({ limit: 300 });
    await Promise.all(items.filter(({ id }) => id !== approval).map(({ id }) => reject(id)));
    await reject(approval);
    await open("/approvals?tab=decided");
    await page.locator("[data-row]").first().getByText("shop.refund").waitFor();
    await open("/");
    const lately = page.getByRole("region", { name: "Decided lately" });
    await lately.getByRole("link").first().getByText("shop.refund").waitFor();
  });
});

describe("the clock of whoever looks is wrong", () => {
  for (const [word, hours] of [
    ["ahead", 2],
    ["behind", -2],
  ] as const)
    test(`two hours ${word}, it says the time that is really left, and when something was asked`, async (t) => {
      const desk = await openDesk(t, { browser, define: openShop().define });
      const { approval } = await askRefund(await desk.agent("refunds"));
      const { page, open } = await desk.visit("person:ann", { now: Date.now() + hours * 3_600_000 });
      await open(`/approvals/${approval}`);
      await page.getByText(/^(59:\d\d|1:00:00)$/).waitFor();
      assert.equal(await page.getByText("its time is over").count(), 0);
      await open("/approvals?tab=waiting");
      const row = page.getByRole("link", { name: /shop\.refund/ });
      await row.getByText(/^59 min left$|^1 h left$/).waitFor();
      await row.getByText(/^now$|^\d+ s ago$/).waitFor();
    });
});

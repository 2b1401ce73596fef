/** The desk open in many tabs of one browser, which has six connections to a server and no more. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { type Desk, endOf, openDesk, sharedBrowser } from "./desk.ts";
import { askRefund, openShop } from "./shop.ts";
import { isLive, logInBy, type Visit } from "./visit.ts";

const browser = sharedBrowser(endOf({ after }));
const TABS = 7;
const WITHIN_MS = 1_000;

/** Pages of one browser, and how often each of them has asked for the stream. */
type Tab = { readonly page: Page; readonly streams: () => number };

async function openTabs(desk: Desk, { context }: Visit, count: number): Promise<readonly Tab[]> {
  const tabs: Tab[] = [];
  for (let index = 0; index < count; index++) {
    const page = await context.newPage();
    let streams = 0;
    page.on("request", (request) => {
      if (request.url().includes("/api/events")) streams += 1;
    });
    await page.goto(`${desk.url}/approvals?tab=waiting`);
    await isLive(page);
    tabs.push({ page, streams: () => streams });
  }
  return tabs;
}

const rows = ({ page }: Tab) => page.getByRole("link", { name: /shop\.refund/ });
const streamsOf = (tabs: readonly Tab[]) => tabs.map(({ streams }) => streams()).reduce((a, b) => a + b, 0);
/** What a press of a button would do: a request, and its answer. */
const answers = ({ page }: Tab): Promise<number> =>
  page.evaluate('fetch("/api/kill-switch").then(({ status }) => status)');

/** Somebody with an approval that arrived while they had as many tabs open. */
async function arrived(desk: Desk, tabs: readonly Tab[], count: number): Promise<number> {
  const agent = await desk.agent(`refunds-${count}`);
  const asked = performance.now();
  await askRefund(agent);
  await Promise.all(
    tabs.map((tab) =>
      rows(tab)
        .nth(count - 1)
        .waitFor(),
    ),
  );
  return performance.now() - asked;
}

describe("seven tabs of the desk in one browser", () => {
  test("all are live, see at once what arrives, and are answered; when the one with the stream is closed, another has it", async (t) => {
    const desk = await openDesk(t, { browser, define: openShop().define });
    const visit = await desk.visit("person:ann");
    await visit.page.close();
    const tabs = await openTabs(desk, visit, TABS);
    assert.equal(streamsOf(tabs), 1, "one stream for all of them");
    // The machine may be busy with something else once.
    const times = [await arrived(desk, tabs, 1), await arrived(desk, tabs, 2), await arrived(desk, tabs, 3)];
    t.diagnostic(`visible in ${TABS} tabs after ${times.map(Math.round).join(", ")} ms`);
    assert.ok(Math.min(...times) < WITHIN_MS, `visible after ${times.join(", ")} ms`);
    assert.deepEqual(
      await Promise.all(tabs.map(answers)),
      tabs.map(() => 200),
    );

    const [holder, ...others] = tabs;
    await holder?.page.close();
    // Nobody waits for the handover: what comes meanwhile is not lost.
    await arrived(desk, others, 4);
    await Promise.all(others.map(({ page }) => isLive(page)));
    assert.equal(streamsOf(others), 1, "one of them has the stream now");
  });

  test("a tab that stopped without a word is relieved, and comes back as one of the others", async (t) => {
    const desk = await openDesk(t, { browser, define: openShop().define });
    const visit = await desk.visit("person:ann");
    await visit.page.close();
    const tabs = await openTabs(desk, visit, 3);
    const [holder, ...others] = tabs;
    assert.ok(holder !== undefined && holder.streams() === 1);
    const devtools = await visit.context.newCDPSession(holder.page);
    await devtools.send("Debugger.enable");
    const paused = new Promise((resolve) => devtools.once("Debugger.paused", resolve));
    await devtools.send("Debugger.pause");
    await paused;
    await arrived(desk, others, 1);
    assert.equal(streamsOf(others), 1, "one of them took the stream");
    await devtools.send("Debugger.disable");
    await arrived(desk, tabs, 2);
    await isLive(holder.page);
    assert.equal(holder.streams(), 1, "it did not ask for another stream");
  });

  test("a tab that the browser puts to sleep hands the stream over before, and is live again when it wakes", async (t) => {
    const desk = await openDesk(t, { browser, define: openShop().define });
    const visit = await desk.visit("person:ann");
    await visit.page.close();
    const tabs = await openTabs(desk, visit, 2);
    const [holder, ...others] = tabs;
    assert.ok(holder !== undefined);
    const taken = others[0]?.page.waitForRequest(/api\/events/);
    await holder.page.evaluate('document.dispatchEvent(new Event("freeze"))');
    await taken;
    await arrived(desk, others, 1);
    await holder.page.evaluate('document.dispatchEvent(new Event("resume"))');
    await arrived(desk, tabs, 2);
    await isLive(holder.page);
    assert.equal(holder.streams(), 1);
  });

  test("none says that it is live while the stream is away", async (t) => {
    const desk = await openDesk(t, { browser, define: openShop().define });
    const visit = await desk.visit("person:ann");
    await visit.page.close();
    const tabs = await openTabs(desk, visit, 3);
    await desk.stop();
    const isLost = ({ page }: Tab) =>
      page.getByText("Reconnecting").filter({ visible: true }).first().waitFor();
    await Promise.all(tabs.map(isLost));
    await desk.start();
    await Promise.all(tabs.map(({ page }) => isLive(page)));
    await arrived(desk, tabs, 1);
    assert.equal(tabs.filter(({ streams }) => streams() > 0).length, 1);
  });

  test("without locks a tab that nobody sees has no stream, and asks for everything when it is seen again", async (t) => {
    const desk = await openDesk(t, { browser, define: openShop().define });
    const visit = await desk.visit("person:ann");
    await visit.page.close();
    // As on plain http of another machine.
    await visit.context.addInitScript('Object.defineProperty(Navigator.prototype, "locks", { get() {} })');
    const [tab] = await openTabs(desk, visit, 1);
    assert.ok(tab !== undefined);
    const show = (state: "hidden" | "visible") =>
      tab.page.evaluate(`
        for (const [name, value] of [["visibilityState", "${state}"], ["hidden", ${state === "hidden"}]])
          Object.defineProperty(document, name, { configurable: true, get: () => value });
        document.dispatchEvent(new Event("visibilitychange"));
      `);
    const gone = tab.page.waitForEvent("requestfailed", (request) => request.url().includes("/api/events"));
    await show("hidden");
    await gone;
    await askRefund(await desk.agent("refunds"));
    await show("visible");
    await rows(tab).first().waitFor();
    await isLive(tab.page);
    assert.equal(tab.streams(), 2);
  });
});

test("whoever logs in as somebody else in the same browser has a stream of their own", async (t) => {
  const desk = await openDesk(t, { browser, define: openShop().define });
  const visit = await desk.visit("person:ann");
  const page = await visit.context.newPage();
  await logInBy({ ...visit, page }, desk.url, await desk.link("person:ben"));
  await page.close();
  const [ben] = await openTabs(desk, visit, 1);
  assert.equal(ben?.streams(), 1);
  const held: readonly string[] = await visit.page.evaluate(
    "navigator.locks.query().then(({ held }) => held.map(({ name }) => name).toSorted())",
  );
  assert.deepEqual(
    held.map((name) => name.split(" ").slice(1).join(" ")),
    ["default person:ann", "default person:ben"],
  );
});

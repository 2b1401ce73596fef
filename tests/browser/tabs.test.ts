/** The desk open in many tabs of one browser, which has six connections to a server and no more. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import type { Page, Request } from "playwright-core";
import { until } from "../fixtures/until.ts";
import { type Desk, endOf, openDesk, sharedBrowser } from "./desk.ts";
import { askRefund, openShop } from "./shop.ts";
import { isLive, logInBy, type Visit } from "./visit.ts";

const browser = sharedBrowser(endOf({ after }));
const TABS = 7;

/** A page among others of one browser: how often it has asked for the stream, and how many of those it still has. */
type Tab = { readonly page: Page; readonly streams: () => number; readonly open: () => number };

function tabOf(page: Page): Tab {
  let streams = 0;
  let ended = 0;
  const isStream = (request: Request) => request.url().includes("/api/events");
  page.on("request", (request) => {
    if (isStream(request)) streams += 1;
  });
  for (const end of ["requestfailed", "requestfinished"] as const)
    page.on(end as "requestfailed", (request) => {
      if (isStream(request)) ended += 1;
    });
  return { page, streams: () => streams, open: () => streams - ended };
}

async function openTabs(desk: Desk, { context }: Visit, count: number): Promise<readonly Tab[]> {
  const tabs: Tab[] = [];
  for (let index = 0; index < count; index++) {
    const page = await context.newPage();
    tabs.push(tabOf(page));
    await page.goto(`${desk.url}/approvals?tab=waiting`);
    await isLive(page);
  }
  return tabs;
}

const rows = ({ page }: Tab) => page.getByRole("link", { name: /shop\.refund/ });
const isOneOpen = (tabs: readonly Tab[]) => tabs.map(({ open }) => open()).reduce((a, b) => a + b, 0) === 1;
/** A holder that is slow to answer, as on a busy machine, may be relieved for nothing: it comes to rest with one stream. */
const comeToOne = (tabs: readonly Tab[], what: string) =>
  until(() => (isOneOpen(tabs) ? true : undefined), what);
async function atRest(tabs: readonly Tab[]) {
  await comeToOne(tabs, "one stream for all of them");
  const holder = tabs.find(({ open }) => open() === 1) ?? assert.fail("none of them has the stream");
  return { holder, others: tabs.filter((tab) => tab !== holder) };
}
/** What a press of a button would do: a request, and its answer. */
const answers = ({ page }: Tab): Promise<number> =>
  page.evaluate('fetch("/api/kill-switch").then(({ status }) => status)');

/** Something was asked, for as many times, and all of the tabs show it. */
async function arrived(desk: Desk, tabs: readonly Tab[], count: number): Promise<void> {
  await askRefund(await desk.agent(`refunds-${count}`));
  await Promise.all(
    tabs.map((tab) =>
      rows(tab)
        .nth(count - 1)
        .waitFor(),
    ),
  );
}

describe("seven tabs of the desk in one browser", () => {
  test("all are live, see at once what arrives, and are answered; when the one with the stream is closed, another has it", async (t) => {
    const desk = await openDesk(t, { browser, define: openShop().define });
    const visit = await desk.visit("person:ann");
    await visit.page.close();
    const tabs = await openTabs(desk, visit, TABS);
    await comeToOne(tabs, "one stream for all of them");
    await arrived(desk, tabs, 1);
    assert.deepEqual(
      await Promise.all(tabs.map(answers)),
      tabs.map(() => 200),
    );

    const { holder, others } = await atRest(tabs);
    await holder.page.close();
    // Nobody waits for the handover: what comes meanwhile is not lost.
    await arrived(desk, others, 2);
    await Promise.all(others.map(({ page }) => isLive(page)));
    await comeToOne(others, "one of them has the stream now");
  });

  test("a tab that stopped without a word is relieved, and comes back as one of the others", async (t) => {
    const desk = await openDesk(t, { browser, define: openShop().define });
    const visit = await desk.visit("person:ann");
    await visit.page.close();
    const tabs = await openTabs(desk, visit, 3);
    const { holder, others } = await atRest(tabs);
    const devtools = await visit.context.newCDPSession(holder.page);
    await devtools.send("Debugger.enable");
    const paused = new Promise((resolve) => devtools.once("Debugger.paused", resolve));
    await devtools.send("Debugger.pause");
    await paused;
    await arrived(desk, others, 1);
    await comeToOne(others, "one of them took the stream");
    await devtools.send("Debugger.disable");
    await arrived(desk, tabs, 2);
    await isLive(holder.page);
    await comeToOne(tabs, "the one that came back has let go of its own");
  });

  test("a tab that the browser puts to sleep hands the stream over before, and is live again when it wakes", async (t) => {
    const desk = await openDesk(t, { browser, define: openShop().define });
    const visit = await desk.visit("person:ann");
    await visit.page.close();
    const tabs = await openTabs(desk, visit, 2);
    const { holder, others } = await atRest(tabs);
    const taken = others[0]?.page.waitForRequest(/api\/events/);
    await holder.page.evaluate('document.dispatchEvent(new Event("freeze"))');
    await taken;
    await arrived(desk, others, 1);
    await holder.page.evaluate('document.dispatchEvent(new Event("resume"))');
    await arrived(desk, tabs, 2);
    await isLive(holder.page);
    await comeToOne(tabs, "one stream for both of them");
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
    await comeToOne(tabs, "one stream for all of them again");
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

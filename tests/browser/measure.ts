/** Figures for people: what the first load costs, how soon pages stand, and how soon an approval that arrives is seen. */
import type { Browser, Page } from "playwright-core";
import { ARRIVALS, arrivals, arrivalsInSight } from "./arrivals.ts";
import { openDesk } from "./desk.ts";
import { firstLoad, type Load } from "./first-load.ts";
import { settled } from "./pages.ts";
import { askRefund, openShop } from "./shop.ts";
import { PHONE, WIDE } from "./visit.ts";

type End = Parameters<typeof openDesk>[0];

const TABS = 7;
const WAITING = 25;
const MOST_MS = 1_000;
const MOST_BYTES = 200_000;

const kb = (bytes: number): string => `${(bytes / 1_000).toFixed(1)} KB`;
const ms = (value: number): string => `${Math.round(value)} ms`;

function line(name: string, load: Load): string {
  const { requests, bytes, ownBytes, fcpMs, lcpMs, blockedMs, shift } = load;
  const figures = [String(requests), kb(bytes), kb(ownBytes), ms(fcpMs), ms(lcpMs), ms(blockedMs)];
  return [name.padEnd(8), ...figures.map((text) => text.padStart(10)), shift.toFixed(3).padStart(8)].join("");
}

const HEAD = [
  "page".padEnd(8),
  ...["requests", "bytes", "own", "FCP", "LCP", "blocked"].map((word) => word.padStart(10)),
  "shift".padStart(8),
].join("");

async function openInbox(page: Page, url: string): Promise<Page> {
  await page.goto(`${url}/approvals`);
  await page.locator("[data-row]").first().waitFor();
  return page;
}

/** Answers 1 where a page has more than 200 KB of files, or an approval took longer than a second from the agent's request to the page. */
export async function measure(end: End, browser: () => Promise<Browser>): Promise<number> {
  const desk = await openDesk(end, { browser, define: openShop().define });
  const agent = await desk.agent("refunds");
  const { approval } = await askRefund(agent);
  const say = (text: string) => void process.stdout.write(`${text}\n`);
  say(
    "First load with an empty cache, on this machine; own: page, scripts, styles and fonts, without headers",
  );
  say(HEAD);
  const { page: stranger } = await desk.stranger();
  const button = stranger.getByRole("button", { name: "Log in" });
  say(line("login", await firstLoad(stranger, `${desk.url}/login`, () => button.waitFor())));
  let isSmall = true;
  // High enough for all that will arrive: rows out of sight are not there.
  const { page, context } = await desk.visit("person:ann", { size: { ...WIDE, height: 6_000 } });
  // What the page after the login still loads is none of the first one's.
  await settled(page);
  for (const [name, path] of [
    ["today", "/"],
    ["inbox", "/approvals"],
    ["card", `/approvals/${approval}`],
  ] as const) {
    const load = await firstLoad(page, `${desk.url}${path}`, () => settled(page));
    say(line(name, load));
    isSmall &&= load.ownBytes < MOST_BYTES;
  }
  const pages = [await openInbox(page, desk.url)];
  const told = (where: string, taken: readonly number[]) => {
    const [middle = 0, worst = 0] = [taken[Math.floor(taken.length / 2)], taken.at(-1)];
    say(
      `An approval that arrives is seen ${where} after ${ms(middle)} (middle of ${ARRIVALS}), at most ${ms(worst)}`,
    );
    return { middle, worst };
  };
  const inbox = told("in the inbox", await arrivals(pages, () => askRefund(agent)));
  while (pages.length < TABS) pages.push(await openInbox(await context.newPage(), desk.url));
  // Seven browsers' worth of work on one machine, beside the server: by its middle.
  const inTabs = told(`in all of ${TABS} tabs`, await arrivals(pages, () => askRefund(agent)));
  for (const one of pages.slice(1)) await one.close();
  const worst = [inbox.worst, inTabs.middle];
  for (const size of [WIDE, PHONE]) {
    const taken = await arrivalsInSight(end, browser, { size, waiting: WAITING });
    const where = `or told of at ${size.width} x ${size.height}, with ${WAITING} waiting,`;
    worst.push(told(where, taken).worst);
  }
  return isSmall && Math.max(...worst) < MOST_MS ? 0 : 1;
}

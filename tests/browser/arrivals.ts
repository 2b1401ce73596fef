/** How soon an approval that arrives is seen by whoever has the inbox open. */
import type { Browser, Page } from "playwright-core";
import { openDesk } from "./desk.ts";
import { fillInbox } from "./many.ts";
import { askRefund, openShop } from "./shop.ts";
import type { Size } from "./visit.ts";

export const ARRIVALS = 20;
const MOST_LOOKS = 2_000;

/** How long it takes from the agent's request until all of the pages show it, each time. */
export async function arrivals(
  pages: readonly Page[],
  ask: () => Promise<unknown>,
): Promise<readonly number[]> {
  const rows = pages.map((page) => page.locator("[data-row]"));
  const taken: number[] = [];
  for (let number = 0; number < ARRIVALS; number++) {
    const before = await Promise.all(rows.map((one) => one.count()));
    const at = performance.now();
    await ask();
    await Promise.all(rows.map((one, index) => one.nth(before[index] ?? 0).waitFor()));
    taken.push(performance.now() - at);
  }
  return taken.toSorted((a, b) => a - b);
}

/** Whether its row, or what tells of it, stands where somebody looks. */
const isInSight = (page: Page, id: string): Promise<boolean> =>
  page.evaluate(`[...document.querySelectorAll('[data-row="${id}"], [role=status] button')].some((one) => {
    const { top, bottom } = one.getBoundingClientRect();
    const isOfIt = one.matches("[data-row]") || /new, show/.test(one.textContent);
    return isOfIt && bottom > top && top >= 0 && bottom <= window.innerHeight;
  })`);

async function untilInSight(page: Page, id: string): Promise<void> {
  for (let looks = 0; looks < MOST_LOOKS; looks++) if (await isInSight(page, id)) return;
  throw new Error("it does not come into sight, and nothing tells of it");
}

type Window = { readonly size: Size; readonly waiting: number };

/** In a window as people have it, where what comes is last in a list that is longer than the window. */
export async function arrivalsInSight(
  end: Parameters<typeof openDesk>[0],
  browser: () => Promise<Browser>,
  { size, waiting }: Window,
): Promise<readonly number[]> {
  const desk = await openDesk(end, { browser, define: openShop().define });
  const agent = await desk.agent("refunds");
  await fillInbox(desk.hp, waiting);
  const { page, open } = await desk.visit("person:ann", { size });
  await open("/approvals");
  await page.locator("[data-row]").first().waitFor();
  const taken: number[] = [];
  for (let number = 0; number < ARRIVALS; number++) {
    const at = performance.now();
    const { approval } = await askRefund(agent);
    await untilInSight(page, approval);
    taken.push(performance.now() - at);
    await desk.hp.approvals.reject(approval, { by: "person:ann", reason: "it was seen" });
    await page.getByRole("button", { name: /new, show/ }).waitFor({ state: "hidden" });
  }
  return taken.toSorted((a, b) => a - b);
}

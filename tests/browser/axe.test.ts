/** Every page can be used by everybody: axe finds nothing, light and dark, wide and narrow; and nothing scrolls sideways. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { axeFinds, bringAxe } from "./axe.ts";
import { endOf, sharedBrowser } from "./desk.ts";
import { furnishedDesk } from "./furnished.ts";
import { LOOKS, look, NOBODY } from "./pages.ts";
import { inTheme, PHONE, type Visit, WIDE } from "./visit.ts";
import { NOW, type World } from "./world.ts";

const end = endOf({ after });
const browser = sharedBrowser(end);
let place: { readonly url: string; readonly world: World };
let ann: Visit;
before(async () => {
  const { desk, world } = await furnishedDesk(end, browser);
  place = { url: desk.url, world };
  ann = await desk.visit("person:ann", { now: NOW });
  ann.faults.expect(new RegExp(NOBODY));
  await bringAxe(ann.context);
});

const SIDEWAYS = "document.documentElement.scrollWidth - document.documentElement.clientWidth";

/** In this order a page changes its theme twice and its size once. */
const TURNS = [
  [WIDE, "light"],
  [WIDE, "dark"],
  [PHONE, "dark"],
  [PHONE, "light"],
] as const;

async function foundOn(page: Page): Promise<readonly string[]> {
  const found: string[] = [];
  for (const [size, theme] of TURNS) {
    await page.setViewportSize(size);
    await inTheme(page, theme);
    const lines = await axeFinds(page, theme === "light" ? "all" : "colours");
    const over = Number(await page.evaluate(SIDEWAYS));
    if (over > 0) lines.push(`scrolls sideways by ${over} px`);
    found.push(...lines.map((text) => `${size.width} px, ${theme}: ${text}`));
  }
  return found;
}

describe("axe finds nothing, and nothing scrolls sideways, wide and on a phone, light and dark", () => {
  for (const one of LOOKS)
    test(`on the page ${one.name}`, async () => {
      await ann.page.setViewportSize(WIDE);
      await look(ann.page, place, one);
      assert.deepEqual(await foundOn(ann.page), []);
    });
});

/** Somebody at the desk: a browser of their own, logged in by a link as they would be. */
import assert from "node:assert/strict";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { type Faults, watchFaults } from "./faults.ts";

export type Theme = "light" | "dark";
export type Size = { readonly width: number; readonly height: number };

export const WIDE: Size = { width: 1280, height: 800 };
export const PHONE: Size = { width: 360, height: 740 };

export type VisitOptions = {
  readonly theme?: Theme;
  readonly size?: Size;
  /** Fingers instead of a mouse. */
  readonly touch?: boolean;
  /** What the browser's clock says; it stands still. */
  readonly now?: number;
};

export type Visit = {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly faults: Faults;
  /** Opens a page of the desk and waits until it is live. */
  open(path: string): Promise<void>;
  close(): Promise<void>;
};

type Place = { readonly browser: Browser; readonly url: string };

/** Generous: the machine may be busy. */
const WAIT_MS = 30_000;

async function newContext(browser: Browser, { theme = "light", size = WIDE, touch, now }: VisitOptions) {
  const context = await browser.newContext({
    viewport: size,
    colorScheme: theme,
    reducedMotion: "reduce",
    locale: "en-GB",
    timezoneId: "UTC",
    ...(touch === true ? { hasTouch: true, isMobile: true } : {}),
  });
  context.setDefaultTimeout(WAIT_MS);
  if (now !== undefined) await context.clock.setFixedTime(now);
  return context;
}

/** Colours that go over into others have arrived. */
const AT_REST =
  "Promise.allSettled(document.getAnimations().map((one) => one.finished)).then(() => undefined)";

/** As if the system were set so; the page follows. */
export async function inTheme(page: Page, theme: Theme): Promise<void> {
  await page.emulateMedia({ colorScheme: theme });
  // A page with a style of its own follows without saying so.
  await page.locator(`html[data-theme="${theme}"], html:not([data-theme])`).waitFor();
  await page.evaluate(AT_REST);
}

/** Whether what is shown is live; of the two places that say so, one is in sight. */
export const isLive = (page: Page): Promise<void> =>
  page.locator('[data-connection="live"]').filter({ visible: true }).first().waitFor();

export async function strangerAt({ browser, url }: Place, options: VisitOptions = {}): Promise<Visit> {
  const context = await newContext(browser, options);
  const page = await context.newPage();
  const faults = watchFaults(page);
  return {
    ...{ page, context, faults },
    async open(path) {
      await page.goto(`${url}${path}`);
      await isLive(page);
    },
    close: () => context.close(),
  };
}

/** By the page behind the link, as a person does it. */
export async function logInBy({ page }: Visit, url: string, link: string, to = "/approvals"): Promise<void> {
  await page.goto(`${url}/login?to=${encodeURIComponent(to)}#${link}`);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.waitForURL((address) => address.pathname !== "/login");
  assert.equal(new URL(page.url()).pathname, to.replace(/\?.*/, ""));
}

/** `npm run screenshots`: every page of the desk on a furnished store, light and dark, wide and on a phone. */
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import type { Page } from "playwright-core";
import { type Desk, sharedBrowser } from "./desk.ts";
import { furnishedDesk } from "./furnished.ts";
import { measure } from "./measure.ts";
import { LOOKS, type Look, look, NOBODY } from "./pages.ts";
import { inTheme, PHONE, type Theme, WIDE } from "./visit.ts";
import { NOW, type World } from "./world.ts";

const USAGE = `npm run screenshots -- [--only <page>] [--out <folder>] [--readme] [--measure]

  Starts a server on a store in which a month of work has happened, and takes a picture of every page, light and dark, at
  ${WIDE.width} and ${PHONE.width} px. The pictures are named after the page, the theme and the width.

  --only     pages whose name contains this; may be repeated. There are:
             ${LOOKS.map(({ name }) => name).join(", ")}
  --out      the folder they are put into; screenshots/ unless set
  --readme   only those that the README and the guide to the desk show, into docs/images/
  --measure  no pictures: what the first load costs, how soon pages are there, and how soon an approval that arrives is seen:
             in one window and in seven tabs, and with 25 waiting in windows of both sizes.
             Ends with 1 above 200 KB of files for a page, or if an approval takes longer than a second
`;

const OPTIONS = {
  only: { type: "string", multiple: true, default: [] as string[] },
  out: { type: "string", default: "screenshots" },
  readme: { type: "boolean", default: false },
  measure: { type: "boolean", default: false },
  help: { type: "boolean", default: false },
} as const;

const THEMES = ["light", "dark"] as const;
const SIZES = [WIDE, PHONE] as const;
const MOST_HEIGHT = 4_000;
const ROOT = resolve(import.meta.dirname, "../..");

/** What the README and the guide to the desk show, and under which name. */
const README: readonly { readonly file: string; readonly page: string; readonly theme: Theme }[] = [
  { file: "desk-approval.png", page: "card-refund", theme: "light" },
  { file: "desk-inbox.png", page: "inbox", theme: "light" },
  { file: "desk-workflow.png", page: "workflow-completed", theme: "dark" },
];

type Place = { readonly desk: Desk; readonly world: World };

async function visitOf({ desk }: Place): Promise<Page> {
  const { page, faults } = await desk.visit("person:ann", { now: NOW });
  faults.expect(new RegExp(NOBODY));
  return page;
}

/** All of a page is in the picture, and what stays at its edges is there. */
async function heightOf(page: Page, least: number): Promise<number> {
  const height = Number(await page.evaluate("document.documentElement.scrollHeight"));
  return Math.min(MOST_HEIGHT, Math.max(least, height));
}

async function takeAll(place: Place, looks: readonly Look[], folder: string): Promise<number> {
  const { desk, world } = place;
  mkdirSync(folder, { recursive: true });
  const page = await visitOf(place);
  for (const [at, one] of looks.entries()) {
    process.stdout.write(`${String(at + 1).padStart(2)} of ${looks.length}  ${one.name}\n`);
    for (const size of SIZES) {
      await page.setViewportSize(size);
      await look(page, { url: desk.url, world }, one).catch(() =>
        process.stdout.write("    it does not come to rest\n"),
      );
      if (one.act === undefined)
        await page.setViewportSize({ ...size, height: await heightOf(page, size.height) });
      for (const theme of THEMES) {
        await inTheme(page, theme);
        const path = join(folder, `${one.name}-${theme}-${size.width}.png`);
        await page.screenshot({ path, animations: "disabled" });
      }
    }
  }
  return looks.length * SIZES.length * THEMES.length;
}

async function takeForReadme(place: Place, folder: string): Promise<number> {
  const { desk, world } = place;
  mkdirSync(folder, { recursive: true });
  const page = await visitOf(place);
  for (const { file, page: name, theme } of README) {
    const one = LOOKS.find((known) => known.name === name);
    if (one === undefined) throw new TypeError(`there is no page ${name}`);
    await look(page, { url: desk.url, world }, one);
    await inTheme(page, theme);
    await page.screenshot({ path: join(folder, file), animations: "disabled" });
    process.stdout.write(`${file}\n`);
  }
  return README.length;
}

function read() {
  try {
    return parseArgs({ options: OPTIONS }).values;
  } catch {
    return undefined;
  }
}

async function run(wanted: NonNullable<ReturnType<typeof read>>): Promise<number> {
  const { only, out, readme } = wanted;
  const looks = LOOKS.filter(({ name }) => only.length === 0 || only.some((part) => name.includes(part)));
  const closing: (() => Promise<void> | void)[] = [];
  const end = { after: (close: () => Promise<void> | void) => void closing.push(close) };
  const browser = sharedBrowser(end);
  try {
    if (wanted.measure) return await measure(end, browser);
    process.stdout.write("furnishing a store …\n");
    const place = await furnishedDesk(end, browser);
    const folder = readme ? join(ROOT, "docs/images") : resolve(out);
    const count = readme ? await takeForReadme(place, folder) : await takeAll(place, looks, folder);
    process.stdout.write(`${count} pictures in ${folder}\n`);
    return 0;
  } finally {
    for (const close of closing.reverse()) await close();
  }
}

const wanted = read();
if (wanted === undefined || wanted.help) {
  process.stdout.write(USAGE);
  process.exitCode = wanted === undefined ? 1 : 0;
} else process.exitCode = await run(wanted);

/** What a page costs the network, and how soon it is there, by the browser's own measures. */
import type { CDPSession, Page } from "playwright-core";

export type Load = {
  readonly requests: number;
  /** As transferred: compressed, with headers. */
  readonly bytes: number;
  /** Scripts, styles, fonts and the page itself, compressed, without headers. */
  readonly ownBytes: number;
  /** How many those are. */
  readonly files: number;
  /** The largest of them, for whoever wants to know where it went. */
  readonly largest: readonly string[];
  readonly fcpMs: number;
  readonly lcpMs: number;
  /** What tasks took beyond 50 ms each, up to when the page stood. */
  readonly blockedMs: number;
  readonly shift: number;
};

/** Before the page: entries of some types are told only to whoever listens. */
const LISTEN = `
globalThis.measured = { lcp: 0, blocked: 0, shift: 0 };
new PerformanceObserver((list) => { for (const entry of list.getEntries()) measured.lcp = entry.startTime; }).observe({ type: "largest-contentful-paint", buffered: true });
new PerformanceObserver((list) => { for (const entry of list.getEntries()) measured.blocked += Math.max(0, entry.duration - 50); }).observe({ type: "longtask", buffered: true });
new PerformanceObserver((list) => { for (const entry of list.getEntries()) if (!entry.hadRecentInput) measured.shift += entry.value; }).observe({ type: "layout-shift", buffered: true });
`;
const READ = `({ ...measured, fcp: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0 })`;

type Measured = {
  readonly lcp: number;
  readonly blocked: number;
  readonly shift: number;
  readonly fcp: number;
};
type Finished = { readonly requestId: string; readonly encodedDataLength: number };
type Received = {
  readonly requestId: string;
  readonly type: string;
  /** Up to here only the headers have come. */
  readonly response: { readonly url: string; readonly encodedDataLength: number };
};

const OWN = new Set(["Document", "Script", "Stylesheet", "Font", "Image"]);

type File = { readonly type: string; readonly url: string; readonly headers: number; bytes: number };
const SHOWN = 12;

function count(session: CDPSession) {
  const files = new Map<string, File>();
  session.on("Network.responseReceived", ({ requestId, type, response }: Received) => {
    files.set(requestId, { type, url: response.url, headers: response.encodedDataLength, bytes: 0 });
  });
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength }: Finished) => {
    const file = files.get(requestId);
    if (file !== undefined) file.bytes = encodedDataLength;
  });
  return () => {
    const all = [...files.values()].filter(({ bytes }) => bytes > 0);
    const own = all.filter(({ type }) => OWN.has(type)).toSorted((a, b) => b.bytes - a.bytes);
    const bodyOf = ({ bytes, headers }: File): number => Math.max(0, bytes - headers);
    const largest = own.slice(0, SHOWN).map((file) => `${bodyOf(file)} ${new URL(file.url).pathname}`);
    return {
      requests: all.length,
      bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
      ownBytes: own.reduce((sum, file) => sum + bodyOf(file), 0),
      files: own.length,
      largest,
    };
  };
}

/** Opens it with an empty cache; `stands` resolves when somebody could use it. */
export async function firstLoad(page: Page, url: string, stands: () => Promise<void>): Promise<Load> {
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.clearBrowserCache");
  await page.addInitScript({ content: LISTEN });
  const counted = count(session);
  await page.goto(url);
  await stands();
  await page.evaluate("document.fonts.ready.then(() => undefined)");
  const { lcp, blocked, shift, fcp } = (await page.evaluate(READ)) as Measured;
  await session.detach();
  return { ...counted(), fcpMs: fcp, lcpMs: lcp, blockedMs: blocked, shift };
}

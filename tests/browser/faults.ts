/** What goes wrong in a page while nobody looks: errors in its console, refused requests, violations of its content policy. */
import type { ConsoleMessage, Page, Request, Response } from "playwright-core";

export type Faults = {
  readonly seen: readonly string[];
  /** What a test brings about itself is none. */
  expect(pattern: RegExp): void;
};

/** A page that is left lets go of what it asked for. */
const LEFT = "net::ERR_ABORTED";
const FIRST_REFUSAL = 400;

export function watchFaults(page: Page): Faults {
  const seen: string[] = [];
  const expected: RegExp[] = [];
  const add = (text: string) => {
    if (!expected.some((pattern) => pattern.test(text))) seen.push(text);
  };
  page.on("console", (message: ConsoleMessage) => {
    if (message.type() === "error" || message.type() === "warning")
      add(`console ${message.type()}: ${message.text()} (${message.location().url})`);
  });
  page.on("pageerror", (error: Error) => add(`error: ${error.message}`));
  page.on("requestfailed", (request: Request) => {
    const why = request.failure()?.errorText ?? "";
    if (why !== LEFT) add(`failed: ${request.method()} ${request.url()} ${why}`);
  });
  page.on("response", (response: Response) => {
    if (response.status() >= FIRST_REFUSAL)
      add(`answered ${response.status()}: ${response.request().method()} ${response.url()}`);
  });
  return { seen, expect: (pattern) => void expected.push(pattern) };
}

/** What axe finds on a page, by the rules of WCAG 2.2 AA. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { BrowserContext, Page } from "playwright-core";

const SOURCE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

type Found = {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary?: string }[];
  }[];
};

/** Before any page is opened: what is put in later, its content policy refuses. */
export const bringAxe = (context: BrowserContext): Promise<void> =>
  context.addInitScript({ content: SOURCE }).then(() => undefined);

const ALL = { runOnly: { type: "tag", values: TAGS }, resultTypes: ["violations"] };
/** A theme changes colours, and nothing else. */
const COLOURS = { runOnly: { type: "rule", values: ["color-contrast"] }, resultTypes: ["violations"] };

/** One line for each thing that is wrong, however often it is. */
export async function axeFinds(page: Page, rules: "all" | "colours"): Promise<string[]> {
  const options = rules === "all" ? ALL : COLOURS;
  const { violations } = (await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`)) as Found;
  const lines = new Map<string, string>();
  for (const { id, nodes } of violations)
    for (const { target, failureSummary = "" } of nodes) {
      const why = failureSummary.split("\n").slice(1).join(" ").trim();
      if (!lines.has(`${id} ${why}`)) lines.set(`${id} ${why}`, `${id} at ${target.join(" ")}: ${why}`);
    }
  return [...lines.values()];
}

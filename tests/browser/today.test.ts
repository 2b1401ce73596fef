/** The page that people begin with: it says "nothing" only where all that waits was looked at. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import type { Page } from "playwright-core";
import type { Holdpoint } from "../../src/index.ts";
import { endOf, openDesk, sharedBrowser } from "./desk.ts";

const browser = sharedBrowser(endOf({ after }));

/** As if more waited than one request looks at. */
const asIfMoreWaited = (page: Page) =>
  page.route("**/api/attention", async (route) => {
    const answer = await route.fetch();
    const figures = { pending: 12_000, mine: 0, looked_at: 10_000, is_all: false };
    await route.fulfill({ response: answer, json: { ...(await answer.json()), ...figures } });
  });

describe("today", () => {
  test("shows what waits for somebody behind a thousand that wait for others", async (t) => {
    let fill: ((count: number) => Promise<unknown>) | undefined;
    let ask: (() => Promise<unknown>) | undefined;
    const gated = (hp: Holdpoint, name: string, person: string) => {
      const policy = { verdict: "escalate", approvers: { from: [person] } } as const;
      const tool = hp.gate({ name, policy, run: (_: { n: number }) => 1 });
      return (n: number) => tool({ n }, { requestId: `${name}-${n}`, waitMs: 0 });
    };
    const define = (hp: Holdpoint) => {
      const flood = gated(hp, "flood", "person:other");
      fill = (count) => Promise.all(Array.from({ length: count }, (_, n) => flood(n)));
      ask = () => gated(hp, "urgent", "person:ann")(1);
    };
    const desk = await openDesk(t, { browser, define });
    await desk.link("person:other");
    const { page, open } = await desk.visit("person:ann");
    await fill?.(1_001);
    await ask?.();
    await open("/");
    await page.getByText("1 approval waits for you").waitFor();
    await page.getByRole("link", { name: /urgent/ }).waitFor();
    assert.match(await page.getByRole("navigation").first().innerText(), /Approvals\s*1/);
  });

  test("says how far it looked where more wait, and nowhere that nothing does", async (t) => {
    const desk = await openDesk(t, { browser });
    const agent = await desk.agent("payer");
    await agent.actions.propose({ tool: "bank.wire", args: { n: 1 } });
    const { page, open } = await desk.visit("person:ann");
    await asIfMoreWaited(page);
    await open("/");
    await page.getByText("None of the 10,000 approvals that wait longest is for you.").waitFor();
    await page.getByText("Not all of it was looked at").waitFor();
    assert.equal(await page.getByText("Nothing waits for you").count(), 0);
    await page
      .getByRole("link", { name: /^Approvals.*at least 0/ })
      .first()
      .waitFor();
    await page.getByRole("link", { name: "Look through all of it" }).click();
    await page.getByRole("link", { name: /bank\.wire/ }).waitFor();
  });
});

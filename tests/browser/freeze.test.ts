/** What agents write in quantity: a page shows a part of it, says how much more there is, and goes on answering. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import type { Page } from "playwright-core";
import type { Client } from "../../src/client/client.ts";
import { endOf, openDesk, ROOT, sharedBrowser } from "./desk.ts";

const browser = sharedBrowser(endOf({ after }));
/** Generous: the machine may be busy. What froze a page took minutes. */
const SOON_MS = 30_000;
const HIDDEN = "\u200b";

const frame = (page: Page) =>
  page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");

async function asked(agent: Client, args: object): Promise<string> {
  const answer = await agent.actions.propose({ tool: "bank.wire", args });
  assert.ok(answer.status === "pending" && answer.waiting_for === "approval");
  return answer.approval_id;
}

/** What is done takes no longer than anybody would wait. */
async function soon<Result>(what: string, act: () => Promise<Result>): Promise<Result> {
  const begun = performance.now();
  const result = await act();
  const took = Math.round(performance.now() - begun);
  assert.ok(took < SOON_MS, `${what} took ${took} ms`);
  return result;
}

describe("a card stays quick", () => {
  test("beside 50 comments of 10,000 hidden characters: the latest ten, each folded", async (t) => {
    const desk = await openDesk(t, { browser });
    const agent = await desk.agent("payer");
    const id = await asked(agent, { n: 1 });
    for (let n = 0; n < 50; n++)
      await agent.approvals.comment(id, { text: `number ${n} ${HIDDEN.repeat(9_900)}` });
    const { page, open } = await desk.visit(ROOT);
    const panel = page.getByRole("region", { name: "Questions and answers" });
    await soon("the card", async () => {
      await open(`/approvals/${id}`);
      await panel.getByText("number 49").waitFor();
      await frame(page);
    });
    assert.equal(await panel.getByRole("listitem").count(), 10);
    assert.equal(await panel.getByText("number 39").count(), 0);
    assert.equal(await panel.getByRole("button", { name: /characters more: show all/ }).count(), 10);
    await page.getByRole("button", { name: "Approve", exact: true }).waitFor();
    await soon("the earlier ones", async () => {
      await panel.getByRole("button", { name: "40 earlier: show all" }).click();
      await panel.getByText("number 0 ").waitFor();
      await frame(page);
    });
    assert.equal(await panel.getByRole("listitem").count(), 50);
  });

  for (const [what, levels, shown] of [
    ["60 lists of 60 lists of 60", [60, 60, 60], 2_997],
    ["499 lists of 499", [499, 499], 2_997],
  ] as const)
    test(`over ${what}: no more parts than a panel has, and the rest as JSON`, async (t) => {
      const nested = ([count = 0, ...deeper]: readonly number[]): unknown =>
        count === 0 ? 1 : Array.from({ length: count }, () => nested(deeper));
      const desk = await openDesk(t, { browser });
      const id = await asked(await desk.agent("payer"), { list: nested(levels), amount: 7 });
      const { page, open } = await desk.visit(ROOT);
      await soon("the card", async () => {
        await open(`/approvals/${id}`);
        await page.getByRole("button", { name: "Show all of it first" }).waitFor();
        await frame(page);
      });
      await soon("to open all of it", async () => {
        await page.getByRole("button", { name: "Show all of it first" }).click();
        await page.getByRole("button", { name: "Approve", exact: true }).waitFor({ timeout: SOON_MS });
        await frame(page);
      });
      const panel = page.getByRole("region", { name: /What will run/ });
      assert.equal(await panel.getByRole("listitem").count(), shown);
      await page
        .getByText(/after these, as JSON/)
        .first()
        .waitFor();
      await page.getByText("7", { exact: true }).first().waitFor();
    });
});

describe("lists stay quick", () => {
  test("of workflows that failed, and of doubts, for reasons of 10,000 hidden characters", async (t) => {
    const reason = `gone${HIDDEN.repeat(9_900)}`;
    const desk = await openDesk(t, {
      browser,
      define: (hp) => hp.remote.tool({ name: "free", policy: "approve" }),
    });
    const agent = await desk.agent("payer");
    for (let n = 0; n < 20; n++) {
      const workflow = await desk.hp.remote.workflows.create({ name: `w${n}`, by: "agent:payer" });
      await desk.hp.remote.workflows.start(workflow, { agent: "agent:payer" });
      await agent.workflows.fail(workflow, { reason });
      const permit = await agent.actions.propose({ tool: "free", args: { n } });
      await agent.actions.report(permit.action_id, { status: "unknown", reason });
    }
    const { page, open } = await desk.visit(ROOT);
    for (const path of ["/workflows", "/in-doubt"]) {
      await soon(path, async () => {
        await open(path);
        await page.getByText("9,604 characters more").first().waitFor();
        await frame(page);
      });
      const longest = await page.evaluate<number>(
        "Math.max(...[...document.querySelectorAll('main .strange')].map((one) => one.textContent.length))",
      );
      assert.ok(longest < 5_000, `${longest} characters in one place`);
    }
  });
});

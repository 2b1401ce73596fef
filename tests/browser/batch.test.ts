/** Several decided together: what stood in a row when the dialogue was opened is what is decided. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import type { Page } from "playwright-core";
import type { Client } from "../../src/client/client.ts";
import type { Holdpoint } from "../../src/index.ts";
import { axeFinds, bringAxe } from "./axe.ts";
import { endOf, openDesk, sharedBrowser } from "./desk.ts";

/** Reads a table, and two people agree to it. */
const define = (hp: Holdpoint) => {
  hp.gate({
    name: "shop.read",
    effect: "read",
    policy: { verdict: "escalate", approvers: { quorum: 2 } },
    run: (_: object) => 1,
  });
  hp.workflow("trip", async (ctx) => void (await ctx.checkpoint("Plan", { outputs: { nights: 3 } })));
};

const browser = sharedBrowser(endOf({ after }));

async function askRead(agent: Client, table: string): Promise<string> {
  const answer = await agent.actions.propose({ tool: "shop.read", args: { table } });
  return answer.status === "pending" && answer.waiting_for === "approval"
    ? answer.approval_id
    : assert.fail(answer.status);
}

/** Selects all that is there, and opens the dialogue. */
async function together(page: Page, word: "Approve" | "Reject", count: number) {
  const boxes = page.getByRole("checkbox", { name: /^Select/ });
  await boxes.nth(count - 1).waitFor();
  for (let at = 0; at < count; at += 1) await boxes.nth(at).check();
  await page.getByRole("region", { name: "Selected" }).getByRole("button", { name: word }).click();
  return page.getByRole("dialog", { name: `${word} ${count} approvals` });
}

describe("several approvals decided together", () => {
  test("what somebody changes or decides meanwhile is left out and says so; the others are decided as they were shown", async (t) => {
    const desk = await openDesk(t, { browser, define });
    const agent = await desk.agent("reports");
    const orders = await askRead(agent, "orders");
    const stock = await askRead(agent, "stock");
    const shelves = await askRead(agent, "shelves");
    await desk.link("person:ben");
    const { page, open } = await desk.visit("person:ann");
    await open("/approvals");
    const dialog = await together(page, "Approve", 3);
    await dialog.getByText("orders").waitFor();
    await desk.hp.approvals.approve(orders, { by: "person:ben", edit: { table: "salaries" } });
    await desk.hp.approvals.reject(shelves, { by: "person:ben", reason: "empty" });
    await dialog.getByText("Left out: It has changed since you opened this").waitFor();
    await dialog.getByText("Left out: Since you opened this: Rejected by ben").waitFor();
    assert.equal(await dialog.getByText("salaries").count(), 0, "the row does not change under the reader");
    await dialog.getByRole("button", { name: "Approve 1", exact: true }).click();
    await dialog.getByText("pending", { exact: true }).waitFor();
    const votesOf = async (id: string) => (await desk.hp.approvals.get(id)).votes.map(({ by }) => by);
    assert.deepEqual(await votesOf(stock), ["person:ann"]);
    assert.deepEqual(await votesOf(orders), ["person:ben"]);
  });

  test("Enter on the bar opens the dialogue; whoever goes back has selected what they had, until it is sent", async (t) => {
    const desk = await openDesk(t, { browser, define });
    const agent = await desk.agent("reports");
    for (const table of ["orders", "stock"]) await askRead(agent, table);
    const { page, open } = await desk.visit("person:ann");
    await open("/approvals");
    await page.locator("[data-row]").nth(1).waitFor();
    for (const row of [0, 1]) {
      await page.keyboard.press("j");
      await page.locator("[data-row]").nth(row).locator("a:focus").waitFor();
      await page.keyboard.press("x");
    }
    const bar = page.getByRole("region", { name: "Selected" });
    const approve = bar.getByRole("button", { name: "Approve" });
    await approve.focus();
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Approve 2 approvals" });
    await dialog.getByRole("button", { name: "Back" }).click();
    await dialog.waitFor({ state: "hidden" });
    await bar.getByText("2 selected").waitFor();
    await approve.and(page.locator(":focus")).waitFor();
    await page.keyboard.press("Enter");
    await dialog.getByRole("button", { name: "Approve 2", exact: true }).waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    await bar.getByText("2 selected").waitFor();
    await approve.and(page.locator(":focus")).waitFor();
    await page.keyboard.press("Enter");
    await dialog.getByRole("button", { name: "Approve 2", exact: true }).click();
    await dialog.getByRole("button", { name: "Close" }).last().click();
    await bar.waitFor({ state: "hidden" });
    assert.equal(new URL(page.url()).pathname, "/approvals");
  });

  test("a checkpoint is not rejected with others, nor is what has comments; the vote names what its row showed", async (t) => {
    const desk = await openDesk(t, { browser, define });
    const agent = await desk.agent("reports");
    const orders = await askRead(agent, "orders");
    const stock = await askRead(agent, "stock");
    await agent.approvals.comment(stock, { text: "It is the one of last year." });
    await desk.hp.workflows.start("trip", {});
    const { page, open, context } = await desk.visit("person:ann");
    await bringAxe(context);
    await open("/approvals");
    const dialog = await together(page, "Reject", 3);
    await dialog.getByText("Left out: There is to look at what a rejection does to its workflow.").waitFor();
    await dialog.getByText("Left out: There are comments to read.").waitFor();
    assert.deepEqual(await axeFinds(page, "all"), []);
    await dialog.getByLabel("Reason, for all of them").fill("not now");
    const sent = page.waitForRequest("**/api/approvals/batch");
    await dialog.getByRole("button", { name: "Reject 1", exact: true }).click();
    const { shown_row } = (await agent.approvals.card(orders)).card;
    assert.partialDeepStrictEqual((await sent).postDataJSON(), {
      decisions: [{ request_id: orders, decision: "reject", shown: shown_row }],
    });
    await dialog.getByText("rejected", { exact: true }).waitFor();
    assert.equal((await desk.hp.approvals.get(orders)).votes[0]?.shown, shown_row);
    await dialog.getByRole("button", { name: "Close" }).last().click();
    await page.locator("[data-row]").nth(2).waitFor({ state: "detached" });
    const left = await together(page, "Reject", 2);
    await left.getByText("Each of these is decided on its own page.").waitFor();
    assert.equal(await left.getByLabel("Reason, for all of them").count(), 0);
  });
});

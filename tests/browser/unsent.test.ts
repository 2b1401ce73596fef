/** What was sent and not answered, and what was written and not sent. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import type { Page } from "playwright-core";
import type { Holdpoint } from "../../src/index.ts";
import { endOf, openDesk, sharedBrowser } from "./desk.ts";
import { askRefund, openShop } from "./shop.ts";

const browser = sharedBrowser(endOf({ after }));

/** What is sent arrives, and no answer comes back. */
const loseAnswers = (page: Page) =>
  page.route("**/votes", async (route) => {
    await route.fetch();
    await route.abort();
  });

/** Two people agree to it, and no word is typed. */
const define = (hp: Holdpoint) =>
  hp.gate({
    name: "shop.read",
    effect: "read",
    policy: { verdict: "escalate", approvers: { quorum: 2 } },
    run: (_: object) => 1,
  });

describe("a vote whose answer is lost", () => {
  test("is found in the card: nothing is said to be unknown any more", async (t) => {
    const desk = await openDesk(t, { browser, define });
    const agent = await desk.agent("reports");
    const asked = await agent.actions.propose({ tool: "shop.read", args: { table: "orders" } });
    const { page, open, faults } = await desk.visit("person:ann");
    faults.expect(/ERR_FAILED/);
    await open(
      `/approvals/${asked.status === "pending" && asked.waiting_for === "approval" ? asked.approval_id : ""}`,
    );
    await loseAnswers(page);
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByText("Your decision is recorded.").waitFor();
    await page.getByText("You have approved it; it waits for others.").waitFor();
    assert.equal(await page.getByText("It is not known whether").count(), 0);
  });

  test("closes the dialogue that it was sent from, and nothing is said not to have been sent", async (t) => {
    const desk = await openDesk(t, { browser, define: openShop().define });
    const { approval } = await askRefund(await desk.agent("refunds"));
    const { page, open, faults } = await desk.visit("person:ann");
    faults.expect(/ERR_FAILED/);
    await open(`/approvals/${approval}`);
    await loseAnswers(page);
    await page.getByRole("button", { name: "Reject" }).click();
    const dialog = page.getByRole("dialog", { name: "Reject" });
    await dialog.getByLabel("Reason").fill("no photo");
    await dialog.getByRole("button", { name: "Reject" }).click();
    await dialog.waitFor({ state: "hidden" });
    await page.getByText("Rejected by ann. It does not run.").waitFor();
    assert.equal(await page.getByRole("alert").count(), 0);
  });
});

describe("what was written and not sent", () => {
  test("is there again for whoever comes back to the card, and says so; Back drops it", async (t) => {
    const desk = await openDesk(t, { browser, define: openShop().define });
    const { approval } = await askRefund(await desk.agent("refunds"), 400);
    const { page, open } = await desk.visit("person:ann");
    await open(`/approvals/${approval}`);
    await page.getByRole("button", { name: "Modify" }).click();
    await page.getByLabel("Amount USD").fill("250");
    const row = page.getByRole("link", { name: /shop\.refund/ });
    const leave = async () => {
      await page.getByRole("link", { name: "Approvals" }).first().click();
      await row.click();
    };
    await leave();
    await page.getByText("You wrote this before, and it was not sent.").waitFor();
    assert.equal(await page.getByLabel("Amount USD").inputValue(), "250");
    await page.getByText("It can be approved so.").waitFor();
    await page.getByRole("button", { name: "Back", exact: true }).click();
    await leave();
    await page.getByRole("button", { name: "Modify" }).click();
    assert.equal(await page.getByLabel("Amount USD").inputValue(), "400");
  });

  test("is kept of a note, a reason and a question too; a note that is taken out leaves its box open", async (t) => {
    const desk = await openDesk(t, { browser, define: openShop().define });
    const { approval } = await askRefund(await desk.agent("refunds"));
    const { page, open } = await desk.visit("person:ann");
    await open(`/approvals/${approval}`);
    const note = page.getByLabel("Note", { exact: true });
    await page.getByText("Add a note").click();
    await note.fill("a");
    await note.fill("");
    await note.fill("as agreed");
    await page.getByLabel("Ask for more").fill("Which order?");
    const dialog = page.getByRole("dialog", { name: "Reject" });
    await page.getByRole("button", { name: "Reject" }).click();
    await dialog.getByLabel("Reason").fill("no photo");
    await dialog.getByRole("button", { name: "Back" }).click();
    await page.getByRole("link", { name: "Approvals" }).first().click();
    await page.getByRole("link", { name: /shop\.refund/ }).click();
    await page.getByRole("button", { name: "Reject" }).click();
    assert.equal(await dialog.getByLabel("Reason").inputValue(), "no photo");
    await dialog.getByRole("button", { name: "Back" }).click();
    assert.equal(await page.getByLabel("Ask for more").inputValue(), "Which order?");
    assert.ok(await note.isVisible());
    assert.equal(await note.inputValue(), "as agreed");
  });
});

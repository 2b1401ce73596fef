/** What people do at the card: agree, change, say no, and what they see of it afterwards. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { z } from "zod";
import type { Holdpoint } from "../../src/index.ts";
import { endOf, openDesk, sharedBrowser } from "./desk.ts";
import { askRefund, openShop } from "./shop.ts";

const browser = sharedBrowser(endOf({ after }));

describe("at the card", () => {
  test("what is approved runs once, with a receipt, and the page says so by itself", async (t) => {
    const shop = openShop();
    const desk = await openDesk(t, { browser, define: shop.define });
    const agent = await desk.agent("refunds");
    const { action } = await askRefund(agent);
    const { page, open } = await desk.visit("person:ann");
    await open("/approvals");
    await page.getByRole("link", { name: /shop\.refund/ }).click();
    await page.getByText("It arrived broken.").waitFor();
    await page.getByText("money leaves the house").first().waitFor();
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByText("Approved by ann.").waitFor();
    assert.deepEqual(shop.done, []);
    const answer = await agent.actions.start(action, {});
    assert.equal(answer.status, "done");
    await page.getByText("It was done.").waitFor();
    assert.equal(shop.done.length, 1);
    await page.getByRole("link", { name: "See the receipt" }).click();
    await page.waitForURL(`**/actions/${action}`);
    await page.getByText("shop.refund").first().waitFor();
  });

  test("a change that policy forbids is shown to be forbidden as it is typed; one that stands is approved and runs", async (t) => {
    const shop = openShop();
    const desk = await openDesk(t, { browser, define: shop.define });
    const agent = await desk.agent("refunds");
    const { action, approval } = await askRefund(agent, 400);
    const { page, open } = await desk.visit("person:ann");
    await open(`/approvals/${approval}`);
    await page.getByRole("button", { name: "Modify" }).click();
    const amount = page.getByLabel("Amount USD");
    const send = page.getByRole("button", { name: "Approve with changes" });
    await amount.fill("4000");
    await page.getByText("Policy blocks this.").waitFor();
    await page.getByText("no refund is over 1000 USD").waitFor();
    assert.ok(await send.isDisabled());
    await amount.fill("9000");
    await page.getByText("It does not fit what the tool takes.").waitFor();
    assert.ok(await send.isDisabled());
    await amount.fill("250");
    await page.getByText("It can be approved so.").waitFor();
    await page.getByRole("heading", { name: "The difference" }).waitFor();
    await send.click();
    await page.getByText("Approved with changes by ann.").waitFor();
    await page.getByRole("heading", { name: "Why it was asked at first" }).waitFor();
    await page.getByRole("heading", { name: "What policy says of it as people changed it" }).waitFor();
    await agent.actions.start(action, {});
    await page.getByText("It was done.").waitFor();
    assert.match(shop.done.join(), /^refund A-\d+ 250$/);
  });

  test("a checkpoint that is rejected sends the workflow back, and its page shows what was taken back", async (t) => {
    const shop = openShop();
    const desk = await openDesk(t, { browser, define: shop.define });
    const { page, open } = await desk.visit("person:ann");
    await open("/approvals");
    const { id } = await desk.hp.workflows.start("trip", { hotel: "Airport" });
    await page.getByRole("link", { name: /Plan/ }).click();
    await page.getByText("One room at the Airport, three nights").first().waitFor();
    await page.getByRole("button", { name: "Reject" }).click();
    const dialog = page.getByRole("dialog", { name: "Reject" });
    await dialog.getByText("The workflow goes back to its start.").waitFor();
    await dialog.getByText("trip.book").waitFor();
    await dialog.getByLabel("Reason").fill("nearer to the station");
    await dialog.getByRole("button", { name: "Reject" }).click();
    await page.getByText("Rejected by ann.").first().waitFor();
    await page.getByRole("link", { name: "See how the workflow goes on" }).click();
    await page.waitForURL(`**/workflows/${id}`);
    await page.getByText("nearer to the station").first().waitFor();
    await page.getByText("back to the start").waitFor();
    await page.getByText("1 taken back").waitFor();
    await page.getByText("Attempt 2", { exact: true }).waitFor();
    assert.deepEqual(shop.done, ["book Airport", "cancel Airport", "book Station"]);
  });

  test("what cannot be taken back is approved only by typing a word", async (t) => {
    const shop = openShop();
    const desk = await openDesk(t, { browser, define: shop.define });
    const agent = await desk.agent("tidy");
    const answer = await agent.actions.propose({ tool: "shop.wipe", args: { everything: true } });
    const { page, open } = await desk.visit("person:ann");
    await open(
      `/approvals/${answer.status === "pending" && answer.waiting_for === "approval" ? answer.approval_id : ""}`,
    );
    await page.getByText("cannot be undone").first().waitFor();
    await page.getByRole("button", { name: "Approve" }).click();
    const dialog = page.getByRole("dialog", { name: "This cannot be undone" });
    const send = dialog.getByRole("button", { name: "Approve" });
    assert.ok(await send.isDisabled());
    const word = await dialog.locator("label code").innerText();
    await dialog.getByRole("textbox").fill(word.slice(1));
    assert.ok(await send.isDisabled());
    await dialog.getByRole("textbox").fill(word);
    await dialog.getByRole("button", { name: "Back" }).click();
    await page.getByRole("button", { name: "Approve" }).click();
    assert.equal(await dialog.getByRole("textbox").inputValue(), "", "it is typed anew");
    assert.ok(await send.isDisabled());
    await dialog.getByRole("textbox").fill(word);
    await send.click();
    await page.getByText("You have approved it; it waits for others.").waitFor();
    await page.getByText("1 of 2 have agreed").waitFor();
  });

  test("a preview that failed looks and reads as failed, and passes for nothing that the tool shows", async (t) => {
    const define = (hp: Holdpoint) =>
      hp.gate({
        name: "db.drop",
        preview: ({ table }: { table: string }) => {
          if (table === "orders") throw new Error("the database\u202e does not answer");
          return { drops: table };
        },
        run: () => 1,
      });
    const desk = await openDesk(t, { browser, define });
    const agent = await desk.agent("tidy");
    const { page, open } = await desk.visit("person:ann");
    const look = async (table: string) => {
      const asked = await agent.actions.propose({ tool: "db.drop", args: { table } });
      await open(
        `/approvals/${asked.status === "pending" && asked.waiting_for === "approval" ? asked.approval_id : ""}`,
      );
    };
    await look("orders");
    const failed = page.getByRole("region", { name: "The tool's preview failed" });
    await failed.getByText("Nothing is known about what it would do.").waitFor();
    await failed.getByText(/the database.*does not answer/).waitFor();
    await failed.getByText("failed", { exact: true }).waitFor();
    assert.equal(await page.getByText("What the tool shows of it").count(), 0);
    await look("drafts");
    await page.getByRole("region", { name: "What the tool shows of it" }).getByText("drafts").waitFor();
    assert.equal(await failed.count(), 0);
  });

  test("whoever needs to know more asks, and the agent's answer appears on the card", async (t) => {
    const shop = openShop();
    const desk = await openDesk(t, { browser, define: shop.define });
    const agent = await desk.agent("refunds");
    const { approval } = await askRefund(agent);
    const { page, open } = await desk.visit("person:ann");
    await open(`/approvals/${approval}`);
    await page.getByLabel("Ask for more").fill("Is there a photo?");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByRole("listitem").getByText("Is there a photo?").waitFor();
    await agent.approvals.comment(approval, { text: "Yes, in the case file." });
    await page.getByText("Yes, in the case file.").waitFor();
  });

  test("nothing is approved while some of it is folded: the button shows it first", async (t) => {
    const desk = await openDesk(t, { browser, define: openShop().define });
    const { approval } = await askRefund(await desk.agent("refunds"), 40, `It broke. ${"x".repeat(4_000)}`);
    const { page, open } = await desk.visit("person:ann");
    await open(`/approvals/${approval}`);
    const first = page.getByRole("button", { name: "Show all of it first" });
    await first.waitFor();
    assert.equal(await page.getByRole("button", { name: "Approve" }).count(), 0);
    await first.dblclick();
    await page.getByRole("button", { name: "Fold again" }).click();
    await first.click();
    await page.getByRole("button", { name: "Approve" }).waitFor();
    assert.equal(
      (await desk.hp.approvals.get(approval)).status,
      "pending",
      "a double click approves nothing",
    );
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByText("Approved by ann.").waitFor();
  });

  test("a decision that was not used yet is taken back, and the focus is on what became of it", async (t) => {
    const desk = await openDesk(t, { browser, define: openShop().define });
    const { approval } = await askRefund(await desk.agent("refunds"));
    const { page, open } = await desk.visit("person:ann");
    await open(`/approvals/${approval}`);
    await page.getByRole("button", { name: "Approve" }).click();
    await page.locator(":focus", { hasText: "Approved by ann." }).waitFor();
    await page.getByRole("button", { name: "More to do with it" }).click();
    await page.getByRole("button", { name: "Take the decision back" }).click();
    const dialog = page.getByRole("dialog", { name: "Take the decision back" });
    await dialog.getByLabel("Reason").fill("the wrong order");
    await dialog.getByRole("button", { name: "Take it back" }).click();
    await page.getByText("The decision was taken back by ann").waitFor();
    assert.equal((await desk.hp.approvals.get(approval)).status, "revoked");
    assert.equal(await page.getByRole("button", { name: "More to do with it" }).count(), 0);
  });

  test("what says nothing of its input can be changed too; Escape leaves it, and the focus is not lost", async (t) => {
    const desk = await openDesk(t, { browser, define: openShop().define });
    const agent = await desk.agent("tidy");
    const answer = await agent.actions.propose({ tool: "shop.wipe", args: { folder: "old" } });
    const { page, open } = await desk.visit("person:ann");
    await open(
      `/approvals/${answer.status === "pending" && answer.waiting_for === "approval" ? answer.approval_id : ""}`,
    );
    await page.getByText("this tool asks a person each time").waitFor();
    await page.getByRole("button", { name: "Modify" }).click();
    await page.getByLabel("Folder").fill("older");
    await page.getByText("It can be approved so.").waitFor();
    await page.getByLabel("Folder").press("Escape");
    await page.locator("h1:focus").waitFor();
    await page.getByRole("button", { name: "Modify" }).waitFor();
  });

  test("a row says in words that it cannot be taken back, on a phone too", async (t) => {
    const desk = await openDesk(t, { browser, define: openShop().define });
    const agent = await desk.agent("refunds");
    await askRefund(agent);
    await agent.actions.propose({ tool: "shop.look", args: { since: "40" } });
    for (const width of [1280, 360]) {
      const { page, open } = await desk.visit("person:ann");
      await page.setViewportSize({ width, height: 800 });
      await open("/approvals");
      const row = page.locator("[data-row]").filter({ hasText: "shop.refund" });
      const sign = row.getByText("cannot be undone", { exact: true });
      await sign.waitFor();
      const [inner, outer] = [await sign.boundingBox(), await row.boundingBox()];
      assert.ok(inner !== null && outer !== null);
      assert.ok(inner.x + inner.width <= width && inner.y >= outer.y, JSON.stringify(inner));
      assert.ok(inner.y + inner.height <= outer.y + outer.height, JSON.stringify([inner, outer]));
      const other = page.locator("[data-row]").filter({ hasText: "shop.look" });
      assert.equal(await other.getByText("cannot be undone").count(), 0);
    }
  });

  test("the inbox shows what runs out soonest first where somebody wants that, and goes on doing so", async (t) => {
    const define = (hp: Holdpoint) => {
      for (const [name, minutes] of [
        ["later", 90],
        ["soon", 20],
        ["sooner", 10],
      ] as const)
        hp.gate({
          name,
          policy: { verdict: "escalate", decideWithinMs: minutes * 60_000 },
          run: (_: object) => 1,
        });
      hp.gate({ name: "never", run: (_: object) => 1 });
    };
    const desk = await openDesk(t, { browser, define });
    const agent = await desk.agent("refunds");
    const ask = (tool: string) => agent.actions.propose({ tool, args: {} });
    for (const tool of ["never", "later", "soon"]) await ask(tool);
    const { page, open } = await desk.visit("person:ann");
    await open("/approvals");
    const rows = page.locator("[data-row] a");
    const begins = (name: string) => rows.first().getByText(name, { exact: true }).waitFor();
    const names = async () => (await rows.allInnerTexts()).map((text) => text.split("\n")[0]);
    await begins("never");
    await page.getByLabel("Order").selectOption({ label: "Soonest deadline first" });
    await begins("soon");
    assert.deepEqual(await names(), ["soon", "later", "never"]);
    assert.match(page.url(), /order=deadline/);
    await ask("sooner");
    await begins("sooner");
    assert.deepEqual(await names(), ["sooner", "soon", "later", "never"]);
  });

  test("several are approved together where a row shows all of them, with what was shown; the rest is left out", async (t) => {
    const desk = await openDesk(t, { browser, define: openShop().define });
    const agent = await desk.agent("refunds");
    const refund = await askRefund(agent);
    const look = await agent.actions.propose({ tool: "shop.look", args: { since: "40" } });
    const { page, open } = await desk.visit("person:ann");
    await open("/approvals");
    await page.getByRole("link", { name: /shop\.look/ }).waitFor();
    for (const row of [0, 1]) {
      await page.keyboard.press("j");
      await page.locator("[data-row]").nth(row).locator("a:focus").waitFor();
      await page.keyboard.press("x");
    }
    await page.getByRole("region", { name: "Selected" }).getByRole("button", { name: "Approve" }).click();
    const dialog = page.getByRole("dialog", { name: "Approve 2 approvals" });
    await dialog.getByText("Left out: It cannot be undone.").waitFor();
    await dialog.getByText('"40"').waitFor();
    await dialog.getByText("orders are private").waitFor();
    await dialog.getByRole("button", { name: "Approve 1" }).click();
    await dialog.getByText("approved", { exact: true }).waitFor();
    const approved = await desk.hp.approvals.get(
      look.status === "pending" && look.waiting_for === "approval" ? look.approval_id : "",
    );
    assert.match(approved.votes[0]?.shown ?? "", /^[0-9a-f]{64}$/);
    assert.equal((await desk.hp.approvals.get(refund.approval)).status, "pending");
  });

  test("an answer that was suggested is read whole before it is given, hidden characters written out", async (t) => {
    // Out of sight of a box of one line, and turned around.
    const suggestion = { to: `Ann${" ".repeat(150)}and 90000 to \u202eyrollaM` };
    const define = (hp: Holdpoint) => {
      hp.workflow("pays", async (ctx) => {
        await ctx.ask("payee", "Whom do I pay?", { answer: z.object({ to: z.string() }), suggestion });
      });
    };
    const desk = await openDesk(t, { browser, define });
    const { page, open } = await desk.visit("person:ann");
    await open("/approvals");
    await desk.hp.workflows.start("pays", {});
    await page.getByRole("link", { name: /payee/i }).click();
    await page.getByRole("heading", { name: "What the program suggests" }).waitFor();
    assert.equal(await page.getByText("\\u202e", { exact: true }).count(), 2);
    assert.equal(await page.getByLabel("To", { exact: true }).evaluate((box) => box.tagName), "TEXTAREA");
  });
});

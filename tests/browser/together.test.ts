/** Several people at once, and a server that goes away: nobody looks at what is no longer so without being told. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { endOf, openDesk, sharedBrowser } from "./desk.ts";
import { askRefund, openShop } from "./shop.ts";
import { isLive, type Visit } from "./visit.ts";

const browser = sharedBrowser(endOf({ after }));
const HOUR_MS = 3_600_000;

describe("two people at the same approval", () => {
  test("one decides, and the other sees it at once", async (t) => {
    const desk = await openDesk(t, { browser, define: openShop().define });
    const { approval } = await askRefund(await desk.agent("refunds"));
    const ann = await desk.visit("person:ann");
    const ben = await desk.visit("person:ben");
    await ann.open(`/approvals/${approval}`);
    await ben.open(`/approvals/${approval}`);
    await ben.page.getByRole("button", { name: "Approve" }).waitFor();
    await ann.page.getByRole("button", { name: "Reject" }).click();
    const dialog = ann.page.getByRole("dialog", { name: "Reject" });
    await dialog.getByLabel("Reason").fill("no photo");
    await dialog.getByRole("button", { name: "Reject" }).click();
    await ben.page.getByText("Rejected by ann. It does not run.").waitFor();
    assert.equal(await ben.page.getByRole("button", { name: "Approve" }).count(), 0);
  });

  test("both decide, one counts, and the other is told so", async (t) => {
    const desk = await openDesk(t, { browser, define: openShop().define });
    const { approval } = await askRefund(await desk.agent("refunds"));
    const ann = await desk.visit("person:ann");
    const ben = await desk.visit("person:ben");
    ben.faults.expect(/409/);
    await ann.open(`/approvals/${approval}`);
    await ben.open(`/approvals/${approval}`);
    const decided = Promise.withResolvers<void>();
    const sent = Promise.withResolvers<void>();
    await ben.page.route("**/votes", async (route) => {
      sent.resolve();
      await decided.promise;
      await route.continue();
    });
    await ben.page.getByRole("button", { name: "Approve" }).click();
    await sent.promise;
    await ann.page.getByRole("button", { name: "Reject" }).click();
    const dialog = ann.page.getByRole("dialog", { name: "Reject" });
    await dialog.getByLabel("Reason").fill("no photo");
    await dialog.getByRole("button", { name: "Reject" }).click();
    await ann.page.getByText("Rejected by ann.").first().waitFor();
    decided.resolve();
    await ben.page.getByText("Your decision did not count. Rejected by ann.").waitFor();
    assert.equal((await desk.hp.approvals.get(approval)).status, "rejected");
  });
});

describe("two people give more time at once", () => {
  test("both count, and each sees the deadline as it stands", async (t) => {
    const desk = await openDesk(t, { browser, define: openShop().define });
    const { approval } = await askRefund(await desk.agent("refunds"));
    const first = (await desk.hp.approvals.get(approval)).decideBy ?? 0;
    const [ann, ben] = [await desk.visit("person:ann"), await desk.visit("person:ben")];
    const shows = ({ page }: Visit, hours: number) =>
      page
        .locator(`time[datetime="${new Date(first + hours * HOUR_MS).toISOString()}"]`)
        .first()
        .waitFor();
    const asks = async ({ page, open }: Visit) => {
      await open(`/approvals/${approval}`);
      await page.getByRole("button", { name: "Approve" }).waitFor();
      await page.keyboard.press("e");
      const dialog = page.getByRole("dialog", { name: "Give more time" });
      await dialog.getByLabel("1 h", { exact: true }).check();
      return dialog.getByRole("button", { name: "Give more time" });
    };
    const [gives, alsoGives] = [await asks(ann), await asks(ben)];
    const [sent, given] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await ben.page.route("**/extend", async (route) => {
      sent.resolve();
      await given.promise;
      await route.continue();
    });
    await alsoGives.click();
    await sent.promise;
    await gives.click();
    await ann.page.getByText("There is more time.").waitFor();
    await shows(ben, 1);
    assert.equal(await ben.page.getByText("There is more time.").count(), 0, "theirs is still under way");
    given.resolve();
    await ben.page.getByText("There is more time.").waitFor();
    for (const visit of [ann, ben]) await shows(visit, 2);
    assert.equal((await desk.hp.approvals.get(approval)).decideBy, first + 2 * HOUR_MS);
  });
});

describe("somebody decides while another writes", () => {
  test("what was changed stays to be read, and it is said that it was not sent", async (t) => {
    const desk = await openDesk(t, { browser, define: openShop().define });
    const { approval } = await askRefund(await desk.agent("refunds"), 400);
    const { page, open } = await desk.visit("person:ben");
    await open(`/approvals/${approval}`);
    await page.getByRole("button", { name: "Modify" }).click();
    await page.getByLabel("Amount USD").fill("250");
    await page.getByText("It can be approved so.").waitFor();
    await desk.visit("person:ann");
    await desk.hp.approvals.reject(approval, { by: "person:ann", reason: "no photo" });
    const notice = page.getByRole("alert").filter({ hasText: "It was decided while you wrote" });
    await notice.getByText("Rejected by ann.").waitFor();
    await notice.getByText("250").waitFor();
  });

  test("a reason that was being written stays too, and there is nothing to send", async (t) => {
    const desk = await openDesk(t, { browser, define: openShop().define });
    const { approval } = await askRefund(await desk.agent("refunds"));
    const { page, open } = await desk.visit("person:ben");
    await open(`/approvals/${approval}`);
    await page.getByRole("button", { name: "Reject" }).click();
    const dialog = page.getByRole("dialog", { name: "Reject" });
    await dialog.getByLabel("Reason").fill("no photo");
    await desk.visit("person:ann");
    await desk.hp.approvals.approve(approval, { by: "person:ann" });
    await dialog.getByText("Approved by ann.").waitFor();
    await dialog.getByText("What you wrote was not sent.").waitFor();
    assert.equal(await dialog.getByLabel("Reason").inputValue(), "no photo");
    assert.equal(await dialog.getByRole("button", { name: "Reject" }).count(), 0);
    assert.equal(await page.getByText("It was decided while you wrote").count(), 0);
  });
});

describe("a server that goes away", () => {
  test("is said to be away; back again, the page is live and has missed nothing", async (t) => {
    const desk = await openDesk(t, { browser, define: openShop().define });
    const agent = await desk.agent("refunds");
    await askRefund(agent, 41);
    const ann = await desk.visit("person:ann");
    ann.faults.expect(
      /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET/,
    );
    await ann.open("/approvals");
    const rows = ann.page.getByRole("link", { name: /shop\.refund/ });
    await rows.first().waitFor();
    await desk.stop();
    await ann.page.getByText("Reconnecting").filter({ visible: true }).first().waitFor();
    assert.equal(await rows.count(), 1, "what was there is still shown");
    await desk.start();
    await askRefund(agent, 42);
    await isLive(ann.page);
    await rows.nth(1).waitFor();
  });
});

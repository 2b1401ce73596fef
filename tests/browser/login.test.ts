/** Getting in, and what nobody gets in by. */
import assert from "node:assert/strict";
import { after, describe, type TestContext, test } from "node:test";
import { endOf, openDesk, sharedBrowser } from "./desk.ts";
import { isLive } from "./visit.ts";

const browser = sharedBrowser(endOf({ after }));

describe("a login link", () => {
  test("works once, and leads to where one wanted to go", async (t) => {
    const desk = await openDesk(t, { browser });
    const link = await desk.link("person:ann");
    const ann = await desk.stranger();
    ann.faults.expect(/401/);
    await ann.page.goto(`${desk.url}/workflows?status=failed`);
    await ann.page.waitForURL(/\/login\?to=/);
    await ann.page.getByLabel("Your link").fill(`${desk.url}/login#${link}`);
    await ann.page.getByRole("button", { name: "Log in" }).click();
    await ann.page.waitForURL("**/workflows?status=failed");
    await isLive(ann.page);

    const second = await desk.stranger();
    second.faults.expect(/401/);
    await second.page.goto(`${desk.url}/login#${link}`);
    await second.page.getByRole("button", { name: "Log in" }).click();
    await second.page.getByText("The link is not valid, or no longer.").waitFor();
    assert.deepEqual(await second.context.cookies(), []);
  });
});

/** Ann at a card, about to find out that she is logged out. */
async function lookingAtCard(t: TestContext) {
  const desk = await openDesk(t, { browser });
  const agent = await desk.agent("payer");
  const asked = await agent.actions.propose({ tool: "bank.wire", args: { to: "somebody" } });
  assert.ok(asked.status === "pending" && asked.waiting_for === "approval");
  const ann = await desk.visit("person:ann");
  ann.faults.expect(/401/);
  await ann.open(`/approvals/${asked.approval_id}`);
  return { desk, ann, id: asked.approval_id };
}

describe("whoever is not logged in any more", () => {
  test("reads and decides nothing in another tab, and is told so in words for people", async (t) => {
    const { desk, ann } = await lookingAtCard(t);
    const other = await ann.context.newPage();
    await other.goto(`${desk.url}/settings?tab=you`);
    await other.getByRole("button", { name: "Log out", exact: true }).first().click();
    // Sooner than the stream would have told: that is 15 seconds at worst.
    await ann.page.waitForURL(/\/login\?out=1&to=%2Fapprovals%2F/, { timeout: 14_000 });
    await ann.page.getByText("You are not logged in any more.").waitFor();
  });

  test("is led to the login by the first answer that says so, and back", async (t) => {
    const { desk, ann, id } = await lookingAtCard(t);
    const refusal = { status: 401, contentType: "application/problem+json", body: "{}" };
    await ann.page.route("**/votes", (route) => route.fulfill(refusal));
    await ann.page.getByRole("button", { name: "Approve", exact: true }).click();
    await ann.page.waitForURL(/\/login\?out=1&to=/);
    assert.equal(await ann.page.getByText("Authorization").count(), 0);
    assert.equal((await desk.hp.approvals.get(id)).status, "pending");
    await ann.page.getByLabel("Your link").fill(await desk.link("person:ann"));
    await ann.page.getByRole("button", { name: "Log in" }).click();
    await ann.page.waitForURL(`**/approvals/${id}`);
  });
});

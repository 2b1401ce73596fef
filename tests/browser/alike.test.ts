/** What differs looks different: values of other kinds, and names that would read alike. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import type { Holdpoint } from "../../src/index.ts";
import { type Desk, endOf, openDesk, sharedBrowser } from "./desk.ts";

const browser = sharedBrowser(endOf({ after }));

const define = (hp: Holdpoint) => {
  hp.gate({ name: "two", policy: { verdict: "escalate", approvers: { quorum: 2 } }, run: () => ({}) });
};

async function ask(desk: Desk, args: object): Promise<string> {
  const answer = await (await desk.agent("mimic")).actions.propose({ tool: "two", args });
  return answer.status === "pending" && answer.waiting_for === "approval"
    ? answer.approval_id
    : assert.fail(answer.status);
}

describe("what differs looks different", () => {
  test("a number that became a text, and a name with a dot in it, in what has changed", async (t) => {
    const desk = await openDesk(t, { browser, define });
    await desk.link("person:ben");
    const id = await ask(desk, { amount: 40, who: null, "a.b": 1, a: { b: 2 } });
    const { page, open } = await desk.visit("person:ann");
    await open(`/approvals/${id}`);
    await page.getByRole("region", { name: "What will run" }).waitFor();
    const edit = { amount: "40", who: "null", "a.b": 3, a: { b: 4 } };
    await desk.hp.approvals.approve(id, { by: "person:ben", edit });
    const changes = page.getByRole("alert").getByRole("listitem");
    await changes.first().waitFor();
    const rows = (await changes.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, " ").trim());
    assert.deepEqual(rows, [
      "arguments.a.b − before: 2 + after: 4",
      'arguments."a.b" − before: 1 + after: 3',
      "arguments.amount − before: 40 + after: “40”",
      "arguments.who − before: null + after: “null”",
    ]);
  });

  test("fields of the form whose names would read alike are called as they are written", async (t) => {
    const desk = await openDesk(t, { browser, define });
    const id = await ask(desk, { amount_usd: 5, amountUsd: 5000, to: "bob" });
    const { page, open } = await desk.visit("person:ann");
    await open(`/approvals/${id}`);
    await page.getByRole("button", { name: "Modify" }).click();
    assert.equal(await page.getByLabel("amount_usd", { exact: true }).inputValue(), "5");
    assert.equal(await page.getByLabel("amountUsd", { exact: true }).inputValue(), "5000");
    assert.equal(await page.getByLabel("To", { exact: true }).inputValue(), "bob");
  });

  test("a name with letters of another alphabet is marked, on the card and in the form", async (t) => {
    const desk = await openDesk(t, { browser, define });
    const id = await ask(desk, { amount: 5, "\u0410mount": 5000 });
    const { page, open } = await desk.visit("person:ann");
    await open(`/approvals/${id}`);
    const marked = page.locator("dt", { hasText: "look-alike letters" });
    await marked.waitFor();
    assert.match(await marked.innerText(), /^\u0410mount/);
    await page.getByRole("button", { name: "Modify" }).click();
    assert.equal(await page.getByLabel("\u0410mount look-alike letters").inputValue(), "5000");
  });
});

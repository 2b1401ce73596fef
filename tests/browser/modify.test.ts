/** What people change before they approve, in the form that the tool's schema makes. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { z } from "zod";
import type { Holdpoint } from "../../src/index.ts";
import { axeFinds, bringAxe } from "./axe.ts";
import { endOf, openDesk, sharedBrowser } from "./desk.ts";
import { PHONE, WIDE } from "./visit.ts";

const browser = sharedBrowser(endOf({ after }));

const payment = z.object({
  memo: z.string().nullable(),
  until: z.union([z.number(), z.null()]),
  way: z.discriminatedUnion("by", [
    z.object({ by: z.literal("card"), number: z.string(), note: z.string() }),
    z.object({ by: z.literal("bank"), iban: z.string().min(2), note: z.string() }),
  ]),
  limits: z.record(z.string(), z.number()),
});

async function openPayment(t: { after(fn: () => Promise<void> | void): void }) {
  const paid: unknown[] = [];
  const define = (hp: Holdpoint) =>
    hp.gate({ name: "pay", input: payment, policy: "escalate", run: (args) => void paid.push(args) });
  const desk = await openDesk(t, { browser, define });
  const agent = await desk.agent("payer");
  const args = {
    ...{ memo: "for May", until: null, limits: { day: 100, night: 10 } },
    way: { by: "card", number: "4111", note: "soon" },
  };
  const answer = await agent.actions.propose({ tool: "pay", args });
  const [action, approval] =
    answer.status === "pending" && answer.waiting_for === "approval"
      ? [answer.action_id, answer.approval_id]
      : assert.fail(answer.status);
  return { desk, paid, approval, start: () => agent.actions.start(action, {}) };
}

const letter = z.looseObject({ to: z.string().toLowerCase(), amount: z.number() });

async function openLetter(t: { after(fn: () => Promise<void> | void): void }) {
  const sent: unknown[] = [];
  const define = (hp: Holdpoint) =>
    hp.gate({ name: "mail", input: letter, policy: "escalate", run: (args) => void sent.push(args) });
  const desk = await openDesk(t, { browser, define });
  const agent = await desk.agent("writer");
  const args = { to: "ann@x", amount: 40, bcc: "evil@x" };
  const answer = await agent.actions.propose({ tool: "mail", args });
  if (answer.status !== "pending" || answer.waiting_for !== "approval") assert.fail(answer.status);
  const { page, open } = await desk.visit("person:ann");
  await open(`/approvals/${answer.approval_id}`);
  await page.getByRole("button", { name: "Modify" }).click();
  return { page, sent, start: () => agent.actions.start(answer.action_id, {}) };
}

describe("the form of a change", () => {
  test("has fields for what may be nothing, for each kind, and for names; what is written so runs", async (t) => {
    const { desk, paid, approval, start } = await openPayment(t);
    const { page, open } = await desk.visit("person:ann");
    await open(`/approvals/${approval}`);
    await page.getByRole("button", { name: "Modify" }).click();
    assert.equal(await page.getByLabel(/\(JSON\)/).count(), 0, "nothing has to be written as JSON");
    await page.getByRole("checkbox", { name: "Memo: nothing (null)" }).check();
    await page.getByRole("checkbox", { name: "Until: nothing (null)" }).uncheck();
    await page.getByRole("textbox", { name: "Until" }).fill("7");
    await page.getByRole("combobox", { name: "By" }).selectOption("bank");
    const send = page.getByRole("button", { name: "Approve with changes" });
    await page.getByText("It does not fit what the tool takes.").waitFor();
    await page.getByLabel("IBAN").fill("CH93");
    assert.equal(
      await page.getByRole("textbox", { name: "Note", exact: true }).inputValue(),
      "soon",
      "what both kinds have is kept",
    );
    await page.getByRole("button", { name: "Leave out night" }).click();
    await page.getByLabel("Another name in Limits").fill("day");
    await page.getByText("There is day already.").waitFor();
    await page.getByLabel("Another name in Limits").fill("week");
    await page.getByLabel("Another name in Limits").press("Enter");
    await page.getByLabel("week", { exact: true }).fill("500");
    await page.getByText("It can be approved so.").waitFor();
    await send.click();
    await page.getByText("Approved with changes by ann.").waitFor();
    await start();
    assert.deepEqual(paid, [
      {
        memo: null,
        until: 7,
        way: { by: "bank", iban: "CH93", note: "soon" },
        limits: { day: 100, week: 500 },
      },
    ]);
  });

  test("does not show as removed what would run, and shows what the tool makes of the rest", async (t) => {
    const { page, sent, start } = await openLetter(t);
    await page.getByLabel(/\(JSON\)/).fill('{"to":"BOB@x","amount":30}');
    await page.getByText("What was proposed cannot be left out.").waitFor();
    await page.getByText("bcc: it stays, and would run.").waitFor();
    const send = page.getByRole("button", { name: "Approve with changes" });
    assert.ok(await send.isDisabled());
    const difference = page.getByRole("region", { name: "The difference" });
    await difference.getByText("As it would run, which is not quite what you wrote.").waitFor();
    assert.doesNotMatch(await difference.innerText(), /bcc|BOB/);
    await difference.getByText("bob@x").waitFor();
    await page.getByRole("button", { name: "Put back what stays" }).click();
    await page.getByText("It can be approved so.").waitFor();
    await send.click();
    await page.getByText("Approved with changes by ann.").waitFor();
    await start();
    assert.deepEqual(sent, [{ to: "bob@x", amount: 30, bcc: "evil@x" }]);
  });

  test("has one box for a value of very many parts, and folds very many changes", async (t) => {
    const input = z.object({ title: z.string(), limits: z.record(z.string(), z.number()) });
    const define = (hp: Holdpoint) => hp.gate({ name: "limit", input, policy: "escalate", run: () => ({}) });
    const desk = await openDesk(t, { browser, define });
    const limits = (by: number) =>
      Object.fromEntries(Array.from({ length: 600 }, (_, at) => [`k${at}`, at + by]));
    const agent = await desk.agent("limits");
    const answer = await agent.actions.propose({ tool: "limit", args: { title: "May", limits: limits(0) } });
    if (answer.status !== "pending" || answer.waiting_for !== "approval") return assert.fail(answer.status);
    const { page, open } = await desk.visit("person:ann");
    await open(`/approvals/${answer.approval_id}`);
    await page.getByRole("button", { name: "Modify" }).click();
    await page.getByRole("textbox", { name: "Title", exact: true }).waitFor();
    await page.getByLabel("Limits (JSON)").fill(JSON.stringify(limits(1)));
    const difference = page.getByRole("region", { name: "The difference" });
    await difference.getByRole("button", { name: "550 changes more: show all" }).click();
    await difference.getByText("100 changes after these, as JSON:").waitFor();
  });

  test("axe finds nothing in it", async (t) => {
    const { desk, approval } = await openPayment(t);
    for (const size of [WIDE, PHONE]) {
      const { page, open, context } = await desk.visit("person:ann", { size });
      await bringAxe(context);
      await open(`/approvals/${approval}`);
      await page.getByRole("button", { name: "Modify" }).click();
      await page.getByRole("combobox", { name: "By" }).waitFor();
      assert.deepEqual(await axeFinds(page, "all"), []);
    }
  });
});

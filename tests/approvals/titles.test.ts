/** The title of a tool: one line for people, wherever an action or its approval is listed, shown or told of. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { z } from "zod";
import type { Holdpoint } from "../../src/index.ts";
import { runCli } from "../cli/bench.ts";
import { FORBIDDEN } from "../cli/hostile.ts";
import { pendingApproval, temporaryFolder } from "../fixtures/folder.ts";

const ANN = { by: "person:ann" };
const TITLE = "Refund {amount_usd} to {customer.name}";
type Refund = { readonly amount_usd: number; readonly customer: { readonly name: string } };

const gated = (hp: Holdpoint, more: { readonly title?: string } = { title: TITLE }) =>
  hp.gate({ name: "refund", ...more, run: ({ amount_usd }: Refund) => amount_usd });

async function titlesOf(hp: Holdpoint, id: string, action: string) {
  const { items } = await hp.approvals.list({ status: "any" });
  const approval = await hp.approvals.get(id);
  const { phase, title } = await hp.actions.get(action);
  const rows = await hp.actions.list({ phase });
  return [items[0]?.["title"], approval.title, title, rows.items[0]?.["title"]];
}

describe("a tool's title", () => {
  test("has the arguments as they stand, in a process without the tool too", async (context) => {
    const folder = temporaryFolder(context);
    const [hp, other] = [folder.open(), folder.open()];
    const call = gated(hp)({ amount_usd: 900, customer: { name: "Ann" } }, { requestId: "r-1" });
    const id = await pendingApproval(hp);
    const { action: asked } = await hp.approvals.get(id);
    const action = asked ?? "";
    const before = "Refund 900 to Ann";
    assert.deepEqual(await titlesOf(other, id, action), [before, before, before, before]);
    const found = async (text: string) => (await other.approvals.list({ text })).items.length;
    assert.deepEqual([await found("refund 900 TO"), await found("Refund 40")], [1, 0]);
    await other.approvals.approve(id, { ...ANN, edit: { amount_usd: 40 } });
    assert.equal((await call).status, "done");
    const after = "Refund 40 to Ann";
    assert.deepEqual(await titlesOf(other, id, action), [after, after, after, after]);
    const [first] = await hp.journal.read(action);
    assert.equal((first?.body as { titleTemplate?: string } | null)?.titleTemplate, TITLE);
  });

  test("is not recorded where there is none: name and arguments stand for it", async (context) => {
    const hp = temporaryFolder(context).open();
    const args = { amount_usd: 900, customer: { name: "Ann" }, note: "x".repeat(300) };
    const answer = await gated(hp, {})(args, { waitMs: 0 });
    const id = await pendingApproval(hp);
    const title = `refund: amount_usd 900, note ${"x".repeat(39)}…`;
    assert.deepEqual(await titlesOf(hp, id, answer.action), [title, title, title, title]);
    for (const stream of [answer.action, id]) {
      const [first] = await hp.journal.read(stream);
      assert.ok(!JSON.stringify(first).includes("title"));
    }
  });

  test("is of declared tools as well", async (context) => {
    const hp = temporaryFolder(context).open();
    hp.remote.tool({ name: "ship", title: "Ship {boxes} boxes" });
    await hp.remote.propose({ tool: "ship", args: { boxes: 3 }, requestId: "s-1", agent: "agent:far" });
    assert.equal((await hp.approvals.get(await pendingApproval(hp))).title, "Ship 3 boxes");
    assert.throws(() => hp.remote.tool({ name: "sail", title: "Sail {" }), {
      code: "invalid_input",
      message: /The tool "sail" has a title with a single \{/,
    });
  });

  test("names each call in the timeline, and the call that an undo is for", async (context) => {
    const folder = temporaryFolder(context);
    const hp = folder.open();
    const run = () => "done";
    const book = hp.gate({ name: "book", title: "Book room {room}", policy: "approve", undo: run, run });
    const flow = hp.workflow("party", { checkpoints: [{ name: "Food" }] }, async (ctx, _: object) => {
      await ctx.call(book, { room: "A" });
      await ctx.checkpoint("Food", {});
    });
    const { id, result } = await flow.start({});
    await hp.approvals.reject(await pendingApproval(hp), { ...ANN, reason: "no party", final: true });
    await result();
    const titles = (await hp.workflows.timeline(id)).map(({ kind, title }) => [kind, title]);
    assert.deepEqual(
      titles.filter(([kind]) => kind === "call" || kind === "undo" || kind === "workflow"),
      [
        ["workflow", null],
        ["call", "Book room A"],
        ["undo", "Book room A"],
        ["workflow", null],
      ],
    );
    const { out } = await runCli(folder, ["show", id]);
    assert.match(out, /call {8}Book room A: applied, then undone/);
    assert.match(out, /undo {8}Book room A: undone/);
  });

  test("is in the terminal's list and on its card, however hostile the arguments are", async (context) => {
    const folder = temporaryFolder(context);
    const hp = folder.open();
    const name = "\u001b[2JAnn\n\nApproved\u202e";
    await gated(hp)({ amount_usd: 900, customer: { name } }, { waitMs: 0 });
    const id = await pendingApproval(hp);
    await hp.close();
    const shown = "Refund 900 to \\u001b[2JAnn\\n\\nApproved\\u202e";
    const list = await runCli(folder, ["approvals"]);
    assert.equal(list.out.trimEnd().split("\t").at(-1), shown);
    const card = await runCli(folder, ["show", id]);
    assert.ok(card.out.startsWith(`Approval ${id}  pending\n  │ ${shown}\n\nWhat will run`), card.out);
    for (const { out } of [list, card]) assert.doesNotMatch(out.replaceAll(/[\t\n]/g, ""), FORBIDDEN);
  });
});

describe("a template", () => {
  const input = z.object({ amount: z.number(), to: z.object({ name: z.string() }).optional() });

  test("is checked when the tool is defined, also against its schema", (context) => {
    const hp = temporaryFolder(context).open();
    const define = (title: string) => hp.gate({ name: "t", input, title, run: () => 1 });
    const refused = ["", "{", "{amount", "{amount_usd}", "{to.mail}", "x".repeat(201)];
    for (const title of refused) assert.throws(() => define(title), { code: "invalid_input" }, title);
    assert.throws(() => define("{amount_usd}"), {
      message: /The tool "t" has a title with \{amount_usd\}, a field that its input does not have/,
    });
    define("Pay {amount} to {to.name} {{now}}");
  });

  test("may name what a schema makes of its input, or does not know", (context) => {
    const hp = temporaryFolder(context).open();
    const cents = input.transform(({ amount }) => ({ cents: amount * 100 }));
    hp.gate({ name: "cents", input: cents, title: "Pay {cents}", run: () => 1 });
    hp.gate({ name: "loose", input: z.looseObject({ a: z.number() }), title: "{b}", run: () => 1 });
    hp.gate({ name: "any", title: "{b}", run: () => 1 });
  });
});

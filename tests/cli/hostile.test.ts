// What agents and people write never reaches the terminal as it came.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Holdpoint } from "../../src/index.ts";
import { type Folder, pendingApproval, temporaryFolder } from "../fixtures/folder.ts";
import { runCli } from "./bench.ts";
import { FORBIDDEN, HOSTILE } from "./hostile.ts";

const cleanups: (() => Promise<void>)[] = [];
const folder: Folder = temporaryFolder({ after: (work) => void cleanups.push(work as () => Promise<void>) });
const everything = HOSTILE.map((text) => text.slice(0, 300)).join(" | ");
const args = Object.fromEntries(HOSTILE.map((text, at) => [`p${at}`, text]));
const AGENT = "bad\u202egent\u200b";
let approval = "";
let effect = "";
const flow = { id: "", checkpoint: "", question: "" };
/** As long as a name may be, and without what it may not hold. */
const NAME = "che\u202eck\u001b[31m\u200bpoint 'n \"me";

/** A workflow whose every word is a stranger's. */
async function startFlow(hp: Holdpoint): Promise<void> {
  const ask = hp.workflow("hostile", { description: everything }, async (ctx) => {
    ctx.log(everything.slice(0, 9_000));
    await ctx
      .step("fails", () => {
        throw new Error(everything);
      })
      .catch(() => undefined);
    const options = { suggestion: { text: everything } };
    const captured = {
      outputs: args,
      summary: everything,
      decisionNeeded: everything,
      context: args,
      trace: [everything],
    };
    await ctx.parallel([
      (one) => one.ask("que\u202estion", everything.slice(0, 9_000), options),
      (one) => one.checkpoint(NAME, captured),
    ]);
  });
  flow.id = (await ask.start({ said: everything })).id;
  await pendingApproval(hp, 2);
  const { items } = await hp.approvals.list();
  flow.checkpoint = items.find((item) => item["about"] === "checkpoint")?.id ?? "";
  flow.question = items.find((item) => item["about"] === "question")?.id ?? "";
}

before(async () => {
  const hp = folder.open({ agent: AGENT });
  const ask = hp.gate({
    name: "ask",
    policy: { verdict: "escalate", approvers: { quorum: 3 }, rule: "r\u202e", reason: "why\u001b[31m\nnot" },
    run: () => everything,
  });
  const answer = await ask(args, { requestId: "id\u202e\u001b[2J", waitMs: 0, rationale: everything });
  approval = answer.status === "pending" ? (answer.approval ?? "") : "";
  await hp.approvals.approve(approval, { by: "person:ann", note: everything.slice(0, 9_000) });
  const doubt = hp.gate({
    name: "doubt",
    policy: "approve",
    run: () => {
      throw new Error(everything);
    },
  });
  const lost = await doubt({ "ke\u202ey\n": everything }, { requestId: "d-1" });
  effect = lost.status === "in_doubt" ? lost.effect : "";
  const applied = hp.gate({ name: "applied", policy: "approve", run: () => ({ said: everything }) });
  await applied({}, { requestId: "a-1" });
  await startFlow(hp);
  await hp.pause({ by: "person:e\u202eve", reason: "stop\u001b[31m\u200b\nnow" });
  await hp.close();
});
after(async () => {
  for (const work of cleanups) await work();
});

const COMMANDS: readonly (() => readonly string[])[] = [
  () => ["welcome"],
  () => ["approvals"],
  () => ["show", approval],
  () => ["show", approval, "--full"],
  () => ["show", "a-1", "--full"],
  () => ["show", effect, "--full"],
  () => ["journal", approval, "--full"],
  () => ["journal", effect],
  () => ["in-doubt"],
  () => ["receipt", effect],
  () => ["workflows"],
  () => ["workflows", "--json"],
  () => ["show", flow.id],
  () => ["show", flow.id, "--full"],
  () => ["show", flow.id, "--json"],
  () => ["show", flow.id, "--checkpoint", NAME, "--full"],
  () => ["show", flow.id, "--checkpoint", "no\u202esuch"],
  () => ["show", flow.id, "--at", "\u202e\u009b31m"],
  () => ["show", flow.checkpoint, "--full"],
  () => ["show", flow.question, "--full"],
  () => ["journal", flow.id],
  () => ["answer", flow.question, "\u202e\u009b31m"],
  () => ["fork", flow.id, "--at", "\u202e\u009b31m"],
  () => ["approvals", "--json"],
  () => ["show", approval, "--json"],
  () => ["journal", effect, "--json"],
  () => ["in-doubt", "--json"],
  () => ["pause", "--reason", "again"],
  () => ["approve", approval.slice(0, 12), "--edit", '{"p1":"\u202e\u009b31m"'],
  () => ["approve", approval, "--note", "fine\u202e\u009b31m"],
];

describe(`${HOSTILE.length} hostile texts in arguments, words, notes, errors, rules and names`, () => {
  test("are shown, never obeyed, by every command", async () => {
    for (let at = 0; at < COMMANDS.length; at += 4) {
      const lines = COMMANDS.slice(at, at + 4).map((line) => line());
      for (const [index, { out, err }] of (
        await Promise.all(lines.map((line) => runCli(folder, line)))
      ).entries()) {
        const name = lines[index]?.join(" ");
        assert.ok(out.length + err.length > 0, name);
        assert.doesNotMatch(out.replaceAll("\t", ""), FORBIDDEN, name);
        assert.doesNotMatch(err, FORBIDDEN, name);
      }
    }
  });

  test("a line of a stranger cannot pass for one of the card", async () => {
    const { out } = await runCli(folder, ["show", approval, "--full"]);
    const fake = out.split("\n").filter((line) => /^( {2})?(Who decides|Approved:|votes +2 of 2)/.test(line));
    assert.deepEqual(fake, ["Who decides"]);
    const own = /^(?:$|\S| {2}(?:│ |as canonical JSON|npx |result$|[a-z ]{2,12} |\s{12}))/;
    for (const line of out.split("\n")) assert.match(line, own);
  });

  test("nor for one of a checkpoint's or a question's card", async () => {
    const own =
      /^(?:$|\S| {2}(?:│ |as canonical JSON|npx |! |What it did|Then it|With --final|The workflow|[a-z ]{2,12}$|[a-z ]{2,12} |\s{12}))/;
    for (const id of [flow.checkpoint, flow.question]) {
      const { out } = await runCli(folder, ["show", id, "--full"]);
      for (const line of out.split("\n")) assert.match(line, own);
      const heads = out.split("\n").filter((line) => /^(?:Who decides|Approved:)/.test(line));
      assert.deepEqual(heads, ["Who decides"]);
    }
  });

  test("JSON reads back as what was sent", async () => {
    const { out } = await runCli(folder, ["show", approval, "--json"]);
    const card = JSON.parse(out) as { approval: { args: unknown; rationale: string; agent: string } };
    assert.deepEqual(card.approval.args, args);
    assert.equal(card.approval.rationale, everything);
    assert.equal(card.approval.agent, `agent:${AGENT}`);
  });
});

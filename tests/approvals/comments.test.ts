/** Asking for more before a decision, through the library: who may, and what becomes of it. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isHoldpointError, type Remark, secret } from "../../src/index.ts";
import { journalText, machine, type Process, pendingOf } from "../fixtures/runtime.ts";

const ANN = "person:ann";
const from = (...people: string[]) => ({ verdict: "escalate", approvers: { from: people } }) as const;

function asking(hp: Process, people = [ANN]) {
  const tool = hp.gate({ name: "deploy", policy: from(...people), run: (_: object) => "done" });
  return { call: (args: object = {}) => tool(args, { requestId: "r" }), id: () => pendingOf(hp) };
}

describe("a comment", () => {
  test("is asked by a person, answered by the agent, and the call goes on waiting until somebody decides", async () => {
    const hp = machine().process();
    const { call, id } = asking(hp);
    const answer = call();
    const approval = await id();
    const { binding } = await hp.approvals.get(approval);
    await hp.approvals.comment(approval, { by: ANN, text: "which version?" });
    await hp.approvals.comment(approval, { by: "agent:tester", text: "1.4", via: "cli" });
    const now = await hp.approvals.get(approval);
    assert.deepEqual(
      now.comments.map(({ by, text, via }) => [by, text, via]),
      [
        [ANN, "which version?", "embedded"],
        ["agent:tester", "1.4", "cli"],
      ],
    );
    assert.deepEqual([now.status, now.binding, now.votes], ["pending", binding, []]);
    await hp.approvals.approve(approval, { by: ANN, binding, shown: "0a".repeat(32) });
    assert.equal((await answer).status, "done");
    const after = await hp.approvals.get(approval);
    assert.deepEqual([after.comments.length, after.votes[0]?.shown], [2, "0a".repeat(32)]);
    await hp.close();
  });

  test("has a category where its author chose one, and the journal keeps it", async () => {
    const hp = machine().process();
    const { call, id } = asking(hp);
    const answer = call();
    const approval = await id();
    await hp.approvals.comment(approval, { by: ANN, text: "which version?", category: "question" });
    await hp.approvals.comment(approval, { by: ANN, text: "never mind" });
    const { comments } = await hp.approvals.get(approval);
    assert.deepEqual(
      comments.map((one) => ("category" in one ? one.category : "none")),
      ["question", "none"],
    );
    assert.match(await journalText(hp), /"category":"question"/);
    await assert.rejects(
      hp.approvals.comment(approval, { by: ANN, text: "?", category: "urgent" as "note" }),
      (error) => isHoldpointError(error, "invalid_input") && /A category is one of/.test(error.message),
    );
    await hp.approvals.reject(approval, { by: ANN, reason: "no" });
    await answer;
    await hp.close();
  });

  test("with a secret's value that ends in a newline is left out too, though the text is kept without blanks around it", async () => {
    const hp = machine().process({ environment: { TOKEN: "hush-4711\n" } });
    const { call, id } = asking(hp);
    const answer = call({ token: secret("env:TOKEN") });
    const approval = await id();
    await hp.approvals.comment(approval, { by: ANN, text: "the hush-4711\n" });
    await hp.approvals.reject(approval, { by: ANN, reason: "not hush-4711\n" });
    await answer;
    assert.doesNotMatch(await journalText(hp), /hush-4711/);
    await hp.close();
  });

  test("with a secret's value in it is left out whole, so that nobody learns where it stood", async () => {
    const hp = machine().process({ environment: { TOKEN: "hush-4711" } });
    const { call, id } = asking(hp);
    const answer = call({ token: secret("env:TOKEN") });
    const approval = await id();
    await hp.approvals.comment(approval, { by: ANN, text: "is hush-4711 the right one?" });
    const { comments } = await hp.approvals.get(approval);
    assert.deepEqual(
      comments.map(({ text }) => text),
      ["[left out: the value of a secret stood in this text]"],
    );
    assert.doesNotMatch(await journalText(hp), /hush-4711|the right one/);
    await hp.approvals.reject(approval, { by: ANN, reason: "no" });
    await answer;
    await hp.close();
  });

  for (const [what, remark, code] of [
    ["from somebody whom nobody asked", { by: "person:zoe", text: "?" }, "not_eligible"],
    ["from another agent", { by: "agent:other", text: "?" }, "not_eligible"],
    ["without words", { by: ANN, text: "  " }, "invalid_input"],
    ["from nobody", { by: "ann", text: "?" }, "invalid_input"],
    ["that is too long", { by: ANN, text: "x".repeat(10_001) }, "payload_too_large"],
    ["with a field that there is not", { by: ANN, text: "?", reason: "?" }, "invalid_input"],
  ] as const)
    test(`${what} is ${code}`, async () => {
      const hp = machine().process();
      const { call, id } = asking(hp);
      void call().catch(() => undefined);
      const approval = await id();
      await assert.rejects(hp.approvals.comment(approval, remark as Remark), (error) =>
        isHoldpointError(error, code),
      );
      assert.deepEqual((await hp.approvals.get(approval)).comments, []);
      hp.crash();
    });

  test("on what is decided, and on what is not there, says so", async () => {
    const hp = machine().process();
    const { call, id } = asking(hp);
    const answer = call();
    const approval = await id();
    await hp.approvals.reject(approval, { by: ANN, reason: "no" });
    await answer;
    const late = hp.approvals.comment(approval, { by: ANN, text: "why?" });
    await assert.rejects(late, (error) => isHoldpointError(error, "wrong_state"));
    const nowhere = hp.approvals.comment("apr_0", { by: ANN, text: "why?" });
    await assert.rejects(nowhere, (error) => isHoldpointError(error, "unknown_id"));
    await hp.close();
  });
});

test("what was shown has to be a digest", async () => {
  const hp = machine().process();
  const { call, id } = asking(hp);
  void call().catch(() => undefined);
  const approval = await id();
  for (const shown of ["0a", "z".repeat(64), 7 as unknown as string]) {
    await assert.rejects(hp.approvals.approve(approval, { by: ANN, shown }), /64 hexadecimal digits/);
    await assert.rejects(
      hp.approvals.reject(approval, { by: ANN, reason: "no", shown }),
      /64 hexadecimal digits/,
    );
  }
  hp.crash();
});

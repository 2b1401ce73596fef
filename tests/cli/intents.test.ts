// Intents from a terminal: people send, look at, answer and take them back.
import assert from "node:assert/strict";
import { userInfo } from "node:os";
import { describe, test } from "node:test";
import { temporaryFolder } from "../fixtures/folder.ts";
import { linesOf, runCli } from "./bench.ts";

const ME = `person:${userInfo().username}`;
const SEND = ["intents", "send", "--type", "task", "--to", "agent://doer", "--payload", '{"sort": "mail"}'];

describe("intents", () => {
  test("are sent, listed, answered in the recipient's place, and shown with their life cycle", async (t) => {
    const folder = temporaryFolder(t);
    const hp = folder.open();
    await hp.intents.list();
    const sent = await runCli(folder, SEND);
    assert.equal(sent.code, 0, sent.err);
    const id = /^intent_id: (int_\w+)$/m.exec(sent.out)?.[1] ?? "";
    const list = await runCli(folder, ["intents", "--to", "agent://doer"]);
    assert.deepEqual(linesOf(list.out)[0]?.split("\t").slice(0, 5), [
      id,
      "CREATED",
      "task",
      ME,
      "agent:doer",
    ]);
    const answered = await runCli(folder, ["intents", "answer", id, "--result", '{"sorted": 3}']);
    assert.equal(answered.code, 0, answered.err);
    assert.match(answered.out, /^lifecycle_status: COMPLETED$/m);
    const got = await runCli(folder, ["intents", "get", id.slice(0, -1)]);
    assert.equal(got.code, 0, got.err);
    assert.match(got.out, /^lifecycle_status: COMPLETED$/m);
    assert.match(got.out, /"sorted":3/);
    const json = JSON.parse((await runCli(folder, ["intents", "get", id, "--json"])).out) as object;
    assert.partialDeepStrictEqual(json, { lifecycle_status: "COMPLETED", from: ME });
    const late = await runCli(folder, ["intents", "cancel", id, "--reason", "no"]);
    assert.equal(late.code, 1);
    assert.match(late.err, /it is completed already/);
  });

  test("that people are to approve show their card, and are answered by a decision", async (t) => {
    const folder = temporaryFolder(t);
    const hp = folder.open({ agent: "deployer" });
    const { id, approval } = await hp.intents.send({
      intentType: "human_approval",
      toAgent: "agent://approver",
      payload: { task: "Deploy model v2.3", risk_level: "high" },
    });
    const card = await runCli(folder, ["show", approval ?? ""]);
    assert.match(card.out, /An agent asks for approval/);
    assert.match(card.out, /its own words[\s\S]*Deploy model v2\.3 \(risk level: high\)/);
    const rejected = await runCli(folder, ["reject", approval ?? "", "--reason", "not today"]);
    assert.equal(rejected.code, 0, rejected.err);
    assert.match(rejected.out, new RegExp(`The intent ${id} has its answer`));
    const got = await runCli(folder, ["intents", "get", id]);
    assert.match(got.out, /^lifecycle_status: COMPLETED$/m);
    assert.match(got.out, /"approved":false/);
    const journal = await runCli(folder, ["journal", id]);
    assert.match(journal.out, /intent\.sent[\s\S]*approval\.requested[\s\S]*intent\.completed/);
  });

  test("wrong lines are told what is wrong with them", async (t) => {
    const folder = temporaryFolder(t);
    await folder.open().intents.list();
    for (const [line, words] of [
      [["intents", "burn"], /There is no "intents burn"/],
      [["intents", "send", "--to", "agent://x"], /needs --type/],
      [["intents", "list", "--result", "1"], /--result does not go with/],
      [
        ["intents", "send", "--type", "human_approval", "--to", "agent://x"],
        /is not the address of people who approve/,
      ],
    ] as const) {
      const answer = await runCli(folder, line);
      assert.notEqual(answer.code, 0);
      assert.match(answer.err, words);
    }
  });
});

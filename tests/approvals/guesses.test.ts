/** Guessing a secret with what people may write about an action: it takes longer than anybody has. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { z } from "zod";
import { tryEdit } from "../../src/approvals/try-edit.ts";
import { isHoldpointError, secret } from "../../src/index.ts";
import { journalText, machine, type Process, pendingOf } from "../fixtures/runtime.ts";

const ANN = "person:ann";
const PIN = "739154";
const LEFT_OUT = "[left out: the value of a secret stood in this text]";
const BEYOND = /^\[left out: within an hour, too much was written/;

async function asked(hp: Process, pin: string = secret("env:PIN")): Promise<string> {
  const input = z.object({ pin: z.string(), note: z.string() });
  const policy = { verdict: "escalate", approvers: { from: [ANN] } } as const;
  const tool = hp.gate({ name: "vault", input, policy, run: () => 1 });
  void tool({ pin, note: "x" }, { requestId: "r" }).catch(() => undefined);
  return pendingOf(hp);
}

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "ok",
    (error) => (isHoldpointError(error) ? error.code : String(error)),
  );

const digits = (count: number, from = 0) =>
  Array.from({ length: Math.ceil(count / 6) }, (_, at) => String(from + at).padStart(6, "0"))
    .join("")
    .slice(0, count);

function opened() {
  const place = machine();
  const hp = place.process({ environment: { PIN } });
  const tryNote = (id: string, note: string) => codeOf(tryEdit(hp.runtime, id, { edit: { note }, by: ANN }));
  return { place, hp, tryNote };
}

describe("a secret of an action", () => {
  test("is not found by long texts: wrong guesses are counted as well", async () => {
    const { place, hp, tryNote } = opened();
    const id = await asked(hp);
    assert.equal(await tryNote(id, digits(400_000)), "payload_too_large");
    assert.equal(await tryNote(id, digits(50_000)), "ok");
    assert.equal(await tryNote(id, digits(50_000, 50_000)), "rate_limited");
    assert.equal(await codeOf(hp.approvals.comment(id, { by: ANN, text: digits(9_000) })), "rate_limited");
    await place.clock.jump(3_600_000);
    assert.equal(await tryNote(id, digits(50_000, 50_000)), "ok");
    await hp.close();
  });

  test("is not found by many tries at once: they are counted before they are looked at", async () => {
    const { hp, tryNote } = opened();
    const id = await asked(hp);
    const answers = await Promise.all(Array.from({ length: 60 }, (_, at) => tryNote(id, `${at} ${PIN}`)));
    assert.equal(answers.filter((code) => code === "secret_transformed").length, 9);
    assert.equal(answers.filter((code) => code === "rate_limited").length, 51);
    await hp.close();
  });

  test("is found in no note, reason or comment, and one count is for all of them and for every approval", async () => {
    const { hp, tryNote } = opened();
    const id = await asked(hp);
    for (let time = 0; time < 4; time++)
      await hp.approvals.comment(id, { by: ANN, text: `perhaps ${PIN}, number ${time}` });
    for (let time = 0; time < 5; time++)
      assert.equal(await tryNote(id, `${time} ${PIN}`), "secret_transformed");
    assert.equal(await tryNote(id, `again ${PIN}`), "rate_limited");
    const { comments } = await hp.approvals.get(id);
    assert.deepEqual(new Set(comments.map(({ text }) => text)), new Set([LEFT_OUT]));
    assert.ok(!(await journalText(hp)).includes(PIN));
    await hp.close();
  });

  test("keeps nobody from saying no: only the words are left out", async () => {
    const { hp } = opened();
    const id = await asked(hp);
    for (let time = 0; time < 5; time++)
      await hp.approvals.comment(id, { by: ANN, text: digits(10_000, time * 10_000) });
    await hp.approvals.reject(id, { by: ANN, reason: `${digits(9_000)}` });
    const { votes } = await hp.approvals.get(id);
    assert.match(String(votes[0]?.note), BEYOND);
    await hp.close();
  });

  test("costs nothing to whoever types on, and nobody is counted where there is none", async () => {
    const { hp, tryNote } = opened();
    const id = await asked(hp);
    const text = digits(5_000);
    for (let end = 4_000; end < 5_000; end += 5) assert.equal(await tryNote(id, text.slice(0, end)), "ok");
    await hp.close();
    const open = opened();
    const plain = await asked(open.hp, "4711");
    for (let time = 0; time < 3; time++) assert.equal(await open.tryNote(plain, digits(400_000, time)), "ok");
    await open.hp.close();
  });

  test("costs nothing where the act was refused: later words of the same person are kept", async () => {
    const { hp } = opened();
    const id = await asked(hp);
    for (let at = 0; at < 12; at++)
      await codeOf(hp.approvals.approve(id, { by: ANN, binding: "0".repeat(64), note: `${at} ${PIN}` }));
    await hp.approvals.comment(id, { by: ANN, text: "fine" });
    assert.deepEqual(
      (await hp.approvals.get(id)).comments.map(({ text }) => text),
      ["fine"],
    );
    await hp.close();
  });

  test("is not found by who may not act: a refusal answers a right guess as it answers a wrong one", async () => {
    const { hp } = opened();
    const id = await asked(hp);
    const tries = async (by: string, text: (at: number) => string) => {
      const answers: string[] = [];
      for (let at = 0; at < 12; at++) {
        answers.push(await codeOf(hp.approvals.delegate(id, { by, to: ANN, reason: text(at) })));
        answers.push(await codeOf(hp.approvals.approve(id, { by, note: text(at) })));
        answers.push(await codeOf(hp.approvals.comment(id, { by, text: text(at) })));
      }
      return answers;
    };
    const right = await tries("person:eve", (at) => `${10 + at} ${PIN}`);
    const wrong = await tries("person:mal", (at) => `${10 + at} 000000`);
    assert.deepEqual(right, wrong);
    assert.deepEqual([...new Set(right)], ["not_eligible"]);
    await hp.close();
  });
});

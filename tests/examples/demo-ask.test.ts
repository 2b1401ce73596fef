import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { askPerson, readValue } from "../../examples/demos/demo.ts";
import { createTerminal } from "../../src/cli/shell/terminal.ts";

const outputs = { pizzas: 100, note: "large", toppings: ["ham"] };

const lines: string[] = [];

const terminal = { ...createTerminal(process), line: (text = "") => void lines.push(text) };

/** A person who types these lines; being asked once more is an error. */
function typing(...typed: string[]) {
  return async (question: string): Promise<string> =>
    typed.shift() ?? assert.fail(`nothing was left to type at: ${question}`);
}

describe("a reviewer at the terminal", () => {
  test("approves, by letter or word, after something that was no choice", async () => {
    assert.deepEqual(await askPerson(terminal, { outputs }, typing("", "what", "Approve")), {
      kind: "approve",
      note: "",
    });
  });

  test("modifies some fields and leaves others as they are", async () => {
    const choice = await askPerson(terminal, { outputs }, typing("m", "10", "", '["ham","egg"]', "less"));
    assert.deepEqual(choice, {
      kind: "modify",
      edit: { pizzas: 10, toppings: ["ham", "egg"] },
      note: "less",
    });
  });

  test("is asked again for a value of another kind", async () => {
    const choice = await askPerson(terminal, { outputs }, typing("m", "ten", "10", "", "", ""));
    assert.deepEqual(choice, { kind: "modify", edit: { pizzas: 10 }, note: "" });
    assert.ok(lines.some((line) => line.includes("not a number")));
  });

  test("who changes nothing has not decided yet", async () => {
    const choice = await askPerson(terminal, { outputs }, typing("m", "", "", "", "a"));
    assert.equal(choice.kind, "approve");
  });

  test("gives a reason for a rejection, and says whether it is for good", async () => {
    const again = await askPerson(terminal, { outputs }, typing("r", "", "too many", "perhaps", "y"));
    assert.deepEqual(again, { kind: "reject", reason: "too many", final: false });
    const never = await askPerson(terminal, { outputs }, typing("reject", "no", "n"));
    assert.deepEqual(never, { kind: "reject", reason: "no", final: true });
  });

  test("types text as it is, and other values as JSON of the same kind", () => {
    assert.equal(readValue("large", "12"), "12");
    assert.equal(readValue(1, "2"), 2);
    assert.equal(readValue(1, '"2"'), undefined);
    assert.equal(readValue([], "{}"), undefined);
    assert.equal(readValue(true, "no"), undefined);
  });
});

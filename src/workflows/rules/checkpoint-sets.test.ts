import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isHoldpointError } from "../../kernel/errors.ts";
import { checkCheckpoints } from "./check-checkpoints.ts";
import { adaptiveCheckpoints, type CheckpointSets, checkpointNamed, chosenSet } from "./checkpoints.ts";

const named = (...names: readonly string[]) => names.map((name) => ({ name }));
const namesOf = (set: { readonly checkpoints: readonly { readonly name: string }[] }) =>
  set.checkpoints.map(({ name }) => name);
const usd = (whole: bigint) => ({ currency: "USD", micros: whole * 1_000_000n });

describe("the chosen set", () => {
  const sets: CheckpointSets = {
    simple: { checkpoints: named("final"), escrow: usd(5n) },
    complex: { checkpoints: named("plan", "final") },
  };

  test("of a plain list is all of it, however complex the task", () => {
    const list = named("a", "b");
    assert.deepEqual(chosenSet(list, "simple"), { checkpoints: list, leftOut: [] });
    assert.deepEqual(chosenSet(list), { checkpoints: list, leftOut: [] });
  });

  test("is that of the task's complexity, and names what it leaves out", () => {
    const set = chosenSet(sets, "simple");
    assert.deepEqual(set, { ...sets.simple, leftOut: ["plan"] });
    assert.equal(checkpointNamed(set, "plan"), "left_out");
    assert.deepEqual(checkpointNamed(set, "final"), { name: "final" });
    assert.equal(checkpointNamed(set, "other"), undefined);
  });

  test("is the one with most supervision when nobody says how complex the task is", () => {
    assert.deepEqual(chosenSet(sets), { ...sets.complex, leftOut: [] });
    assert.deepEqual(namesOf(chosenSet({ simple: { checkpoints: named("x") } })), ["x"]);
  });

  for (const complexity of ["medium", "hard", "toString"])
    test(`is refused for "${complexity}", which is not declared, and the error names those that are`, () => {
      assert.throws(
        () => chosenSet(sets, complexity),
        (error) =>
          isHoldpointError(error, "invalid_input") && error.what.includes("there are simple, complex"),
      );
    });
});

describe("adaptive checkpoints", () => {
  const all = named("planning", "execution", "quality", "final");

  test("are the last for a simple task, halfway and last for a medium one, four for a complex one", () => {
    const { simple, medium, complex } = adaptiveCheckpoints(all);
    assert.deepEqual(namesOf(simple), ["final"]);
    assert.deepEqual(namesOf(medium), ["execution", "final"]);
    assert.deepEqual(complex.checkpoints, all);
    assert.deepEqual(namesOf(adaptiveCheckpoints(named("a", "b", "c")).medium), ["b", "c"]);
  });

  test("lock 50, 100 and 100 USD", () => {
    const { simple, medium, complex } = adaptiveCheckpoints(all);
    assert.deepEqual([simple.escrow, medium.escrow, complex.escrow], [usd(50n), usd(100n), usd(100n)]);
  });

  for (let length = 0; length <= 12; length++)
    test(`of ${length} have at most 1, 2 and 4, in order, the last one among them`, () => {
      const list = named(...Array.from({ length }, (_, index) => `c${index}`));
      for (const [complexity, most] of [
        ["simple", 1],
        ["medium", 2],
        ["complex", 4],
      ] as const) {
        const cut = adaptiveCheckpoints(list)[complexity].checkpoints;
        assert.equal(cut.length, Math.min(most, length));
        assert.deepEqual(
          cut,
          list.filter((one) => cut.includes(one)),
        );
        assert.equal(cut.at(-1), list.at(-1));
      }
    });

  test("pass the check of declared checkpoints", () => {
    assert.deepEqual(checkCheckpoints(adaptiveCheckpoints(all)), adaptiveCheckpoints(all));
  });

  test("are refused for what is not a list", () => {
    assert.throws(() => adaptiveCheckpoints(undefined as never), /takes a list of checkpoints/);
  });
});

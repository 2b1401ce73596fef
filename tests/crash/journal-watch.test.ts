import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { GENESIS, makeEntry } from "../../src/journal/entry.ts";
import type { JournalEntry, Store } from "../../src/stores/store.ts";
import { checkBudget, checkViews } from "./full-check.ts";
import { watchJournal } from "./journal-watch.ts";
import { BUDGET } from "./tools.ts";

/** Limits of one budget, chained. */
function limits(...micros: readonly number[]): JournalEntry[] {
  const entries: JournalEntry[] = [];
  for (const [index, amount] of micros.entries()) {
    const place = {
      tenant: "default",
      stream: `budget/${BUDGET}`,
      seq: index + 1,
      at: 1_000 + index,
      prev: entries.at(-1)?.hash ?? GENESIS,
    };
    const body = { currency: "USD", micros: String(amount), by: "agent:a" };
    const event = { type: "budget.limited", tv: 1, body };
    entries.push({ ...makeEntry(place, event, "00".repeat(16)), position: index + 1 });
  }
  return entries;
}

/** As much of a store as a reader of the journal needs. */
function storeOf(entries: readonly JournalEntry[], rows: readonly object[] = []): Store {
  return {
    log: async (_tenant: string, after: number, limit: number) =>
      entries.filter(({ position }) => position > after).slice(0, limit),
    query: async (_tenant: string, { view }: { view: string }) => (view === "actions" ? rows : []),
  } as unknown as Store;
}

describe("a journal that is read as it grows", () => {
  test("is sound, and known by its fold", async () => {
    const watch = watchJournal();
    assert.deepEqual(await watch.look(storeOf(limits(1, 2))), []);
    assert.deepEqual(await watch.look(storeOf(limits(1, 2, 3))), []);
    assert.equal(watch.budgets.get(BUDGET)?.limit?.micros, 3n);
    assert.equal(watch.entries(), 3);
  });

  test("is missed at its end when a crash has taken that back", async () => {
    const watch = watchJournal();
    await watch.look(storeOf(limits(1, 2, 3)));
    assert.deepEqual(await watch.look(storeOf(limits(1, 2))), ["the entry at position 3 is gone"]);
  });

  test("is missed when its end was written again with something else", async () => {
    const watch = watchJournal();
    await watch.look(storeOf(limits(1, 2, 3)));
    assert.deepEqual(await watch.look(storeOf(limits(1, 2, 4))), ["the entry at position 3 is gone"]);
  });

  test("is refused when an entry does not follow the one before", async () => {
    const [first, , third] = limits(1, 2, 3) as [JournalEntry, JournalEntry, JournalEntry];
    await assert.rejects(watchJournal().look(storeOf([first, third])), { code: "store_corrupt" });
  });

  test("is found fault with when a body is not the one that was hashed", async () => {
    const [first] = limits(1) as [JournalEntry];
    const forged = { ...first, body: (first.body ?? "").replace('"1"', '"9"') };
    const found = await watchJournal().look(storeOf([forged]));
    assert.deepEqual(found, ["body_mismatch: The body is not the one the header was made for."]);
  });
});

describe("a store at rest", () => {
  const action = { phase: "applied", effect: { costs: [{}] } };

  test("is found fault with when its budget does not add up", async () => {
    const watch = watchJournal();
    await watch.look(storeOf(limits(5_000_000)));
    assert.deepEqual(checkBudget(watch), []);
    watch.actions.set("act_1", action as never);
    assert.deepEqual(checkBudget(watch), ["the budget spent 0 and effects took 1000000"]);
  });

  test("is found fault with when a list shows what the journal does not say", async () => {
    const watch = watchJournal();
    const row = { stream: { kind: "action", id: "act_9" }, bucket: "applied", at: 1, data: {} };
    assert.deepEqual(await checkViews(storeOf([], []), watch), []);
    assert.deepEqual(await checkViews(storeOf([], [row]), watch), ["actions: 1 rows for 0 streams"]);
  });
});

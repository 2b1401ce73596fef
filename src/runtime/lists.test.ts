/** Pages of rows on the memory store: what a filter leaves, and how far one request looks. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createMemoryDatabase } from "../stores/memory/database.ts";
import { openMemoryStore } from "../stores/memory/open.ts";
import type { Store, ViewRow } from "../stores/store.ts";
import {
  CONTRACT_FOLDS,
  CONTRACT_PROJECTIONS,
  count,
  randomOf,
  START,
  TENANT,
} from "../testing/store-contract/fixture.ts";
import { MOST_SCANNED, type RowPage, rowPage } from "./lists.ts";

const idOf = (number: number) => `act_${String(number).padStart(26, "0")}`;

/** So many rows, each a millisecond after the other. */
async function filled(many: number): Promise<{ readonly store: Store; readonly tenant: string }> {
  let now = START;
  const random = randomOf(7);
  const clock = { now: () => now++ };
  const database = createMemoryDatabase({
    folds: CONTRACT_FOLDS,
    projections: CONTRACT_PROJECTIONS,
    clock,
    random,
  });
  const store = openMemoryStore(database);
  for (let number = 0; number < many; number++) await count(store, idOf(number), { number });
  return { store, tenant: TENANT };
}

const numberOf = ({ data }: ViewRow): number => Number((data["said"] as { number: number }).number);
const numbers = ({ rows }: RowPage): readonly number[] => rows.map(numberOf);
const list = { view: "tallies", kind: "action", prefix: "act", limit: 3 } as const;

describe("a page of rows", () => {
  for (const order of ["oldest", "newest"] as const)
    test(`that leaves some out goes on where the one before ended, ${order} first`, async () => {
      const place = await filled(40);
      const isFit = async (row: ViewRow) => numberOf(row) % 5 === 2;
      const met: number[] = [];
      let after: string | undefined;
      for (let pages = 0; pages < 20; pages++) {
        const page = await rowPage(place, { ...list, order, after }, isFit);
        assert.ok(page.rows.length <= list.limit);
        met.push(...numbers(page));
        if (page.next === null) break;
        after = page.next;
      }
      const all = [2, 7, 12, 17, 22, 27, 32, 37];
      assert.deepEqual(met, order === "oldest" ? all : all.toReversed());
    });

  test("that is just full is the last one if nothing more fits", async () => {
    const place = await filled(20);
    const page = await rowPage(
      place,
      { ...list, order: "oldest", after: undefined },
      async (row) => numberOf(row) < 3,
    );
    assert.deepEqual(numbers(page), [0, 1, 2]);
    assert.equal(page.next, null);
  });

  test("of what is rare ends after so many rows, and lets others have their turn meanwhile", async () => {
    const place = await filled(MOST_SCANNED + 600);
    let turns = 0;
    let isOver = false;
    const others = (async () => {
      while (!isOver) {
        await new Promise<void>((resolve) => setImmediate(resolve));
        turns++;
      }
    })();
    const rare = async (row: ViewRow) => numberOf(row) === MOST_SCANNED + 500;
    const asked = { ...list, order: "oldest" } as const;
    const first = await rowPage(place, { ...asked, after: undefined }, rare);
    isOver = true;
    await others;
    assert.deepEqual(first.rows, []);
    assert.ok(turns >= 10, String(turns));
    assert.ok(first.next !== null);
    const second = await rowPage(place, { ...asked, after: first.next }, rare);
    assert.deepEqual([numbers(second), second.next], [[MOST_SCANNED + 500], null]);
  });
});

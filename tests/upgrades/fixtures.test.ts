/** Stores as the programs of earlier commits left them when they were killed: everything that waits is carried on. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { STREAM_KINDS } from "../../src/kernel/registry.ts";
import { openConfiguredStore } from "../../src/open.ts";
import { PROJECTIONS } from "../fixtures/runtime.ts";
import { FIXTURES, openFile, openSchema } from "./fixture.ts";
import { checkLists } from "./lists.ts";
import { type Fault, planted } from "./planted.ts";
import { carryOn, site, writeAndDie } from "./upgrade.ts";

assert.ok(FIXTURES.length > 0);
for (const name of FIXTURES)
  describe(`what a program of ${name} left`, () => {
    test("in a file is carried on, once", { timeout: 120_000 }, async (t) => {
      const { place, where, left } = await openFile(t, name);
      await carryOn(place, where, left);
    });

    test("in PostgreSQL is carried on, once", { timeout: 120_000 }, async (t) => {
      const { place, where, left } = await openSchema(t, name);
      await carryOn(place, where, left);
    });
  });

/** `npm run upgrade -- --planted` drops rows of every table. */
const FAULTS: readonly (Fault & { readonly missed: RegExp })[] = [
  { dialect: "file", table: "hp_view_approvals", row: 0, missed: /the rows of approvals/ },
  { dialect: "file", table: "hp_entries", row: 0, missed: /does not follow the one before it/ },
  { dialect: "file", table: "hp_meta", row: 0, missed: /Expected values to be strictly equal/ },
  { dialect: "file", table: "hp_names", row: 0, missed: /Expected values to be/ },
];
for (const { missed, ...fault } of FAULTS)
  test(`a row of ${fault.table} that is lost is missed`, { timeout: 120_000 }, async () => {
    assert.match(String(await planted("main", fault)), missed);
  });

/** Only a person who takes on a restored store writes it. */
const LEFT_OUT = "store";

test("the writer leaves a stream of every kind, and a row in every view", { timeout: 120_000 }, async (t) => {
  const place = await site(t);
  const where = { folder: join(place.root, "data") };
  await writeAndDie(place, where, [join(import.meta.dirname, "present/write.ts")]);
  const store = await openConfiguredStore(where);
  const found = new Set<string>();
  for (const tenant of await store.tenants())
    for (const one of await checkLists(store, tenant)) found.add(one);
  await store.close();
  const wanted = [...STREAM_KINDS, ...PROJECTIONS.map(({ view }) => `view ${view}`)];
  assert.deepEqual(
    wanted.filter((one) => !found.has(one)),
    [LEFT_OUT],
  );
});

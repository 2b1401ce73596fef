import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { bodyDigest, type Entry, GENESIS, makeEntry, readHeader } from "../journal/entry.ts";
import { sha256 } from "../kernel/canonical-json.ts";
import { type EntryRow, packEntries, unpackEntries } from "./entry-rows.ts";

const OWNER = { tenant: 'a"c\\me', stream: "action/\u{1f600} \n" };
const text = fc.string({ unit: "binary", minLength: 1, maxLength: 12 }).filter((one) => one.isWellFormed());
const events = fc.array(
  fc.record({
    type: text,
    tv: fc.integer({ min: 1, max: 9 }),
    body: fc.dictionary(
      text.filter((key) => key !== "__proto__"),
      fc.oneof(text, fc.integer(), fc.constant(null)),
      { maxKeys: 3 },
    ),
  }),
  { minLength: 1, maxLength: 5 },
);

function entriesFor(
  all: readonly { type: string; tv: number; body: Record<string, string | number | null> }[],
) {
  let prev = GENESIS;
  return all.map((event, index) => {
    const salt = sha256(String(index)).slice(0, 32);
    const entry = makeEntry({ ...OWNER, seq: 7 + index, at: 1_800_000_000_000, prev }, event, salt);
    prev = entry.hash;
    return entry;
  });
}

function rowFor(entries: ReturnType<typeof entriesFor>): EntryRow {
  const last = entries.at(-1);
  return { position: 40, seq: last?.seq ?? 0, hash: last?.hash ?? "", ...packEntries(entries) };
}

const plain = (entry: object) => JSON.parse(JSON.stringify(entry)) as Record<string, unknown>;

test("any entries of a commit come back as they were written, byte for byte", () => {
  fc.assert(
    fc.property(events, (all) => {
      const entries = entriesFor(all);
      const read = unpackEntries(rowFor(entries), OWNER);
      const placed = entries.map((entry, index) => ({ ...entry, position: 41 - entries.length + index }));
      assert.deepEqual(read.map(plain), placed.map(plain));
      for (const { header, hash } of read) assert.equal(sha256(header), hash);
    }),
  );
});

test("an erased entry keeps its header and hash, and the entries beside it keep their bodies", () => {
  fc.assert(
    fc.property(events, fc.nat(), (all, chosen) => {
      const entries = entriesFor(all);
      const gone = chosen % entries.length;
      const row = rowFor(entries);
      const lines = (row.body ?? "").split("\n");
      lines[gone] = "";
      row.salt?.fill(0, 16 * gone, 16 * (gone + 1));
      const read = unpackEntries({ ...row, body: lines.join("\n") }, OWNER);
      const wanted = entries.map((entry, index) =>
        index === gone ? { ...entry, salt: null, body: null } : entry,
      );
      assert.deepEqual(
        read.map(({ header, hash, salt, body }) => ({ header, hash, salt, body })),
        wanted.map(({ header, hash, salt, body }) => ({ header, hash, salt, body })),
      );
    }),
  );
});

const verifies = ({ header, hash, salt, body, digest }: Entry) =>
  sha256(header) === hash &&
  readHeader(header) !== undefined &&
  bodyDigest(salt ?? "", body ?? "") === digest;

test("a damaged row is never an error here, and never an entry that verifies", () => {
  const row = rowFor(
    entriesFor([
      { type: "one", tv: 1, body: { a: 1 } },
      { type: "two", tv: 1, body: {} },
    ]),
  );
  const damaged: readonly Partial<EntryRow>[] = [
    { header: "" },
    { header: "[" },
    { header: "{}" },
    { header: '["x","one",1,"two",1]' },
    { header: '[1,"one",1]' },
    { chain: Buffer.alloc(0) },
    { chain: Buffer.alloc(63) },
    { chain: Buffer.alloc(128) },
    { salt: null },
    { salt: Buffer.alloc(3) },
    { body: null },
    { body: "" },
    { body: "{}" },
    { body: `${row.body}\n{}` },
    { body: '{"a":2}\n{}' },
    { hash: GENESIS },
    { chain: null },
    { chain: null, header: "null" },
    { chain: null, header: "{}" },
  ];
  for (const part of damaged) {
    const read = unpackEntries({ ...row, ...part }, OWNER);
    const isGood = read.length === 2 && read.every(verifies);
    assert.equal(isGood, false, JSON.stringify(part));
  }
});

test("a row of 0.1 is one entry, with the text of its header", () => {
  const [entry] = entriesFor([{ type: "one", tv: 1, body: { a: 1 } }]);
  assert.ok(entry);
  const { seq, header, hash, salt, body } = entry;
  const row = { position: 3, seq, header, hash, chain: null, body, salt: Buffer.from(salt ?? "", "hex") };
  assert.deepEqual(unpackEntries(row, OWNER).map(plain), [plain({ ...entry, position: 3 })]);
  const [erased] = unpackEntries({ ...row, salt: null, body: null }, OWNER);
  assert.deepEqual([erased?.header, erased?.salt, erased?.body], [header, null, null]);
});

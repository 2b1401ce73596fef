import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { z } from "zod";
import { makeCodec, type OnWire } from "./codec.ts";
import {
  actor,
  duration,
  expression,
  helpText,
  id,
  moneyAmount,
  reason,
  timestamp,
  toolName,
  valueKind,
  whole,
} from "./values.ts";

const thing = z.strictObject({
  id: id("thing"),
  action: id("action"),
  madeAt: timestamp,
  keptForMs: duration(90 * 86_400_000, "It ends."),
  price: moneyAmount.nullable(),
  ended: z.object({ at: timestamp, byWhom: z.string() }).nullable(),
  parts: z.array(z.object({ partName: z.string(), soldAt: timestamp.optional() })).readonly(),
  isOpen: z.boolean(),
  status: z.enum(["new", "old"]).default("new"),
  note: z.string().optional(),
});
type Thing = z.output<typeof thing>;

const FULL: Thing = {
  ...{
    id: "thg_1",
    action: "act_1",
    madeAt: 1_800_000_000_123,
    keptForMs: 61_000,
    isOpen: true,
    status: "old",
  },
  price: { currency: "USD", micros: 12_500_000n },
  ended: { at: 1_800_000_000_000, byWhom: "ann" },
  parts: [{ partName: "lid", soldAt: 1_800_000_000_000 }, { partName: "cup" }],
};
const SENT = {
  ...{ thing_id: "thg_1", action_id: "act_1", made_at: "2027-01-15T08:00:00.123Z", kept_for_seconds: 61 },
  ...{ is_open: true, status: "old" as const },
  price: { currency: "USD", micros: "12500000" },
  ended: { at: "2027-01-15T08:00:00.000Z", by_whom: "ann" },
  parts: [{ part_name: "lid", sold_at: "2027-01-15T08:00:00.000Z" }, { part_name: "cup" }],
} satisfies OnWire<typeof thing>;

describe("the form of a value on the wire", () => {
  const codec = makeCodec(thing);

  test("follows from its schema, both ways", () => {
    assert.deepEqual(codec.encode(FULL), SENT);
    assert.deepEqual(codec.decode(SENT), FULL);
    assert.deepEqual(codec.wire.parse(SENT), SENT);
  });

  test("has null where the library has null, and no field where it has undefined", () => {
    const bare = codec.encode({ ...FULL, price: null, ended: null, note: undefined }) as object;
    assert.deepEqual([(bare as typeof SENT).price, (bare as typeof SENT).ended], [null, null]);
    assert.ok(!("note" in bare));
  });

  test("is checked as strictly as the schema, with its defaults", () => {
    const { status: _, ...rest } = SENT;
    assert.equal((codec.wire.parse(rest) as typeof SENT).status, "new");
    for (const wrong of [
      { ...SENT, extra: 1 },
      { ...SENT, made_at: "yesterday" },
      { ...SENT, kept_for_seconds: 0 },
      { ...SENT, kept_for_seconds: 90 * 86_400 + 1 },
      { ...SENT, price: { currency: "USD", micros: "1.5" } },
      { ...SENT, price: { currency: "USD", micros: "15", period: "day" } },
    ])
      assert.equal(codec.wire.safeParse(wrong).success, false, JSON.stringify(wrong));
  });

  test("gives back what was encoded, for any value", () => {
    const value = fc.record({
      madeAt: fc.integer({ min: 0, max: 8_640_000_000_000 }),
      keptForMs: fc.integer({ min: 1, max: 7_776_000 }).map((seconds) => seconds * 1_000),
      micros: fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }),
      note: fc.option(fc.string(), { nil: undefined }),
    });
    fc.assert(
      fc.property(value, ({ micros, note, ...rest }) => {
        const one = {
          ...FULL,
          ...rest,
          price: { currency: "EUR", micros },
          ...(note === undefined ? {} : { note }),
        };
        const sent = JSON.parse(JSON.stringify(codec.encode(one)));
        assert.deepEqual(codec.decode(codec.wire.parse(sent)), one);
      }),
    );
  });

  test("reads numbers and booleans out of a query's text", () => {
    const query = makeCodec(
      z.strictObject({ mostRows: whole(10, "At most ten."), isMine: z.boolean().optional() }),
      "text",
    );
    assert.deepEqual(query.decode(query.wire.parse({ most_rows: "7", is_mine: "true" })), {
      mostRows: 7,
      isMine: true,
    });
    for (const most_rows of ["0", "11", "7.5", "x", ""])
      assert.equal(query.wire.safeParse({ most_rows }).success, false);
  });

  test("leaves the actor to the credential: it may be left out there, and not in the library", () => {
    const said = z.strictObject({ reason, by: actor });
    assert.equal(makeCodec(said).wire.safeParse({ reason: "r" }).success, true);
    assert.equal(said.safeParse({ reason: "r" }).success, false);
    for (const by of ["agent:a", "ann", "", 7, null, "person:"])
      assert.equal(said.safeParse({ reason: "r", by }).success, false, String(by));
    assert.equal(said.safeParse({ reason: "r", by: "person:ann" }).success, true);
  });
});

test("a description is in help and in the wire's schema, also of a field that may be missing", () => {
  const field = duration(86_400_000, "It ends.").optional().describe("how long");
  const { wire } = makeCodec(z.strictObject({ lastsMs: field }));
  const { properties } = z.toJSONSchema(wire) as unknown as {
    properties: { lasts_seconds: { description: string } };
  };
  assert.equal(properties.lasts_seconds.description, "how long");
  assert.deepEqual(helpText(field), { value: "<span>", description: "how long, such as 12h or 7d" });
});

test("what people type after a flag is known from the schema", () => {
  const kinds = [
    duration(1, ""),
    moneyAmount.optional(),
    whole(9, ""),
    toolName,
    expression.optional(),
    actor,
    z.boolean(),
  ];
  assert.deepEqual(kinds.map(valueKind), [
    "span",
    "money",
    "number",
    "name",
    "expression",
    "actor",
    "boolean",
  ]);
  assert.deepEqual(helpText(toolName.describe("the tool")), { value: "<name>", description: "the tool" });
  assert.deepEqual(helpText(reason), { value: "<text>", description: "why; it is recorded" });
});

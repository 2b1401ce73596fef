import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { z } from "zod";
import { actorIn, makeCodec, type OnWire, viewCodec } from "./codec.ts";
import {
  actor,
  channel,
  duration,
  durationOrNone,
  either,
  expression,
  id,
  micros,
  moneyAmount,
  principal,
  queryFlag,
  reason,
  speaker,
  spelled,
  timestamp,
  toolName,
  valueKind,
  viewer,
  whole,
  writtenDuration,
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
});

test("a span that may be none is 0 seconds; any other is at least one", () => {
  const { wire, encode, decode } = makeCodec(
    z.strictObject({ overlapMs: durationOrNone(9_000, "At most 9 s.").optional() }),
  );
  for (const [overlapMs, overlap_seconds] of [
    [0, 0],
    [9_000, 9],
  ] as const) {
    assert.deepEqual(encode({ overlapMs }), { overlap_seconds });
    assert.ok(wire.safeParse({ overlap_seconds }).success);
    assert.deepEqual(decode({ overlap_seconds }), { overlapMs });
  }
  assert.deepEqual(makeCodec(z.strictObject({ forMs: duration(9_000, "") })).encode({ forMs: 1 }), {
    for_seconds: 1,
  });
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
});

test("a field has another name where it says so, also when it may be null or missing", () => {
  const schema = z.strictObject({
    text: spelled("q", z.string().optional()),
    action: id("action").nullable(),
    by: spelled("approved_by", actor),
  });
  const { encode, decode } = makeCodec(schema);
  const library = { text: "x", action: null, by: "person:ann" };
  const wire = { q: "x", action_id: null, approved_by: "person:ann" } satisfies OnWire<typeof schema>;
  assert.deepEqual(encode(library), wire);
  assert.deepEqual(decode(wire), library);
  assert.deepEqual(actorIn(schema), { field: "by", as: "approved_by", may: "person" });
  assert.equal(actorIn(z.strictObject({ by: z.string() })), undefined);
});

test("a duration may be text on the wire, of at least a minute", () => {
  const { wire, encode, decode } = makeCodec(z.strictObject({ remindEveryMs: writtenDuration.optional() }));
  assert.deepEqual(decode({ remind_every: "1h30m" }), { remindEveryMs: 5_400_000 });
  assert.deepEqual(decode(encode({ remindEveryMs: 60_001 })), { remindEveryMs: 60_001 });
  assert.deepEqual(wire.parse({}), {});
  for (const remind_every of ["59s", "soon", "-2h", 60_000, `${"0".repeat(70)}1h`])
    assert.equal(wire.safeParse({ remind_every }).success, false, String(remind_every));
});

test("the actor may be in any field and may be left out; a duration that may be 0 stays 0", () => {
  const schema = z.strictObject({ from: speaker, overlapMs: durationOrNone(9_000, "At most 9 s.") });
  const { wire, encode, decode } = makeCodec(schema);
  assert.deepEqual(actorIn(schema), { field: "from", as: "from", may: "speaker" });
  assert.deepEqual(encode({ overlapMs: 0 }), { overlap_seconds: 0 });
  assert.deepEqual(decode({ from: "planner", overlap_seconds: 9 }), { from: "planner", overlapMs: 9_000 });
  assert.ok(wire.safeParse({ overlap_seconds: 0 }).success);
  assert.ok(!wire.safeParse({ overlap_seconds: 10 }).success);
});

test("the channel is not on the wire and the viewer may be; a bare name is a person; a flag is there or not", () => {
  const schema = z.strictObject({ to: principal, via: channel, person: viewer, mine: queryFlag.optional() });
  const { wire, encode, decode } = makeCodec(schema, "text");
  assert.deepEqual(encode({ to: "person:ann", via: "cli", person: "person:bob", mine: false }), {
    to: "person:ann",
    person: "person:bob",
  });
  assert.deepEqual(decode({ to: "ann", mine: "true" }), { to: "person:ann", mine: true });
  assert.deepEqual(decode({ to: "ann", person: "bob" }), { to: "person:ann", person: "person:bob" });
  assert.deepEqual(decode({ to: "agent:a" }), { to: "agent:a" });
  assert.ok(wire.safeParse({ to: "ann", mine: "true" }).success);
  for (const odd of [{ to: "ann", via: "cli" }, { to: "ann", mine: "false" }, { to: "" }])
    assert.ok(!wire.safeParse(odd).success, JSON.stringify(odd));
});

test("one of two fields is asked for under the names of either side, and lists keep their lengths", () => {
  const { wire } = makeCodec(
    either(
      z.strictObject({ forMs: duration(9_000, "At most 9 s.").optional(), atOnce: z.boolean().optional() }),
      ["forMs", "atOnce"],
      "One of both.",
    ),
  );
  assert.ok(wire.safeParse({ for_seconds: 1 }).success);
  assert.deepEqual(
    wire.safeParse({}).error?.issues.map(({ message }) => message),
    ["give either for_seconds or at_once"],
  );
  const list = makeCodec(z.array(z.string()).min(1).max(2)).wire;
  assert.deepEqual(
    [[], ["a"], ["a", "b", "c"]].map((given) => list.safeParse(given).success),
    [false, true, false],
  );
});

test("a view keeps the order in which its fields were made, and has no others", () => {
  const { encode } = viewCodec(z.object({ first: z.string(), lastOne: z.string() }));
  const made = encode({ lastOne: "b", first: "a", more: 1 } as never);
  assert.equal(JSON.stringify(made), '{"last_one":"b","first":"a"}');
});

test("one of several shapes is selected by a field, also of one shape that is several itself", () => {
  const open = z.object({ isOpen: z.boolean(), state: z.literal("open") });
  const over = z.discriminatedUnion("endedBy", [
    z.object({ state: z.literal("over"), endedBy: z.literal("time"), at: timestamp }),
    z.object({ state: z.literal("over"), endedBy: z.enum(["ann", "bob"]), action: id("action") }),
  ]);
  const { wire, encode, decode } = makeCodec(z.discriminatedUnion("state", [open, over]));
  const pairs = [
    [
      { isOpen: true, state: "open" },
      { is_open: true, state: "open" },
    ],
    [
      { state: "over", endedBy: "time", at: 0 },
      { state: "over", ended_by: "time", at: "1970-01-01T00:00:00.000Z" },
    ],
    [
      { state: "over", endedBy: "bob", action: "act_1" },
      { state: "over", ended_by: "bob", action_id: "act_1" },
    ],
  ] as const;
  for (const [value, sent] of pairs) {
    assert.deepEqual(encode(value), sent);
    assert.deepEqual(decode(wire.parse(sent)), value);
  }
  assert.ok(!wire.safeParse({ state: "over", ended_by: "eve" }).success);
  const typed = { state: "over", ended_by: "bob", action_id: "act_1" } satisfies OnWire<typeof over>;
  assert.deepEqual(encode(decode(typed)), typed);
});

test("the keys of a record are the caller's, and its values are spelled by their schema", () => {
  const { wire, encode, decode } = makeCodec(z.record(z.string(), micros));
  const sent: OnWire<z.ZodRecord<z.ZodString, typeof micros>> = { refundsPerDay: "12" };
  assert.deepEqual(decode(wire.parse(sent)), { refundsPerDay: 12n });
  assert.deepEqual(encode({ refundsPerDay: 12n }), sent);
});

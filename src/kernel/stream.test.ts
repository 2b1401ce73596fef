import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JsonObject } from "./json.ts";
import { defineStream } from "./stream.ts";

type Door = {
  readonly status: "open" | "shut";
  readonly name: string;
  readonly moves: number;
  readonly at: number;
};
type DoorState = { readonly status: "none" } | Door;

const { after, define } = defineStream<DoorState>();
const move = (status: Door["status"]) => (door: Door) => ({ ...door, status, moves: door.moves + 1 });

const door = define("alert", {
  what: "A door",
  version: 3,
  initial: { status: "none" },
  words: { none: "not built" },
  events: {
    "door.built": after(
      ["none"],
      "it is there",
      (_none, { name }: { readonly name: string }, { at }) => ({ status: "shut", name, moves: 0, at }),
      // Version 1 had the name under another field, version 2 in capitals.
      [
        ({ called, ...rest }) => ({ ...rest, NAME: called ?? null }) as JsonObject,
        ({ NAME }) => ({ name: NAME ?? null }) as JsonObject,
      ],
    ),
    "door.opened": after(["shut"], "it was opened", move("open")),
    "door.shut": after(["open"], "it was shut", move("shut")),
    "door.painted": after("live", "it has another name", (one, { name }: { readonly name: string }) => ({
      ...one,
      name,
    })),
  },
  lists: [
    {
      bucket: ({ status }) => status,
      data: ({ name, moves }) => ({ name, moves }),
      orders: {
        built: {
          view: "doors",
          version: 2,
          oldest: 1,
          at: ({ at }) => at,
          due: ({ moves }) => (moves > 1 ? 9 : null),
        },
        moves: {
          view: "doors_by_moves",
          version: 1,
          only: ({ status }) => status === "open",
          at: ({ moves }) => moves,
        },
      },
    },
  ],
  indexes: {
    doors_by_name: {
      version: 1,
      key: ({ name }) => name,
      at: ({ at }) => at,
      data: ({ name }) => ({ name }),
    },
  },
});

const facts = (
  ...events: readonly (readonly [type: string, body: JsonObject | null, tv?: number])[]
): DoorState =>
  events.reduce<DoorState>(
    (state, [type, body, tv = 1], index) =>
      door.fold.evolve(state, { type, tv, body, at: 100 + index, seq: index + 1 }),
    door.fold.initial,
  );
const BUILT = ["door.built", { name: "front" }, 3] as const;

describe("the fold of a stream", () => {
  test("applies each event to the statuses that it names", () => {
    const state = facts(BUILT, ["door.opened", {}], ["door.painted", { name: "red" }], ["door.shut", {}]);
    assert.deepEqual(state, { status: "shut", name: "red", moves: 2, at: 100 });
  });

  test("refuses an event in any other status, in the definition's words", () => {
    assert.throws(() => facts(["door.opened", {}]), /"door.opened" cannot follow a door that is not built/);
    assert.throws(() => facts(BUILT, ["door.shut", {}]), /cannot follow a door that is shut/);
    assert.throws(() => facts(BUILT, BUILT), /cannot follow a door that is shut/);
    assert.throws(() => facts(["door.painted", { name: "red" }]), /that is not built/);
  });

  test("reads older versions of an event through their upcasts, and no newer one", () => {
    for (const [body, tv] of [
      [{ called: "front" }, 1],
      [{ NAME: "front" }, 2],
      [{ name: "front" }, 3],
    ] as const)
      assert.deepEqual(facts(["door.built", body, tv]), facts(BUILT));
    assert.throws(() => facts(["door.built", { name: "front" }, 4]), { code: "unknown_event" });
    assert.throws(() => facts(["door.built", { name: "front" }, 0]), { code: "unknown_event" });
  });

  test("meets an unknown event and an erased body with an error each", () => {
    for (const type of ["door.burnt", "constructor", "toString"])
      assert.throws(() => facts(BUILT, [type, {}]), { code: "unknown_event" });
    assert.throws(() => facts(["door.built", null, 3]), { code: "body_erased" });
  });

  test("has new events written in their newest version", () => {
    assert.deepEqual(door.event("door.built", { name: "front" }), {
      type: "door.built",
      tv: 3,
      body: { name: "front" },
    });
    assert.equal(door.event("door.opened", {} as never).tv, 1);
  });
});

describe("the lists of a stream", () => {
  const [built, moves, byName] = door.views;
  const [none, shut, open, twice] = [
    facts(),
    facts(BUILT),
    facts(BUILT, ["door.opened", {}]),
    facts(BUILT, ["door.opened", {}], ["door.shut", {}]),
  ];

  test("are one view for each order, and one for each index", () => {
    assert.deepEqual(
      door.views.map(({ view, kind, version, oldest }) => [view, kind, version, oldest]),
      [
        ["doors", "alert", 2, 1],
        ["doors_by_moves", "alert", 1, undefined],
        ["doors_by_name", "alert", 1, undefined],
      ],
    );
  });

  test("have rows of the states that are listed", () => {
    assert.equal(built?.row("d", none), undefined);
    assert.deepEqual(built?.row("d", shut), {
      bucket: "shut",
      at: 100,
      due: null,
      data: { name: "front", moves: 0 },
    });
    assert.equal(built?.row("d", twice)?.due, 9);
    assert.equal(moves?.row("d", shut), undefined);
    assert.deepEqual(moves?.row("d", open), {
      bucket: "open",
      at: 1,
      due: null,
      data: { name: "front", moves: 1 },
    });
    assert.deepEqual(byName?.row("d", open), {
      bucket: "front",
      at: 100,
      due: null,
      data: { name: "front" },
    });
  });

  test("write a row again only where it may have changed", () => {
    assert.equal(built?.isSame(shut, open), false);
    assert.equal(moves?.isSame(shut, twice), true, "neither is listed");
    assert.equal(moves?.isSame(shut, open), false);
    assert.equal(byName?.isSame(shut, open), true, "an index does not change while it is listed");
    assert.equal(byName?.isSame(none, shut), false);
  });
});

test("a definition gives the events reference, references and keys", () => {
  assert.deepEqual(door.reference[0], { type: "door.built", tv: 3, meaning: "it is there" });
  assert.equal(door.reference.length, 4);
  assert.deepEqual(door.ref("d"), { kind: "alert", id: "d" });
  assert.deepEqual(door.by("doors_by_name", "front"), { view: "doors_by_name", key: "front" });
});

describe("a kind without a status", () => {
  const kind = defineStream<{ readonly sum: number }>();
  const till = kind.define("alert", {
    what: "A till",
    version: 1,
    initial: { sum: 0 },
    events: {
      "till.paid": kind.after("live", "money came in", ({ sum }, { paid }: { readonly paid: number }) => ({
        sum: sum + paid,
      })),
    },
    lists: [
      {
        bucket: () => "open",
        data: ({ sum }) => ({ sum }),
        orders: { sum: { view: "tills", version: 1, only: ({ sum }) => sum !== 0, at: ({ sum }) => sum } },
      },
    ],
  });
  const paid = (state: { readonly sum: number }, type = "till.paid") =>
    till.fold.evolve(state, { type, tv: 1, body: { paid: 5 }, at: 1, seq: 1 });

  test("takes every event that it knows, also as the first", () => {
    assert.deepEqual(paid(paid(till.fold.initial)), { sum: 10 });
    assert.throws(() => paid(till.fold.initial, "till.robbed"), { code: "unknown_event" });
  });

  test("is listed from the beginning, unless its list filters it", () => {
    const [view] = till.views;
    assert.equal(view?.row("t", till.fold.initial), undefined);
    assert.deepEqual(view?.row("t", { sum: 5 }), { bucket: "open", at: 5, due: null, data: { sum: 5 } });
    assert.equal(view?.isSame(till.fold.initial, { sum: 5 }), false);
    assert.equal(view?.isSame(till.fold.initial, { sum: 0 }), true);
  });
});

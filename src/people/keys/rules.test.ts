import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { sha256 } from "../../kernel/canonical-json.ts";
import { isHoldpointError } from "../../kernel/errors.ts";
import { makeId } from "../../kernel/ids.ts";
import { SCOPES, type Scope } from "../../kernel/registry.ts";
import { keyStream, ROSTER, tenantStream } from "../../kernel/stream.ts";
import { type Fact, fact, given, NOON } from "../../testing/given.ts";
import { holdersOfKey } from "../rules/credential.ts";
import type { Role } from "../stream.ts";
import { HOME_TENANT } from "../tenants/stream.ts";
import { type IssueKeyCommand, issueKey, type RotateKeyCommand, revokeKey, rotateKey } from "./rules.ts";
import { checkKey, key, type LiveKey } from "./stream.ts";

const HOUR = 3_600_000;
const id = (fill: number) => makeId("key", NOON, new Uint8Array(10).fill(fill));
const [FIRST, SECOND, THIRD] = [id(1), id(2), id(3)];
const HASH = sha256("secret");
const OTHER = sha256("other");
const BY = "person:root";

const person = (name: string, roles: readonly Role[], at = NOON): Fact =>
  fact(ROSTER, "person.added", { person: `person:${name}`, name, mail: null, roles, groups: [], by: BY }, at);
const suspended = (name: string): Fact =>
  fact(ROSTER, "person.suspended", { person: `person:${name}`, by: BY, reason: "left" });
const terms = (more: Partial<IssueKeyCommand> = {}) => ({
  principal: "agent:mailer",
  name: "mailer on web-1",
  roles: ["executor"] as readonly Role[],
  scopes: null as readonly Scope[] | null,
  hash: HASH,
  by: BY,
  ...more,
});
const issuing = (more: Partial<IssueKeyCommand> = {}): IssueKeyCommand => ({
  ...terms(more),
  key: FIRST,
  lastsMs: HOUR,
  mayGive: null,
  ...more,
});
const issued = (more: object = {}, at = NOON): Fact =>
  fact(keyStream(FIRST), "key.issued", { ...terms(), expiresAt: NOON + HOUR, replaces: null, ...more }, at);
const rotating = (more: Partial<RotateKeyCommand> = {}): RotateKeyCommand => ({
  key: FIRST,
  next: SECOND,
  hash: OTHER,
  overlapMs: 60_000,
  lastsMs: undefined,
  by: BY,
  mayGive: null,
  ...more,
});

describe("issuing a key", () => {
  test("is one fact: whose it is, what for, until when, by whom, and the hash", () => {
    given([])
      .when((draft) => issueKey(draft, issuing()))
      .then([fact(keyStream(FIRST), "key.issued", { ...terms(), expiresAt: NOON + HOUR, replaces: null })])
      .answers({ kind: "issued" });
    given([])
      .when((draft) => issueKey(draft, issuing({ lastsMs: null })))
      .then([fact(keyStream(FIRST), "key.issued", { expiresAt: null })]);
  });

  test("asked again after a lost answer writes nothing more", () => {
    const { world } = given([]).when((draft) => issueKey(draft, issuing()));
    given(world)
      .when((draft) => issueKey(draft, issuing()))
      .then([])
      .answers({ kind: "known" });
  });

  const refusals: readonly (readonly [string, readonly Fact[], Partial<IssueKeyCommand>, RegExp])[] = [
    ["by an agent", [], { by: "agent:mailer" }, /agent:mailer is not a person/],
    ["by somebody suspended", [suspended("root")], {}, /person:root is not in good standing/],
    ["for an agent without a role", [], { roles: [] }, /no role/],
    ["for nobody in the list", [], { principal: "person:ann", roles: [] }, /not in the list/],
    [
      "for somebody suspended",
      [person("ann", ["admin"]), suspended("ann")],
      { principal: "person:ann", roles: [] },
      /person:ann is not in good standing/,
    ],
    [
      "for a person with roles of its own",
      [person("ann", ["auditor"])],
      { principal: "person:ann", roles: ["admin"] },
      /roles of person:ann are those in the list/,
    ],
    ["narrowed to what its roles lack", [], { scopes: ["keys:read"] }, /do not bring keys:read/],
    [
      "narrowed to what no agent has",
      [],
      { roles: ["admin"], scopes: ["approvals:decide"] },
      /do not bring approvals:decide/,
    ],
    [
      "that may do more than whoever asks",
      [],
      { mayGive: ["keys:write", "workflows:read"] },
      /does not have workflows:drive/,
    ],
    [
      "for somebody else, over the network, by an admin",
      [person("ann", ["supervisor"])],
      { principal: "person:ann", roles: [], mayGive: SCOPES },
      /only person:ann issues a key of theirs/,
    ],
    [
      "for themselves by an admin with a narrow key",
      [person("ann", ["admin"])],
      { principal: "person:ann", roles: [], mayGive: ["keys:write"], by: "person:ann" },
      /does not have/,
    ],
  ];
  for (const [title, facts, more, reason] of refusals)
    test(`${title} is refused, and nothing is written`, () => {
      const after = given(facts).when((draft) => issueKey(draft, issuing(more)));
      after.then([]).answers({ kind: "not_allowed" });
      assert.match((after.answer as { reason: string }).reason, reason);
    });

  test("of what whoever asks has is allowed", () => {
    given([])
      .when((draft) =>
        issueKey(draft, issuing({ scopes: ["workflows:read"], mayGive: ["keys:write", "workflows:read"] })),
      )
      .answers({ kind: "issued" });
  });
});

describe("rotating a key", () => {
  test("issues one that may do the same, and ends the old one after the overlap", () => {
    const now = NOON + HOUR / 2;
    given([issued({ scopes: ["workflows:read"] })], { now })
      .when((draft) => rotateKey(draft, rotating()))
      .then([
        fact(keyStream(SECOND), "key.issued", {
          ...terms({ scopes: ["workflows:read"], hash: OTHER }),
          expiresAt: now + HOUR,
          replaces: FIRST,
        }),
        fact(keyStream(FIRST), "key.retired", { expiresAt: now + 60_000, by: BY, replacedBy: SECOND }),
      ])
      .answers({ kind: "rotated" });
  });

  test("never lengthens the old one's time, and a key without an end stays so", () => {
    given([issued()], { now: NOON + HOUR - 1 })
      .when((draft) => rotateKey(draft, rotating({ lastsMs: 5 })))
      .then([
        fact(keyStream(SECOND), "key.issued", { expiresAt: NOON + HOUR + 4 }),
        fact(keyStream(FIRST), "key.retired", { expiresAt: NOON + HOUR }),
      ]);
    given([issued({ expiresAt: null })])
      .when((draft) => rotateKey(draft, rotating({ overlapMs: 0 })))
      .then([
        fact(keyStream(SECOND), "key.issued", { expiresAt: null }),
        fact(keyStream(FIRST), "key.retired", { expiresAt: NOON }),
      ]);
  });

  test("is refused of what is unknown, revoked, over, or was rotated before", () => {
    const of = (facts: readonly Fact[], command = rotating(), now = NOON) =>
      given(facts, { now })
        .when((draft) => rotateKey(draft, command))
        .then([]);
    of([]).answers({ kind: "unknown" });
    of([issued(), fact(keyStream(FIRST), "key.revoked", { by: BY, reason: "lost" })]).answers({
      kind: "over",
    });
    of([issued()], rotating(), NOON + HOUR).answers({ kind: "over", why: "it has expired" });
    const { world } = given([issued()]).when((draft) => rotateKey(draft, rotating()));
    of(world.facts, rotating({ next: THIRD })).answers({
      kind: "over",
      why: `${SECOND} has taken its place`,
    });
    of(world.facts).answers({ kind: "known" });
    of([issued()], rotating({ by: "service:cron" })).answers({ kind: "not_allowed" });
    of([issued()], rotating({ mayGive: ["keys:write"] })).answers({ kind: "not_allowed" });
  });

  test("of a person who was removed is refused", () => {
    const own = { principal: "person:ann", roles: [] };
    given([issued(own)])
      .when((draft) => rotateKey(draft, rotating()))
      .then([])
      .answers({ kind: "not_allowed", reason: "person:ann is not in the list of people" });
  });
});

describe("revoking a key", () => {
  const revoke = { key: FIRST, by: BY, reason: "lost" };
  test("is one fact, once; any person in good standing may", () => {
    const after = given([issued()])
      .when((draft) => revokeKey(draft, revoke))
      .then([fact(keyStream(FIRST), "key.revoked", { by: BY, reason: "lost" })])
      .answers({ kind: "revoked" });
    given(after.world)
      .when((draft) => revokeKey(draft, revoke))
      .then([])
      .answers({ kind: "revoked" });
    given([])
      .when((draft) => revokeKey(draft, revoke))
      .then([])
      .answers({ kind: "unknown" });
    for (const [facts, by] of [
      [[issued()], "agent:mailer"],
      [[issued(), suspended("root")], BY],
    ] as const)
      given(facts)
        .when((draft) => revokeKey(draft, { ...revoke, by }))
        .then([])
        .answers({ kind: "not_allowed" });
  });
});

describe("a key", () => {
  const state = given([issued()])
    .when(() => "look")
    .state(keyStream(FIRST)) as LiveKey;
  test("counts with its secret, until its last millisecond", () => {
    assert.equal(checkKey(state, HASH, NOON + HOUR - 1), undefined);
    assert.equal(checkKey(state, HASH, NOON + HOUR), "expired");
    assert.equal(checkKey(state, OTHER, NOON), "unknown");
    assert.equal(checkKey(key.fold.initial, HASH, NOON), "unknown");
    assert.equal(checkKey(key.fold.initial, "-".repeat(64), NOON), "unknown");
    assert.equal(checkKey({ ...state, status: "revoked" }, HASH, NOON), "revoked");
    assert.equal(checkKey({ ...state, status: "revoked" }, OTHER, NOON), "unknown");
  });

  test("of a person means the person as they stand now", () => {
    const own = { principal: "person:ann", roles: [] };
    const held = (facts: readonly Fact[], at = NOON) => {
      const world = given([issued(own, at), ...facts]).when(() => "look");
      const seen = { tenant: HOME_TENANT, standing: world.state(tenantStream(HOME_TENANT)) };
      const states = { ...seen, key: world.state(keyStream(FIRST)), roster: world.state(ROSTER) };
      return holdersOfKey(states)(HASH, NOON + 5);
    };
    const removed = fact(ROSTER, "person.removed", { person: "person:ann", by: BY, reason: "left" });
    assert.partialDeepStrictEqual(held([person("ann", ["auditor"])]), {
      principal: "person:ann",
      roles: ["auditor"],
    });
    assert.deepEqual(held([]), { refused: "removed" });
    assert.deepEqual(held([person("ann", ["admin"]), suspended("ann")]), { refused: "suspended" });
    assert.deepEqual(held([person("ann", ["admin"]), removed, person("ann", ["admin"], NOON + 3)]), {
      refused: "removed",
    });
  });

  test("meets an event that is unknown, newer, erased or out of place with an error", () => {
    const on =
      (type: string, body: object | null, tv = 1) =>
      () =>
        key.fold.evolve(state, { type, tv, at: NOON, seq: 2, body } as never);
    const broken = (error: unknown) => isHoldpointError(error, "broken_rule");
    assert.throws(on("key.lent", {}), (error) => isHoldpointError(error, "unknown_event"));
    assert.throws(on("key.revoked", {}, 2), (error) => isHoldpointError(error, "unknown_event"));
    assert.throws(on("key.revoked", null), (error) => isHoldpointError(error, "body_erased"));
    assert.throws(on("key.issued", terms()), broken);
    assert.throws(on("key.retired", { expiresAt: NOON + HOUR + 1, by: BY, replacedBy: SECOND }), broken);
    assert.throws(
      () => key.fold.evolve(key.fold.initial, { type: "key.revoked", tv: 1, at: 1, seq: 1, body: {} }),
      broken,
    );
  });
});

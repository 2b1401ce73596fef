import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { sha256 } from "../../kernel/canonical-json.ts";
import { isHoldpointError } from "../../kernel/errors.ts";
import { makeId } from "../../kernel/ids.ts";
import { loginStream, ROSTER, STORE_HISTORY, sessionStream } from "../../kernel/stream.ts";
import { type Fact, fact, given, NOON } from "../../testing/given.ts";
import { holderOfSession } from "../rules/credential.ts";
import { HOME_TENANT, tenantFold } from "../tenants/stream.ts";
import { decideEndSession, decideLogIn, decideOfferLogin, type LogInCommand } from "./rules.ts";
import { loginKind, session } from "./stream.ts";

const MINUTE = 60_000;
const LOGIN = makeId("lgn", NOON, new Uint8Array(10).fill(1));
const [SESSION, ANOTHER] = [2, 3].map((fill) => makeId("ses", NOON, new Uint8Array(10).fill(fill))) as [
  string,
  string,
];
const HASH = sha256("link");
const ANN = "person:ann";
const BY = "person:root";

const ann = fact(
  ROSTER,
  "person.added",
  { person: ANN, name: "Ann", mail: null, roles: ["supervisor"], groups: [], by: BY },
  NOON - 1,
);
const out = fact(ROSTER, "person.suspended", { person: ANN, by: BY, reason: "left" });
const gone = fact(ROSTER, "person.removed", { person: ANN, by: BY, reason: "left" });
const restored = fact(
  STORE_HISTORY,
  "store.restored",
  { by: BY, reason: "disk", seen: "place", incarnation: "x" },
  NOON + 1,
);
const offered = fact(loginStream(LOGIN), "login.offered", {
  person: ANN,
  hash: HASH,
  expiresAt: NOON + 10 * MINUTE,
  by: BY,
});
const offering = { login: LOGIN, person: ANN, hash: HASH, lastsMs: 10 * MINUTE, by: BY };
const loggingIn = (more: Partial<LogInCommand> = {}): LogInCommand => ({
  ...{
    login: LOGIN,
    hash: HASH,
    session: SESSION,
    sessionHash: sha256("cookie"),
    lastsMs: 720 * MINUTE,
  },
  ...more,
});

describe("a login link", () => {
  test("is offered to people of the list, for a time", () => {
    given([ann])
      .when((draft) => decideOfferLogin(draft, offering))
      .then([offered])
      .answers({ kind: "offered", expiresAt: NOON + 10 * MINUTE });
    given([ann, offered])
      .when((draft) => decideOfferLogin(draft, offering))
      .then([])
      .answers({ kind: "known" });
    for (const [facts, by] of [
      [[], BY],
      [[ann, out], BY],
      [[ann, gone], BY],
      [[ann], "agent:mailer"],
    ] as const)
      given(facts)
        .when((draft) => decideOfferLogin(draft, { ...offering, by }))
        .then([])
        .answers({ kind: "not_allowed" });
  });

  test("makes one session in one commit, and no second", () => {
    const after = given([ann, offered], { now: NOON + MINUTE })
      .when((draft) => decideLogIn(draft, loggingIn()))
      .then([
        fact(loginStream(LOGIN), "login.used", { session: SESSION }),
        fact(sessionStream(SESSION), "session.begun", {
          person: ANN,
          hash: sha256("cookie"),
          expiresAt: NOON + 721 * MINUTE,
          via: LOGIN,
        }),
      ])
      .answers({ kind: "begun", person: ANN });
    given(after.world)
      .when((draft) => decideLogIn(draft, loggingIn()))
      .then([])
      .answers({ kind: "begun" });
    given(after.world)
      .when((draft) => decideLogIn(draft, loggingIn({ session: ANOTHER })))
      .then([])
      .answers({ kind: "refused", refused: "used" });
  });

  const refusals: readonly (readonly [string, readonly Fact[], Partial<LogInCommand>, number])[] = [
    ["unknown", [ann], {}, NOON],
    ["unknown", [ann, offered], { hash: sha256("guess") }, NOON],
    ["expired", [ann, offered], {}, NOON + 10 * MINUTE],
    ["suspended", [ann, offered, out], {}, NOON],
    ["removed", [ann, offered, gone], {}, NOON],
    ["removed", [ann, offered, gone, { ...ann, at: NOON + 2 }], {}, NOON + 2],
    ["restored", [ann, offered, restored], {}, NOON + 2],
  ];
  for (const [refused, facts, more, now] of refusals)
    test(`that is ${refused} (${facts.length} facts) makes no session and writes nothing`, () => {
      given(facts, { now })
        .when((draft) => decideLogIn(draft, loggingIn(more)))
        .then([])
        .answers({ kind: "refused", refused });
    });
});

describe("a session", () => {
  const { world } = given([ann, offered]).when((draft) => decideLogIn(draft, loggingIn()));
  const held = (facts: readonly Fact[], now = NOON + 5, hash = sha256("cookie")) => {
    const after = given({ ...world, facts: [...world.facts, ...facts] }).when(() => "look");
    const [session, roster, history] = [
      after.state(sessionStream(SESSION)),
      after.state(ROSTER),
      after.state(STORE_HISTORY),
    ];
    return holderOfSession(
      { session, roster, history, tenant: HOME_TENANT, standing: tenantFold.initial },
      hash,
      now,
    );
  };

  test("means its person as they stand now, until it ends", () => {
    assert.partialDeepStrictEqual(held([]), { principal: ANN, roles: ["supervisor"] });
    const { world: left } = given(world).when((draft) =>
      decideEndSession(draft, { session: SESSION, by: ANN, reason: "logged out" }),
    );
    assert.deepEqual(held(left.facts.slice(-1)), { refused: "ended" });
    assert.deepEqual(held([], NOON + 720 * MINUTE), { refused: "expired" });
    assert.deepEqual(held([], NOON, sha256("guess")), { refused: "unknown" });
    assert.deepEqual(held([out]), { refused: "suspended" });
    assert.deepEqual(held([gone]), { refused: "removed" });
    assert.deepEqual(held([gone, { ...ann, at: NOON + 1 }]), { refused: "removed" });
    assert.deepEqual(held([restored]), { refused: "restored" });
    const changed = fact(ROSTER, "person.changed", {
      person: ANN,
      name: "Ann",
      mail: null,
      roles: ["auditor"],
      groups: [],
      by: BY,
    });
    assert.partialDeepStrictEqual(held([changed]), { roles: ["auditor"] });
  });

  test("ends once; one that never was does not end", () => {
    const end = { session: SESSION, by: ANN, reason: "logged out" };
    const after = given(world)
      .when((draft) => decideEndSession(draft, end))
      .then([fact(sessionStream(SESSION), "session.ended", { by: ANN })])
      .answers(true);
    given(after.world)
      .when((draft) => decideEndSession(draft, end))
      .then([])
      .answers(false);
    given([])
      .when((draft) => decideEndSession(draft, end))
      .then([])
      .answers(false);
  });

  test("and a link meet an event that is unknown or out of place with an error", () => {
    const event = (type: string) => ({ type, tv: 1, at: 1, seq: 1, body: {} });
    const broken = (error: unknown) => isHoldpointError(error, "broken_rule");
    const unknown = (error: unknown) => isHoldpointError(error, "unknown_event");
    assert.throws(() => session.fold.evolve(session.fold.initial, event("session.ended")), broken);
    assert.throws(() => loginKind.fold.evolve(loginKind.fold.initial, event("login.used")), broken);
    assert.throws(() => session.fold.evolve(session.fold.initial, event("session.stolen")), unknown);
    assert.throws(() => loginKind.fold.evolve(loginKind.fold.initial, event("login.copied")), unknown);
  });
});

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { sha256 } from "../../kernel/canonical-json.ts";
import { isHoldpointError } from "../../kernel/errors.ts";
import { makeId } from "../../kernel/ids.ts";
import {
  keyStream,
  loginStream,
  ROSTER,
  STORE_HISTORY,
  sessionStream,
  switchStream,
  tenantStream,
} from "../../kernel/stream.ts";
import { type Fact, fact, given, NOON } from "../../testing/given.ts";
import { issueKey, rotateKey } from "../keys/rules.ts";
import { holderOfSession, holdersOfKey } from "../rules/credential.ts";
import { decideLogIn, decideOfferLogin } from "../sessions/rules.ts";
import { closeOwnTenant, foundTenant, mayClose, recordClosing, registerTenant } from "./rules.ts";
import { HOME_TENANT, tenantFold } from "./stream.ts";

const BY = "person:root";
const ANN = "person:ann";
const ACME = tenantStream("acme");
const said = { by: BY, reason: "moved away" };
const added = fact(ACME, "tenant.added", { by: BY });
const closed = fact(ACME, "tenant.closed", said);
const suspended = fact(ROSTER, "person.suspended", { person: BY, by: BY, reason: "left" });
const member = { person: ANN, name: "ann", mail: null, roles: ["admin", "supervisor"], groups: [], by: BY };
const ann = fact(ROSTER, "person.added", member);
const atHome = (facts: readonly Fact[]) => given(facts, { tenant: HOME_TENANT });

describe("a tenant's name", () => {
  test("is recorded at home once, and stays taken when it was closed", () => {
    const register = (facts: readonly Fact[]) =>
      atHome(facts).when((draft) => registerTenant(draft, { name: "acme", by: BY, via: "session" }));
    register([])
      .then([fact(ACME, "tenant.added", { by: BY, via: "session" })])
      .answers({ kind: "added" });
    register([added]).then([]).answers({ kind: "known" });
    register([added, closed]).then([]).answers({ kind: "closed" });
  });

  test("is given by a person in good standing, and by nobody else", () => {
    for (const [facts, by] of [
      [[suspended], BY],
      [[], "agent:mailer"],
    ] as const) {
      atHome(facts)
        .when((draft) => registerTenant(draft, { name: "acme", by }))
        .then([])
        .answers({ kind: "not_allowed" });
      atHome(facts)
        .when((draft) => mayClose(draft, by))
        .then([])
        .answers({ kind: "not_allowed" });
    }
  });
});

describe("a tenant's first admin", () => {
  const found = (facts: readonly Fact[]) =>
    given(facts).when((draft) => foundTenant(draft, { by: BY, admin: ANN }));

  test("comes with it, in one commit", () => {
    found([]).then([added, ann]).answers({ kind: "founded" });
  });

  test("comes later where the first try was lost, and never beside others or into a closed one", () => {
    found([added]).then([ann]).answers({ kind: "founded" });
    found([added, ann]).then([]).answers({ kind: "peopled" });
    found([added, closed]).then([]).answers({ kind: "closed" });
  });
});

describe("closing a tenant", () => {
  const stopped = fact(switchStream("tenant"), "switch.stopped", said);

  test("stops its effects in the same commit, and does so once", () => {
    given([added, ann])
      .when((draft) => closeOwnTenant(draft, said))
      .then([closed, stopped])
      .answers(true);
    given([added, stopped])
      .when((draft) => closeOwnTenant(draft, said))
      .then([closed]);
    given([closed])
      .when((draft) => closeOwnTenant(draft, said))
      .then([])
      .answers(false);
  });

  test("is recorded at home, also of one that was never made there", () => {
    const record = (facts: readonly Fact[]) =>
      atHome(facts).when((draft) => recordClosing(draft, { name: "acme", ...said }));
    record([added]).then([closed]).answers(true);
    record([]).then([closed]).answers(true);
    record([added, closed]).then([]).answers(false);
  });

  test("is for good: what is added later opens nothing", () => {
    const { state } = given([added, closed, added]).when(() => "look");
    assert.equal(state(ACME).status, "closed");
    const unknown = { type: "tenant.reopened", tv: 1, at: NOON, seq: 2, body: {} };
    assert.throws(
      () => tenantFold.evolve(tenantFold.initial, unknown),
      (error) => isHoldpointError(error, "unknown_event"),
    );
  });
});

describe("in a tenant that was closed", () => {
  const id = (prefix: "key" | "lgn" | "ses", fill: number) =>
    makeId(prefix, NOON, new Uint8Array(10).fill(fill));
  const [KEY, NEXT, LOGIN, SESSION] = [id("key", 1), id("key", 2), id("lgn", 3), id("ses", 4)];
  const hash = sha256("secret");
  const terms = {
    principal: "agent:mailer",
    name: "mailer",
    roles: ["executor" as const],
    scopes: null,
    hash,
  };
  const issued = fact(keyStream(KEY), "key.issued", { ...terms, by: BY, expiresAt: null, replaces: null });
  const offered = fact(loginStream(LOGIN), "login.offered", {
    person: ANN,
    hash,
    expiresAt: NOON + 9,
    by: BY,
  });
  const begun = { person: ANN, hash, expiresAt: NOON + 9, via: LOGIN };
  const session = fact(sessionStream(SESSION), "session.begun", begun);
  const facts = [added, ann, issued, offered, session];
  const shut = given([...facts, closed]);

  test("no key is issued or rotated", () => {
    const offer = { ...terms, key: NEXT, by: BY, lastsMs: null, mayGive: null };
    const refused = { kind: "not_allowed", reason: "the tenant is closed" };
    shut
      .when((draft) => issueKey(draft, offer))
      .then([])
      .answers(refused);
    const rotation = { key: KEY, next: NEXT, hash, overlapMs: 1, lastsMs: undefined, by: BY, mayGive: null };
    shut
      .when((draft) => rotateKey(draft, rotation))
      .then([])
      .answers(refused);
    given(facts)
      .when((draft) => issueKey(draft, offer))
      .answers({ kind: "issued" });
  });

  test("no link is made, and one that was made before makes no session", () => {
    const offer = { login: id("lgn", 7), person: ANN, hash, lastsMs: 5, by: BY };
    shut
      .when((draft) => decideOfferLogin(draft, offer))
      .then([])
      .answers({ kind: "not_allowed" });
    const using = { login: LOGIN, hash, session: id("ses", 8), sessionHash: hash, lastsMs: 5 };
    shut
      .when((draft) => decideLogIn(draft, using))
      .then([])
      .answers({ kind: "refused", refused: "closed" });
    given(facts)
      .when((draft) => decideLogIn(draft, using))
      .answers({ kind: "begun" });
  });

  test("no key or session is worth anything", () => {
    for (const [world, refused] of [
      [shut.when(() => "look"), "closed"],
      [given(facts).when(() => "look"), undefined],
    ] as const) {
      const seen = { tenant: "acme", standing: world.state(ACME), roster: world.state(ROSTER) };
      const [key, history] = [world.state(keyStream(KEY)), world.state(STORE_HISTORY)];
      const held = { ...seen, session: world.state(sessionStream(SESSION)), history };
      for (const holder of [holdersOfKey({ ...seen, key })(hash, NOON), holderOfSession(held, hash, NOON)])
        assert.equal("refused" in holder ? holder.refused : undefined, refused);
    }
  });
});

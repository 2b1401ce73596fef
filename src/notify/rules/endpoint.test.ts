import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { endpointStream } from "../../kernel/stream.ts";
import type { Draft } from "../../kernel/transaction.ts";
import { rosterFold } from "../../people/stream.ts";
import { fact, given, NOON, type World } from "../../testing/given.ts";
import { type LiveEndpoint, signingSecretsAt, wantsEvent } from "../stream.ts";
import { ANNOUNCED_EVENTS, announcementOf, isAnnouncedPattern } from "./announced-events.ts";
import {
  addEndpoint,
  changeEndpoint,
  isSigningSecret,
  mailAddressOf,
  removeEndpoint,
  resolveRecipients,
  rotateSecret,
  signingSecretText,
  switchEndpoint,
} from "./endpoint.ts";

const ref = endpointStream("end_1");
const ANN = "person:ann";
const TERMS = {
  name: "hook",
  target: { kind: "webhook", url: "https://hooks.example/" },
  events: ["approval.*", "alert.raised"],
  owner: ANN,
} as const;
const add = (draft: Draft) =>
  addEndpoint(draft, { ...TERMS, endpoint: "end_1", secret: "row:sec_1", by: ANN });
const there = (): World => given([]).when(add).world;
const rotate =
  (secret: string, overlapMs = 1_000) =>
  (draft: Draft) =>
    rotateSecret(draft, { endpoint: "end_1", by: ANN, secret, overlapMs });
const turn = (on: boolean) => (draft: Draft) =>
  switchEndpoint(draft, { endpoint: "end_1", by: ANN, reason: "quiet", on });
const remove = (draft: Draft) => removeEndpoint(draft, { endpoint: "end_1", by: ANN, reason: "old" });
const live = (world: World) =>
  given(world)
    .when(() => ({ kind: "x" }))
    .state(ref) as LiveEndpoint;

describe("an endpoint", () => {
  test("is added with where its secret is kept; adding it again changes nothing", () => {
    given([])
      .when(add)
      .then([fact(ref, "endpoint.added", { ...TERMS, secret: "row:sec_1", by: ANN })]);
    given(there()).when(add).then([]).answers({ kind: "done" });
  });

  test("hears of the types that it named, and of those that begin so", () => {
    const endpoint = live(there());
    assert.ok(wantsEvent(endpoint, "approval.expired") && wantsEvent(endpoint, "alert.raised"));
    assert.ok(!wantsEvent(endpoint, "alert.cleared") && !wantsEvent(endpoint, "approvals"));
  });

  test("is changed once: the same terms again are no change", () => {
    const change = (draft: Draft) =>
      changeEndpoint(draft, { endpoint: "end_1", by: ANN, terms: { events: ["*"] } });
    const after = given(there())
      .when(change)
      .then([fact(ref, "endpoint.changed", { events: ["*"], by: ANN })]);
    given(after.world).when(change).then([]);
  });

  test("signs with the secret before, too, until the overlap is over; never with older ones", () => {
    const once = given(there()).when(rotate("row:sec_2")).world;
    assert.deepEqual(signingSecretsAt(live(once), NOON + 999), ["row:sec_2", "row:sec_1"]);
    assert.deepEqual(signingSecretsAt(live(once), NOON + 1_000), ["row:sec_2"]);
    const twice = given(once).when(rotate("row:sec_3")).world;
    assert.deepEqual(signingSecretsAt(live(twice), NOON), ["row:sec_3", "row:sec_2"]);
    given(twice).when(rotate("row:sec_3")).then([]);
  });

  test("is switched off and on, each once", () => {
    const off = given(there())
      .when(turn(false))
      .then([fact(ref, "endpoint.switched_off", { by: ANN, reason: "quiet" })]).world;
    given(off).when(turn(false)).then([]);
    given(off)
      .when(turn(true))
      .then([fact(ref, "endpoint.switched_on")]);
    given(there()).when(turn(true)).then([]);
  });

  test("that was removed stays removed, and one that never was is unknown", () => {
    const gone = given(there())
      .when(remove)
      .then([fact(ref, "endpoint.removed")]).world;
    for (const rules of [remove, turn(true), rotate("row:sec_9")])
      given(gone).when(rules).then([]).answers({ kind: "removed" });
    given([]).when(remove).then([]).answers({ kind: "unknown" });
  });
});

describe("whom mail is for", () => {
  const people = [
    ["person:ann", "ann@example.com", ["supervisor"], ["finance"]],
    ["person:bob", "bob@example.com", ["supervisor"], []],
    ["person:cy", null, ["supervisor"], ["finance"]],
  ] as const;
  const start = people.reduce(
    (state, [person, mail, roles, groups], index) =>
      rosterFold.evolve(state, {
        type: "person.added",
        tv: 1,
        at: NOON,
        seq: index + 1,
        body: { person, name: person, mail, roles, groups },
      }),
    rosterFold.initial,
  );
  const roster = rosterFold.evolve(start, {
    type: "person.suspended",
    tv: 1,
    at: NOON,
    seq: 9,
    body: { person: "person:bob", by: ANN, reason: "" },
  });

  test("roles, groups and approvers mean those in good standing who have an address, each once", () => {
    assert.deepEqual(resolveRecipients(start, ["role:supervisor", "group:finance"], []), [
      "person:ann",
      "person:bob",
    ]);
    assert.deepEqual(resolveRecipients(roster, ["role:supervisor", "x@example.com"], []), [
      "x@example.com",
      "person:ann",
    ]);
    assert.deepEqual(resolveRecipients(roster, ["approvers"], ["person:ann", "role:supervisor"]), [
      "person:ann",
    ]);
    assert.deepEqual(resolveRecipients(roster, ["approvers"], []), []);
  });

  test("whoever lost their address or their standing since is not written to", () => {
    assert.equal(mailAddressOf(roster, "person:ann"), "ann@example.com");
    assert.equal(mailAddressOf(roster, "person:bob"), null);
    assert.equal(mailAddressOf(roster, "person:cy"), null);
    assert.equal(mailAddressOf(roster, "person:nobody"), null);
    assert.equal(mailAddressOf(roster, "x@example.com"), "x@example.com");
  });
});

describe("what is told", () => {
  test("of an approval is what was asked, and what became of it; nothing is undefined", () => {
    const first = {
      tool: "payments.refund",
      args: { to: { $secret: "env:KEY" } },
      says: "hi",
      agent: "agent:a",
    };
    const body = { by: "person:ann", reason: "no" };
    const said = announcementOf("approval.rejected", { kind: "approval", id: "apr_1" }, { first, body });
    assert.equal(said?.title, "Rejected: payments.refund");
    assert.partialDeepStrictEqual(said?.data, {
      approval: "apr_1",
      arguments: { to: { $secret: "env:KEY" } },
      rationale: "hi",
      decision_reason: "no",
    });
    assert.equal(JSON.stringify(said).includes("undefined"), false);
  });

  test("of what was revised has the arguments of the revision, not those that nobody approved", () => {
    const first = { tool: "payments.refund", args: { amount: 900 }, argsDigest: "d1" };
    const bodies = { first, body: {}, revised: { args: { amount: 9 }, argsDigest: "d2", nonce: "n" } };
    for (const [type, kind] of [
      ["approval.modified", "approval"],
      ["approval.revoked", "approval"],
      ["effect.in_doubt", "action"],
    ] as const) {
      const data = announcementOf(type, { kind, id: "x" }, bodies)?.data;
      assert.partialDeepStrictEqual(data, { arguments: { amount: 9 }, arguments_digest: "d2" }, type);
      assert.equal(JSON.stringify(data).includes("900"), false);
    }
  });

  test("of anything that is not in the table is nothing", () => {
    assert.equal(
      announcementOf("approval.voted", { kind: "approval", id: "apr_1" }, { first: {}, body: {} }),
      undefined,
    );
    assert.ok(
      isAnnouncedPattern("*") && isAnnouncedPattern("approval.*") && isAnnouncedPattern("alert.raised"),
    );
    assert.ok(
      !isAnnouncedPattern("approval.voted") && !isAnnouncedPattern("nothing.*") && !isAnnouncedPattern(""),
    );
    assert.ok(ANNOUNCED_EVENTS.size > 15);
  });

  test("of a question says how the agent would take it back, and of one that was changed what holds now", () => {
    const first = { tool: "book", args: { n: 1 }, undo: { tool: "cancel", args: { n: 1 }, argsDigest: "d" } };
    const body = { by: "person:ann", args: { n: 2 }, argsDigest: "e", binding: "b", again: { decideBy: 0 } };
    const said = announcementOf(
      "approval.revised",
      { kind: "approval", id: "apr_1" },
      { first, body, revised: body },
    );
    assert.partialDeepStrictEqual(said?.data, {
      ...{ arguments: { n: 2 }, arguments_digest: "e", by: "person:ann", binding: "b" },
      ...{ undo: { tool: "cancel", arguments: { n: 1 } }, decide_by: "1970-01-01T00:00:00.000Z" },
    });
  });

  test("has a title on one line, however long and strange the name is", () => {
    const first = { tool: `a\r\nBcc: x@evil.example\u202e${"x".repeat(500)}` };
    const said = announcementOf("approval.requested", { kind: "approval", id: "apr_1" }, { first, body: {} });
    assert.match(said?.title ?? "", /^Approval needed: a\\r\\nBcc: x@evil\.example\\u202ex+…$/);
  });
});

test("a signing secret is whsec_ and 24 to 64 bytes in base64, and nothing else", () => {
  for (const bytes of [24, 32, 64])
    assert.ok(isSigningSecret(signingSecretText(new Uint8Array(bytes))), String(bytes));
  for (const bytes of [0, 23, 65])
    assert.ok(!isSigningSecret(signingSecretText(new Uint8Array(bytes))), String(bytes));
  for (const text of [
    "whsec_",
    `whsec_${"A".repeat(33)}`,
    "AAAA",
    7,
    `${signingSecretText(new Uint8Array(32))}\n`,
  ])
    assert.ok(!isSigningSecret(text), String(text));
});

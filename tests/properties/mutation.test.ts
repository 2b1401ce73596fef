/** Between decision and dispatch any one thing changes: nothing may be dispatched. Nothing changes: it must be. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { digestOf } from "../../src/kernel/canonical-json.ts";
import type { Json, JsonObject } from "../../src/kernel/json.ts";
import { EFFECT_CLASSES } from "../../src/policy/rules/tool-rules.ts";
import type { Verdict } from "../../src/policy/rules/verdict.ts";
import { type Fact, given, NOON, type World } from "../../src/testing/given.ts";
import {
  AGENT,
  ANN,
  type Bending,
  BOB,
  CAT,
  comesBack,
  epochOpen,
  proposes,
  votes,
} from "../fixtures/rules.ts";
import { anyObject, runs } from "./runs.ts";

type Case = { readonly world: World; readonly bending: Bending; readonly tenant: string };

const names = fc.subarray(["person:dan", "person:eve", "service:cron"]);
const settings = fc.record({
  args: anyObject,
  quorum: fc.integer({ min: 1, max: 2 }),
  effectClass: fc.constantFrom(...EFFECT_CLASSES),
  decideWithinMs: fc.option(fc.integer({ min: 1_000, max: 1_000_000 }), { nil: undefined }),
  executeWithinMs: fc.option(fc.integer({ min: 1_000, max: 1_000_000 }), { nil: undefined }),
  onBehalfOf: names,
  tenant: fc.constantFrom("acme", "globex"),
});
type Setting = typeof settings extends fc.Arbitrary<infer Value> ? Value : never;

/** Proposed, asked and approved, under terms of every kind. */
function approved({
  args,
  quorum,
  effectClass,
  decideWithinMs,
  executeWithinMs,
  onBehalfOf,
  tenant,
}: Setting): Case {
  const times = {
    ...(decideWithinMs === undefined ? {} : { decideWithinMs }),
    ...(executeWithinMs === undefined ? {} : { executeWithinMs }),
  };
  const verdict: Verdict = { verdict: "escalate", approvers: { quorum, from: [ANN, BOB, CAT] }, ...times };
  const validate = (value: Json) => ({ ok: true as const, value });
  const bending: Bending = { policy: () => verdict, effectClass, validate };
  const more = { args, requester: [AGENT, ...onBehalfOf] };
  const world = [ANN, BOB]
    .slice(0, quorum)
    .reduce(
      (now, person) => given(now, { tenant }).when(votes(person)).world,
      given([epochOpen], { tenant }).when(proposes(bending, more)).world,
    );
  return { world, bending, tenant };
}

const inBody =
  (type: string, change: (body: JsonObject) => JsonObject) =>
  (one: Case): Case => ({
    ...one,
    world: {
      ...one.world,
      facts: one.world.facts.map(
        (fact): Fact => (fact.type === type ? { ...fact, body: change(fact.body) } : fact),
      ),
    },
  });
const set =
  (field: string, value: Json) =>
  (body: JsonObject): JsonObject => ({ ...body, [field]: value });
const later =
  (field: string) =>
  (body: JsonObject): JsonObject => {
    const before = body[field];
    return { ...body, [field]: typeof before === "number" ? before + 1 : NOON + 999_999_999 };
  };

/** One field each; `salt` makes the changed value a new one every time. */
const MUTATIONS: Readonly<Record<string, (salt: string) => (one: Case) => Case>> = {
  tenant: (salt) => (one) => ({ ...one, tenant: `${one.tenant}-${digestOf(salt).slice(0, 6)}` }),
  "the action's arguments": (salt) =>
    inBody("action.proposed", (body) => ({
      ...body,
      args: { ...(body["args"] as JsonObject), [`x${salt}`]: salt },
    })),
  "the action's tool": (salt) => inBody("action.proposed", set("tool", `tool-${digestOf(salt)}`)),
  "the action's schema": (salt) => inBody("action.proposed", set("schema", digestOf(salt))),
  "the action's effect class": () =>
    inBody("action.proposed", (body) => ({
      ...body,
      effectClass: body["effectClass"] === "once" ? "read" : "once",
    })),
  "the action's requester": (salt) =>
    inBody("action.proposed", set("requester", [AGENT, `person:${digestOf(salt)}`])),
  "the approval's policy": (salt) => inBody("approval.requested", set("policy", digestOf(salt))),
  "the approval's quorum": () =>
    inBody("approval.requested", (body) => ({
      ...body,
      approvers: { ...(body["approvers"] as JsonObject), quorum: 1.5 },
    })),
  "the approval's people": (salt) =>
    inBody("approval.requested", (body) => ({
      ...body,
      approvers: { ...(body["approvers"] as JsonObject), from: [ANN, BOB, `person:${digestOf(salt)}`] },
    })),
  "the approval's veto": () =>
    inBody("approval.requested", (body) => ({
      ...body,
      approvers: { ...(body["approvers"] as JsonObject), veto: false },
    })),
  decide_by: () => inBody("approval.requested", later("decideBy")),
  execute_by: () => inBody("approval.requested", later("executeBy")),
  nonce: (salt) => inBody("approval.requested", set("nonce", `non_${digestOf(salt)}`)),
  "the approval's action": (salt) => inBody("approval.requested", set("action", `act_${digestOf(salt)}`)),
  binding: (salt) => inBody("approval.requested", set("binding", digestOf(salt))),
  "a vote's binding": (salt) => inBody("approval.voted", set("binding", digestOf(salt))),
  "a vote's voter": (salt) => inBody("approval.voted", set("by", `agent:${digestOf(salt)}`)),
  "the tool's schema": (salt) => (one) => ({
    ...one,
    bending: { ...one.bending, schemaDigest: digestOf(salt) },
  }),
  "the tool's effect class": () => (one) => ({
    ...one,
    bending: { ...one.bending, effectClass: one.bending.effectClass === "once" ? "read" : "once" },
  }),
  "the tool's policy": (salt) => (one) => ({
    ...one,
    bending: { ...one.bending, policyDigest: digestOf(salt) },
  }),
};

function dispatch({ world, bending, tenant }: Case): { readonly kind: string } {
  return given(world, { tenant }).when(comesBack(bending)).answer;
}

const CASES = Number(process.env["MUTATIONS"] ?? 2_000);

test(`${CASES} single changes between decision and dispatch: none is dispatched`, () => {
  const kinds = Object.keys(MUTATIONS);
  const each = fc.tuple(settings, fc.constantFrom(...kinds), fc.string({ maxLength: 6 }));
  return fc.assert(
    fc.property(each, ([setting, kind, salt]) => {
      const changed = MUTATIONS[kind]?.(salt)(approved(setting)) as Case;
      assert.notEqual(dispatch(changed).kind, "started", kind);
    }),
    { numRuns: CASES },
  );
});

test("nothing changes between decision and dispatch: every one is dispatched", () => {
  return fc.assert(
    fc.property(settings, (setting) => {
      assert.equal(dispatch(approved(setting)).kind, "started");
    }),
    runs(1_000),
  );
});

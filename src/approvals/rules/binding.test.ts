import assert from "node:assert/strict";
import { test } from "node:test";
import { digestOf } from "../../kernel/canonical-json.ts";
import type { ApprovalQuestion } from "../state.ts";
import { bindingOf, questionBinding } from "./ask.ts";

type BindingFacts = Parameters<typeof bindingOf>[0];

const facts: BindingFacts = {
  tenant: "acme",
  stream: "action/act_1",
  action: "act_1",
  tool: "refund",
  schema: "s",
  args: digestOf({ amount: 1 }),
  effectClass: "once",
  policy: "p",
  approvers: { quorum: 1, from: null, veto: true },
  requester: ["agent:a"],
  decideBy: null,
  executeBy: null,
  nonce: "n",
};

test("a binding is one digest over every term: change any, and it is another", () => {
  const others: readonly Partial<BindingFacts>[] = [
    { tenant: "b" },
    { stream: "x" },
    { action: "act_2" },
    { tool: "x" },
    { schema: "x" },
    { args: digestOf({ amount: 2 }) },
    { effectClass: "read" },
    { policy: "x" },
    { approvers: null },
    { approvers: { quorum: 1, from: null, veto: false } },
    { requester: ["agent:a", "person:b"] },
    { decideBy: 0 },
    { executeBy: 0 },
    { nonce: "x" },
    { grant: "grt_1" },
    { preview: "x" },
    { stages: [] },
    { stages: [{ quorum: 1, from: null, veto: true, decideWithinMs: null }] },
    { stages: [{ quorum: 1, from: null, veto: true, decideWithinMs: 1 }] },
    { onTimeout: "extend" },
    { onTimeout: "escalate" },
  ];
  const all = new Set([bindingOf(facts), ...others.map((other) => bindingOf({ ...facts, ...other }))]);
  assert.equal(all.size, others.length + 1);
});

test("a binding does not depend on the order in which its terms were written", () => {
  const backwards = Object.fromEntries(Object.entries(facts).reverse()) as BindingFacts;
  assert.equal(bindingOf(backwards), bindingOf(facts));
  assert.match(bindingOf(facts), /^[0-9a-f]{64}$/);
});

test("a binding is SHA-256 over RFC 8785 JSON of its terms, with and without those that may be absent", () => {
  for (const more of [{}, { grant: "grt_1" }, { preview: "p" }, { grant: "grt_1", preview: "p" }])
    assert.equal(bindingOf({ ...facts, ...more }), digestOf({ v: 1, ...facts, ...more }));
});

test("a binding without stages is what it was before there were any: recorded journals keep theirs", () => {
  assert.equal(bindingOf(facts), "0f71789b39850874bd3890935e22ec60c3405b795ef948de69f14785e13c549c");
});

test("a binding is the digest of RFC 8785 JSON, with stages and without", () => {
  const staged: BindingFacts = {
    ...facts,
    stages: [{ quorum: 2, from: ["person:a"], veto: false, decideWithinMs: 5 }],
    onTimeout: "escalate",
  };
  for (const one of [facts, staged]) assert.equal(bindingOf(one), digestOf({ ...one, v: 1 }));
});

const QUESTION: Required<ApprovalQuestion> = {
  action: "wf_1",
  tool: "refund",
  schema: "s",
  effectClass: "once",
  args: { amount: 1 },
  argsDigest: "a",
  agent: "agent:a",
  requester: ["agent:a"],
  says: "please",
  titleTemplate: "Refund",
  reason: "large",
  rule: "r1",
  approvers: { quorum: 1, from: null, veto: true },
  nonce: "n",
  binding: "b",
  preview: { value: 1, failed: false, digest: "p" },
  undo: { tool: "take back", args: {}, argsDigest: "u" },
  subject: { kind: "checkpoint", workflow: "wf_1", op: "op" },
  apart: ["person:poster"],
  workflow: "wf_1",
  risk: "low",
  policy: "p",
  documents: ["d"],
  decideBy: 5,
  executeBy: 9,
  stages: [{ quorum: 1, from: null, veto: true, decideWithinMs: null }],
  onTimeout: "extend",
};

/** Another value of each field, or that people do not agree to it. A new field does not compile until it is listed. */
const OTHER: {
  readonly [Field in keyof ApprovalQuestion]-?: Required<ApprovalQuestion>[Field] | "not bound";
} = {
  // Of a subject, by the stream.
  action: "wf_2",
  tool: "charge",
  schema: "t",
  effectClass: "read",
  // By its digest.
  args: "not bound",
  argsDigest: "b",
  agent: "not bound",
  requester: ["agent:b"],
  says: "not bound",
  titleTemplate: "not bound",
  reason: "not bound",
  rule: "not bound",
  approvers: { quorum: 2, from: null, veto: true },
  nonce: "m",
  binding: "not bound",
  preview: { value: 1, failed: false, digest: "q" },
  undo: { tool: "take back", args: {}, argsDigest: "v" },
  subject: { kind: "checkpoint", workflow: "wf_1", op: "other" },
  apart: [],
  workflow: "not bound",
  risk: "not bound",
  policy: "q",
  documents: "not bound",
  decideBy: null,
  executeBy: null,
  stages: [],
  onTimeout: "escalate",
};

test("every field of a question is bound, or is listed as one that people do not agree to", () => {
  const own = questionBinding("acme", QUESTION);
  for (const [field, other] of Object.entries(OTHER)) {
    const changed = { ...QUESTION, [field]: other === "not bound" ? "another" : other };
    const isBound = questionBinding("acme", changed as ApprovalQuestion) !== own;
    assert.equal(isBound, other !== "not bound", field);
  }
});

test("every fact of a binding changes it: a new one does not compile until it is listed", () => {
  const all: Required<BindingFacts> = {
    ...facts,
    stages: [],
    onTimeout: "extend",
    apart: ["person:poster"],
    grant: "grt_1",
    preview: "p",
    undo: "u",
  };
  for (const field of Object.keys(all)) {
    const other = { ...all, [field]: ["another"] } as unknown as BindingFacts;
    assert.notEqual(bindingOf(other), bindingOf(all), field);
  }
});

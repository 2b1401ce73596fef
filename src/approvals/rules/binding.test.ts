import assert from "node:assert/strict";
import { test } from "node:test";
import { digestOf } from "../../kernel/canonical-json.ts";
import { bindingOf } from "./ask.ts";

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

import assert from "node:assert/strict";
import { test } from "node:test";
import { whyUnsatisfiable } from "./verdict.ts";

const rule = (quorum: number, from: readonly string[] | null) => ({ quorum, from, veto: true });

test("a quorum of anybody can always be met", () => {
  assert.equal(whyUnsatisfiable(rule(5, null), ["agent:a"]), undefined);
});

test("a quorum needs that many distinct people who may vote", () => {
  assert.equal(whyUnsatisfiable(rule(2, ["person:a", "person:b"]), []), undefined);
  for (const from of [["person:a"], ["person:a", "person:a"], ["person:a", "agent:b"], []])
    assert.match(String(whyUnsatisfiable(rule(2, from), [])), /2 people are asked for/);
  assert.match(
    String(whyUnsatisfiable(rule(2, ["person:a", "person:b"]), ["agent:x", "person:b"])),
    /1 of those named/,
  );
});

test("a quorum is a whole number of at least one", () => {
  for (const quorum of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])
    assert.match(String(whyUnsatisfiable(rule(quorum, null), [])), /whole number/);
});

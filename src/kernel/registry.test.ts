import assert from "node:assert/strict";
import { test } from "node:test";
import { ID_RANDOM_BYTES, isId, makeId } from "./ids.ts";
import { isPerson, isPrincipal } from "./principal.ts";

const zeros = new Uint8Array(ID_RANDOM_BYTES);
const ones = new Uint8Array(ID_RANDOM_BYTES).fill(255);

test("an id is a prefix and 26 characters that nobody misreads", () => {
  assert.match(makeId("act", 1_800_000_000_000, ones), /^act_[0-9A-HJKMNP-TV-Z]{26}$/);
  assert.equal(makeId("act", 0, zeros), `act_${"0".repeat(26)}`);
});

test("ids sort by age, whatever their random part", () => {
  assert.ok(makeId("act", 1, ones) < makeId("act", 2, zeros));
  assert.ok(makeId("act", 1_800_000_000_000, ones) < makeId("act", 1_800_000_000_001, zeros));
});

test("an id is recognised by its own prefix only", () => {
  const id = makeId("apr", 5, ones);
  assert.equal(isId("apr", id), true);
  for (const wrong of [
    id.replace("apr", "act"),
    id.toLowerCase(),
    `${id}0`,
    id.slice(0, -1),
    `${id}\n`,
    "",
    null,
    5,
  ])
    assert.equal(isId("apr", wrong), false, String(wrong));
});

test("a principal is a person, an agent or a service with a name", () => {
  for (const right of [
    "person:ann",
    "agent:a.b",
    "service:cron",
    "person:Zoë van Dam",
    "person:ann@example.com",
  ])
    assert.equal(isPrincipal(right), true, right);
  for (const wrong of [
    "ann",
    "person:",
    "person: ann",
    "person:ann ",
    "person:ann\u00a0",
    "robot:x",
    "person:a\nb",
    "person:/x",
    `person:${"x".repeat(201)}`,
    "person:\ud800",
    null,
    5,
    {},
  ])
    assert.equal(isPrincipal(wrong), false, String(wrong));
  assert.equal(isPerson("person:ann"), true);
  assert.equal(isPerson("agent:ann"), false);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { readMicros, writeMicros } from "./micros-json.ts";

const through = (value: unknown): unknown => JSON.parse(JSON.stringify(value, writeMicros), readMicros);

test("whole numbers come through as they were, and so does what an agent has named like one", () => {
  for (const value of [
    { cost: { currency: "USD", micros: 5n }, list: [-7n, [0n]] },
    { amount: { $micros: "x" } },
    { amount: { $micros: "5" } },
    { $micros: "5", $$micros: 6n, $$$micros: { $micros: "-1" } },
    [{ $micros: { $micros: 5n } }, { $: 1, micros: 2, $$: null }],
    JSON.parse('{ "__proto__": { "$micros": "5" }, "$micros": [] }'),
    9n ** 30n,
  ])
    assert.deepEqual(through(value), value);
});

test("what is not exactly a whole number under that one key stays what it is", () => {
  const texts = [
    '{"$micros":"x"}',
    '{"$micros":""}',
    '{"$micros":"0x1"}',
    '{"$micros":5}',
    '{"$micros":"5","a":1}',
  ];
  for (const text of texts) assert.deepEqual(JSON.parse(text, readMicros), JSON.parse(text), text);
  assert.equal(JSON.parse('{"$micros":"-5"}', readMicros), -5n);
});

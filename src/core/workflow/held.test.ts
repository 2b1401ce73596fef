import assert from "node:assert/strict";
import { test } from "node:test";
import { heldOn, obstacleOf, roomIn } from "./held.ts";

test("whoever holds something up is found again by what they say of themselves", () => {
  assert.equal(heldOn({ by: "kill switch (tenant)" }), "switch/tenant");
  assert.equal(heldOn({ by: "kill switch (agent:a (b))" }), "switch/agent:a (b)");
  assert.equal(heldOn({ by: "budget trip:17" }), "budget/trip:17");
  assert.equal(heldOn({ by: "somebody" }), "somebody");
  assert.deepEqual(obstacleOf("switch/agent:a"), { kind: "switch", id: "agent:a" });
  assert.deepEqual(obstacleOf("budget/trip"), { kind: "budget", id: "trip" });
  assert.equal(obstacleOf("somebody"), undefined);
  assert.equal(obstacleOf("action/act_1"), undefined);
});

test("a budget has the room that is neither spent nor reserved, and never less than none", () => {
  const budget = { spent: 4n, reserved: 5n, overrun: 0n, reservations: new Map() };
  assert.equal(roomIn({ ...budget, limit: { currency: "USD", micros: 10n } }), 1n);
  assert.equal(roomIn({ ...budget, limit: { currency: "USD", micros: 8n } }), 0n);
  assert.equal(roomIn({ ...budget, limit: null }), 0n);
});

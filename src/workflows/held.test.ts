import assert from "node:assert/strict";
import { test } from "node:test";
import { obstacleName, parseObstacle, remainingBudget } from "./state.ts";

test("whoever holds something up is found again by what they say of themselves", () => {
  assert.equal(obstacleName({ by: "kill switch (tenant)" }), "switch/tenant");
  assert.equal(obstacleName({ by: "kill switch (agent:a (b))" }), "switch/agent:a (b)");
  assert.equal(obstacleName({ by: "budget trip:17" }), "budget/trip:17");
  assert.equal(obstacleName({ by: "somebody" }), "somebody");
  assert.deepEqual(parseObstacle("switch/agent:a"), { kind: "switch", id: "agent:a" });
  assert.deepEqual(parseObstacle("budget/trip"), { kind: "budget", id: "trip" });
  assert.equal(parseObstacle("somebody"), undefined);
  assert.equal(parseObstacle("action/act_1"), undefined);
});

test("a budget has the room that is neither spent nor reserved, and never less than none", () => {
  const budget = { spent: 4n, reserved: 5n, overrun: 0n, reservations: new Map() };
  assert.equal(remainingBudget({ ...budget, limit: { currency: "USD", micros: 10n } }), 1n);
  assert.equal(remainingBudget({ ...budget, limit: { currency: "USD", micros: 8n } }), 0n);
  assert.equal(remainingBudget({ ...budget, limit: null }), 0n);
});

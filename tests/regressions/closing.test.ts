/** An instance that closes beside another one: until it has come to rest, what it has in hand is its own. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { recoverDead } from "../../src/engine/recover.ts";
import { machine, settled } from "../fixtures/runtime.ts";

const LEASE_MS = 3_000;

test("an effect that takes longer than the lease ends in the name of the instance that closes meanwhile", async () => {
  const computer = machine({ leaseMs: LEASE_MS });
  const [closing, other] = [computer.process(), computer.process()];
  const out = Promise.withResolvers<void>();
  const slow = closing.gate({ name: "slow", policy: "approve", run: () => out.promise });
  other.gate({ name: "slow", policy: "approve", run: () => undefined });
  const answer = slow({}, { requestId: "one" });
  await settled();
  const closed = closing.close();
  await computer.clock.advance(LEASE_MS * 3);
  await recoverDead(other.runtime);
  assert.equal((await other.actions.get("one")).phase, "running");
  out.resolve();
  await computer.clock.advance(LEASE_MS);
  await closed;
  assert.equal((await answer).executed, true);
  assert.equal((await other.actions.get("one")).phase, "applied");
});

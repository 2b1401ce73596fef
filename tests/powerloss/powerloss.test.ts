import assert from "node:assert/strict";
import { test } from "node:test";
import { cutJobs, doJob, faultJobs } from "./job.ts";
import { neverSeen, startCounting } from "./summary.ts";
import { FAULTS, type Fault, work } from "./workload.ts";

/** Too rare to be met in a few images. */
const RARE = ["in a large transaction", "names unsynced", "a name was lost or came back", "while closing"];

test("whenever the power goes, what was acknowledged is there afterwards, whole, and verifies", async () => {
  const summary = startCounting();
  for (const job of cutJobs(40, 1)) for (const sight of await doJob(job)) summary.add(sight);
  assert.deepEqual(summary.wrong, []);
  assert.deepEqual(
    neverSeen(summary).filter((what) => !RARE.includes(what)),
    [],
  );
});

async function shows(fault: Fault): Promise<boolean> {
  for (const job of faultJobs(fault, 100, 1)) {
    const sights = await doJob(job);
    if (sights.some(({ isWrong, lost }) => (fault === "synchronous_normal" ? lost > 0 : isWrong)))
      return true;
  }
  return false;
}

for (const fault of FAULTS)
  test(`a store that is less careful is found out: ${fault}`, async () => {
    assert.ok(await shows(fault));
  });

test("a seed repeats a workload to the byte", async () => {
  const [first, again] = [await work({ seed: 7 }), await work({ seed: 7 })];
  assert.deepEqual(first.settings, again.settings);
  assert.ok(first.disk.log.length > 500);
  const bytes = (op: unknown) =>
    JSON.stringify(op, (_, value) => (ArrayBuffer.isView(value) ? `${value}` : value));
  // Of two logs that differ everywhere no difference is printed: it would not fit into memory.
  const other = first.disk.log.findIndex((op, at) => bytes(op) !== bytes(again.disk.log[at]));
  assert.equal(other, -1, `another operation at ${other}`);
  assert.equal(first.disk.log.length, again.disk.log.length);
});

test("every sync of the store asks for what it holds to reach the medium itself", async () => {
  const { disk } = await work({ seed: 3 });
  const syncs = disk.log.filter((op) => op.kind === "sync");
  assert.ok(syncs.length > 20);
  assert.ok(syncs.every(({ full }) => full));
});

/** A back-test beside other work: it asks whose turn it is before every entry, and ends when it is told to. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { instanceDefinitions } from "../../src/open.ts";
import { runBacktest } from "../../src/policy/backtest/run.ts";
import { compileForTrial } from "../../src/policy/read.ts";
import { createYieldCheck } from "../../src/runtime/concurrency.ts";
import { temporaryFolder } from "../fixtures/folder.ts";

test("others have their turn between any two entries, and a stop ends it there", async (context) => {
  const hp = temporaryFolder(context).open();
  const pay = hp.gate({ name: "pay", policy: "approve", run: () => null });
  for (let n = 0; n < 5; n++) await pay({ n }, { requestId: `pay ${n}` });
  const { runtime } = (await instanceDefinitions.get(hp)?.open()) ?? assert.fail();
  const candidate = compileForTrial({ policy: "p", default: "block" });
  const entries = (await runtime.store.log(runtime.tenant, 0, 1_000)).length;
  let asked = 0;
  const pace = () => {
    asked += 1;
    return undefined;
  };
  const { changed } = await runBacktest(runtime, candidate, { pace });
  assert.deepEqual([changed, asked], [5, entries]);
  const stop = AbortSignal.abort();
  await assert.rejects(
    runBacktest(runtime, candidate, { pace: createYieldCheck({ clock: runtime.clock, closing: stop }) }),
    /closed/,
  );
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { runProcesses } from "./run.ts";

const WINDOW_S = 8;
/** A machine that is busy with something else gets more windows to do enough in, each longer than the one before. */
const MOST_WINDOWS = 6;

test("four processes on one file, killed and frozen: nothing lost, nothing doubled, nobody taken for dead who lives", async () => {
  const done = { kills: 0, calls: 0, decisions: 0, recoveredEpochs: 0 };
  const isEnough = () =>
    done.kills >= 8 && done.calls >= 200 && done.decisions >= 10 && done.recoveredEpochs >= 3;
  for (let window = 0; window < MOST_WINDOWS && !isEnough(); window++) {
    const findings = await runProcesses(WINDOW_S * (window + 1));
    assert.deepEqual(findings.wrong, []);
    done.kills += findings.kills;
    done.calls += findings.calls;
    done.decisions += findings.decisions;
    done.recoveredEpochs += findings.recoveredEpochs;
  }
  assert.ok(isEnough(), `too little happened: ${JSON.stringify(done)}`);
});

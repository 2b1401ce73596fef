import assert from "node:assert/strict";
import { test } from "node:test";
import { runProcesses } from "./run.ts";

test("four processes on one file, killed and frozen: nothing lost, nothing doubled, nobody taken for dead who lives", async () => {
  const findings = await runProcesses(8);
  assert.deepEqual(findings.wrong, []);
  assert.ok(findings.kills >= 8, `only ${findings.kills} kills`);
  assert.ok(findings.calls >= 200, `only ${findings.calls} calls were answered`);
  assert.ok(findings.decisions >= 10, `only ${findings.decisions} decisions`);
  assert.ok(findings.recoveredEpochs >= 3, `only ${findings.recoveredEpochs} epochs were recovered`);
});

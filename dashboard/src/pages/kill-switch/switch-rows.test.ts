import assert from "node:assert/strict";
import { test } from "node:test";
import { switchRows } from "./switch-rows.ts";

const said = { paused: true, by: "person:ann", reason: "drill", at: "2026-01-01T00:00:00.000Z" } as const;
const stopOf = (whose: { readonly agent?: string; readonly workflow_id?: string }) => ({
  ...said,
  ...{ agent: null, workflow_id: null, ...whose },
});

test("what is stopped stands first, whether or not it is among those that are known here; nobody stands there twice", () => {
  const stops = [stopOf({ agent: "service:zebra" }), stopOf({}), stopOf({ workflow_id: "wf_1" })];
  const rows = switchRows(stops, ["agent:ant", "service:zebra"]);
  assert.deepEqual(
    rows.map(({ name, stop }) => [name, stop !== null]),
    [
      ["service:zebra", true],
      ["wf_1", true],
      ["agent:ant", false],
    ],
  );
  assert.deepEqual(rows[1]?.whose, { workflow_id: "wf_1" });
});

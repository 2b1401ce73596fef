import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { GENESIS, headerBytes } from "../../../journal/entry.ts";
import { parseReplayEntry } from "./replay.ts";

const ZERO = GENESIS;

function headerOf(stream: string, type: string): string {
  return headerBytes({
    v: 1,
    tenant: 'a"type":"action.proposed"',
    stream,
    seq: 3,
    type,
    tv: 1,
    at: 7,
    prev: ZERO,
    body: ZERO,
  });
}

test("the type of an entry is found in its header, whatever its stream and tenant are called", () => {
  const forged = 'action/act_1","type":"approval.rejected';
  for (const stream of ["action/act_1", forged, 'action/\\"type\\":\\"call.made']) {
    const taped = parseReplayEntry({ position: 1, header: headerOf(stream, "action.reviewed"), body: null });
    assert.equal(taped?.type, "action.reviewed");
    assert.equal(`${taped?.kind}/${taped?.id}`.endsWith(stream.slice(stream.indexOf("/") + 1)), true);
  }
});

test("an entry of a stream that a policy sees nothing of is left out", () => {
  for (const stream of ["epoch/ep_1", "budget/action/act_1", "answer/approval/apr_1"]) {
    const header = headerOf(stream, "action.proposed");
    assert.equal(parseReplayEntry({ position: 1, header, body: null }), undefined);
  }
});

test("any name of a stream leaves the type as it is", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (name) => {
      if (!name.isWellFormed()) return;
      const header = headerOf(`action/${name}`, "effect.started");
      const taped = parseReplayEntry({ position: 1, header, body: "{}" });
      assert.deepEqual([taped?.type, taped?.id, taped?.at], ["effect.started", name, 7]);
    }),
    { numRuns: 300 },
  );
});

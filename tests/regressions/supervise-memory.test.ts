/** A program that makes a policy for each of its runs does not keep them all. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { PolicyText } from "../../src/policy/rules/document.ts";
import { FINAL, GOAL, scripted } from "../supervise/refund.ts";
import { office } from "../workflows/office.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

test("the document of a run that is over is let go of", async () => {
  const place = office();
  const desk = place.open();
  const run = async (policy: PolicyText): Promise<WeakRef<object>> => {
    const model = scripted(FINAL);
    await place.finish(desk.supervise({ goal: GOAL, tools: [], policy, model }));
    return new WeakRef(policy);
  };
  const documents: WeakRef<object>[] = [];
  for (const policy of ["a", "b", "c"]) documents.push(await run({ policy, default: "approve" }));
  const isKept = () => documents.some((one) => one.deref() !== undefined);
  for (let round = 0; round < 20 && isKept(); round++) {
    await place.pass(1_000);
    collectGarbage();
  }
  assert.equal(isKept(), false);
  await desk.close();
});

// The tools of the refund case: those of the demo, and the same as an example to start from.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { refunded, refundTools } from "../../examples/demos/refund-tools.ts";
import { temporaryFolder } from "../fixtures/folder.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const REFUSED = { status: "error", error: "refund_reason_must_not_be_blank" };

test("a refund without a reason, or with a blank one, does not pay", async (context) => {
  for (const reason of ["", " ", "\t\n"])
    assert.deepEqual(refunded({ user_id: 42, amount_usd: 100, reason }), REFUSED);
  const paid: object[] = [];
  const outside = { once: (_key: string, entry: object) => void paid.push(entry) };
  const hp = temporaryFolder(context).open({ policy: { policy: "p", default: "approve" } });
  const [, refund] = refundTools(hp, outside);
  for (const [index, more] of [{}, { reason: "" }, { reason: "  " }].entries()) {
    const answer = await refund({ user_id: 42, amount_usd: 100, ...more }, { requestId: `r-${index}` });
    assert.deepEqual(answer.status === "done" ? answer.result : answer, REFUSED);
  }
  assert.deepEqual(paid, []);
  await refund({ user_id: 42, amount_usd: 100, reason: "late" }, { requestId: "r-9" });
  assert.equal(paid.length, 1);
  await hp.close();
});

test("the demo and the example have the same tools: only what they import Holdpoint from differs", () => {
  const text = (path: string) =>
    readFileSync(join(ROOT, path), "utf8")
      .split("\n")
      .filter((line) => !/^import type \{ Holdpoint \} from /.test(line))
      .join("\n");
  assert.equal(text("examples/refund/tools.ts"), text("examples/demos/refund-tools.ts"));
});

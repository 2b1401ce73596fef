/** Gated tools that are called below a definition or an effect, in processes that are killed. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { cli, killHard, linesOf, makePlace, run, startUntil } from "./program.ts";

const DIRECT = join(import.meta.dirname, "direct-call.ts");
const NESTED = join(import.meta.dirname, "nested-call.ts");

test("a gated tool called without ctx.call in a definition runs once, although the process is killed and the definition runs again", async () => {
  const place = makePlace();
  try {
    const { child, match } = await startUntil(place, DIRECT, /approve (apr_[0-9A-Z]{26})/);
    await killHard(child);
    assert.deepEqual(linesOf(place, "effects.log"), ["mail ann"]);

    const approved = cli(place, "approve", match[1] ?? "");
    assert.equal(approved.code, 0, approved.err);

    const second = run(place, DIRECT);
    assert.partialDeepStrictEqual(JSON.parse(second.out), { result: ["sent", "paid"] });
    assert.deepEqual(linesOf(place, "effects.log"), ["mail ann", "pay 1"]);

    const third = run(place, DIRECT);
    assert.equal(third.out, second.out);
    assert.deepEqual(linesOf(place, "effects.log"), ["mail ann", "pay 1"]);
    assert.equal(cli(place, "verify").code, 0);
  } finally {
    place.remove();
  }
});

test("a gated tool called inside another tool's function is refused by both names, asks nobody and leaves nothing behind", () => {
  const place = makePlace();
  try {
    for (const turn of ["first", "second"]) {
      const { out, err } = run(place, NESTED);
      const [answer, known] = out.split("\n");
      const outer = JSON.parse(answer ?? "") as { status: unknown; reason: string };
      assert.equal(outer.status, "in_doubt", `${turn}: ${err}`);
      assert.match(outer.reason, /The tool "pay" was called inside the function of the tool "desk"/);
      assert.deepEqual(JSON.parse(known ?? ""), ["fulfilled", "rejected"], "only the outer action exists");
      assert.doesNotMatch(err, /pay waits/);
    }
    assert.deepEqual(linesOf(place, "effects.log"), []);
    const doubts = cli(place, "in-doubt", "--json").out.trim().split("\n");
    assert.deepEqual(
      doubts.map((line) => (JSON.parse(line) as { tool: string }).tool),
      ["desk"],
    );
  } finally {
    place.remove();
  }
});

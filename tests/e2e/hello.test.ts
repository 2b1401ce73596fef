import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { cli, killHard, linesOf, makePlace, ROOT, run, startUntil } from "./program.ts";

const HELLO = join(ROOT, "examples/hello.ts");
const DIES = join(import.meta.dirname, "dies-after-effect.ts");

test("hello world: killed while it waits, approved elsewhere, run again: done once, and the receipt stays the same", async () => {
  const place = makePlace();
  try {
    const { child, match } = await startUntil(place, HELLO, /approve (apr_[0-9A-Z]{26})/);
    await killHard(child);
    assert.deepEqual(linesOf(place, "deleted.log"), []);

    const approved = cli(place, "approve", match[1] ?? "", "--note", "go ahead");
    assert.equal(approved.code, 0, approved.err);

    const second = run(place, HELLO);
    assert.match(second.out, /status: 'done'/);
    assert.deepEqual(linesOf(place, "deleted.log"), ["record 42 deleted"]);

    const third = run(place, HELLO);
    assert.equal(third.out, second.out);
    assert.deepEqual(linesOf(place, "deleted.log"), ["record 42 deleted"]);
    assert.equal(cli(place, "verify").code, 0);
  } finally {
    place.remove();
  }
});

test("killed after the effect and before its record: in doubt, shown, resolved by a person, never run again", () => {
  const place = makePlace();
  try {
    const first = run(place, DIES);
    assert.equal(first.code, null);

    const second = run(place, DIES);
    const answer = JSON.parse(second.out) as { status: string; effect: string };
    assert.equal(answer.status, "in_doubt");

    const shown = cli(place, "in-doubt", "--json");
    assert.ok(shown.out.includes(answer.effect), shown.out + shown.err);

    const resolved = cli(place, "resolve", answer.effect, "applied", "--reason", "the log has the record");
    assert.equal(resolved.code, 0, resolved.err);

    const third = JSON.parse(run(place, DIES).out) as {
      status: string;
      receipt: { status: string; by: string };
    };
    assert.equal(third.status, "done");
    assert.equal(third.receipt.status, "applied");
    assert.match(third.receipt.by, /^person:/);
    assert.deepEqual(linesOf(place, "deleted.log"), ["record 42 deleted"]);
  } finally {
    place.remove();
  }
});

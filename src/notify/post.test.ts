import assert from "node:assert/strict";
import { test } from "node:test";
import { postOutcome } from "./post.ts";

const NOW = Date.UTC(2026, 4, 4, 10);
const DAY_MS = 86_400_000;

const waitFor = (status: number, retryAfter?: string): number | undefined => {
  const outcome = postOutcome(
    { kind: "answered", status, ...(retryAfter === undefined ? {} : { retryAfter }) },
    NOW,
  );
  assert.equal(outcome.kind, "failed");
  return outcome.kind === "failed" ? outcome.waitMs : undefined;
};

test("a busy receiver says in seconds, or by a date, when to try again; at most a day is waited", () => {
  assert.equal(waitFor(429, "120"), 120_000);
  assert.equal(waitFor(503, "Mon, 04 May 2026 10:05:00 GMT"), 300_000);
  assert.equal(waitFor(429, "999999999"), DAY_MS);
  for (const text of [undefined, "0", "-5", "soon", "1e9", "Mon, 04 May 2026 09:00:00 GMT"])
    assert.equal(waitFor(429, text), undefined, text);
});

test("other failures are tried again as usual, whatever the receiver says", () => {
  assert.equal(waitFor(500, "120"), undefined);
  assert.deepEqual(postOutcome({ kind: "failed", problem: "timed_out" }, NOW), {
    kind: "failed",
    status: null,
    problem: "timed_out",
  });
});

test("2xx is delivered, and 410 ends the endpoint", () => {
  assert.deepEqual(postOutcome({ kind: "answered", status: 202 }, NOW), { kind: "delivered", status: 202 });
  assert.deepEqual(postOutcome({ kind: "answered", status: 410, retryAfter: "5" }, NOW), {
    kind: "gone",
    status: 410,
    problem: "status_410",
  });
});

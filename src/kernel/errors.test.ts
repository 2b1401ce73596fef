import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { ERROR_CODES, type ErrorCode, HoldpointError, isHoldpointError } from "./errors.ts";
import { REFUSALS } from "./refusals.ts";

const root = join(import.meta.dirname, "../..");
const page = readFileSync(join(root, "docs/reference/errors.md"), "utf8");
const [, errors = "", refusals = ""] = page.split(/^## /m);

/** The rows of a table, as cells. */
function rows(part: string): readonly (readonly string[])[] {
  const lines = part.split("\n").filter((line) => line.startsWith("| `"));
  return lines.map((line) => line.slice(2, -2).split(" | "));
}

const yes = (value: boolean) => (value ? "yes" : "no");
const sources = globSync("src/**/*.ts", { cwd: root })
  .filter((file) => !file.endsWith(".test.ts") && !/^src\/(testing|core\/(errors|refusal)\.ts)/.test(file))
  .map((file) => readFileSync(join(root, file), "utf8"))
  .join("\n");

describe("docs/reference/errors.md", () => {
  test("has every error that there is, and no other, with its status, its retry, its data and its advice", () => {
    const expected = Object.entries(ERROR_CODES).map(([code, { status, retryable, data, next }]) => [
      `\`${code}\``,
      String(status),
      yes(retryable),
      data,
      next,
    ]);
    const written = rows(errors).map(([code, status, retryable, , data, next]) => [
      code,
      status,
      retryable,
      data,
      next,
    ]);
    assert.deepEqual(written, expected);
  });

  test("has every refusal that there is, and no other, with its retry and its advice", () => {
    const expected = Object.entries(REFUSALS).map(([code, { retry, next }]) => [
      `\`${code}\``,
      yes(retry),
      next,
    ]);
    assert.deepEqual(
      rows(refusals).map(([code, retry, , next]) => [code, retry, next]),
      expected,
    );
  });

  test("says of each in a sentence what it means", () => {
    for (const row of [...rows(errors), ...rows(refusals)]) {
      const means = row.length === 6 ? row[3] : row[2];
      assert.match(String(means), /^.{10,}[.?]$/, row[0]);
    }
  });
});

describe("the tables of codes", () => {
  for (const code of [...Object.keys(ERROR_CODES), ...Object.keys(REFUSALS)]) {
    test(`${code} is used somewhere`, () => assert.ok(sources.includes(`"${code}"`)));
  }
});

describe("an error", () => {
  test("says what was wrong, what happened to the data and what to do, and ends with its code", () => {
    for (const code of Object.keys(ERROR_CODES) as ErrorCode[]) {
      const error = new HoldpointError(code, "It was wrong.");
      assert.equal(error.message, `It was wrong. ${error.data} ${error.next} [${code}]`);
      for (const sentence of [error.data, error.next]) assert.match(sentence, /^[A-Z].*\.$/);
      assert.ok(error.status >= 400 && error.status < 600);
    }
  });

  test("keeps its cause, its details and advice of its own", () => {
    const cause = new Error("disk");
    const error = new HoldpointError("store_full", "Full.", {
      cause,
      next: "Buy a disk.",
      details: { free: 0 },
    });
    assert.equal(error.cause, cause);
    assert.deepEqual([error.next, error.details], ["Buy a disk.", { free: 0 }]);
  });

  test("is recognised by its code", () => {
    const error = new HoldpointError("closed", "Closed.");
    assert.equal(isHoldpointError(error), true);
    assert.equal(isHoldpointError(error, "closed"), true);
    assert.equal(isHoldpointError(error, "store_full"), false);
    assert.equal(isHoldpointError(new Error("closed")), false);
  });

  test("that may succeed later is one of the store's, of a lost lease, of asking too often, or of a call that waits", () => {
    const retryable = Object.entries(ERROR_CODES).filter(([, facts]) => facts.retryable);
    assert.deepEqual(
      retryable.map(([code]) => code),
      [
        "rate_limited",
        "caller_gone",
        "server_busy",
        "call_pending",
        "epoch_ended",
        "store_busy",
        "store_full",
        "store_unavailable",
        "commit_unknown",
      ],
    );
  });
});

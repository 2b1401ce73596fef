import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isHoldpointError } from "../../kernel/errors.ts";
import { actionStream, budgetStream } from "../../kernel/stream.ts";
import { idleTimeoutMs, refuseUnsuitable, statementMs } from "./connect.ts";
import { decodeText, encodeText, fullTextOfKey, indexKey } from "./encode.ts";
import { isConnectionLost, isTransient, translatePostgresError } from "./errors.ts";
import { type BatchMember, createQueues } from "./group-commit.ts";
import { createLockPrediction, lockOf, orderLocks } from "./locks.ts";

const sqlError = (code: string): Error => Object.assign(new Error("from the server"), { code });
const patience = { random: (bytes: number) => new Uint8Array(bytes), busyMs: 1_000 };

function memberOf(tenant: string, answer: () => void): BatchMember {
  const fixed = { tenant, decide: () => ({ kind: "commit", append: [], result: null }) as const };
  const counts = { rounds: 0, tries: 0, alone: false, writes: false };
  return { ...fixed, ...counts, needs: {}, deadline: performance.now() + 1_000, answer, refuse: assert.fail };
}

describe("parts of the PostgreSQL store", () => {
  test("texts with any sign come back, and no two have one key", () => {
    const odd = ["plain", "a\\0b", "a\0b", "a\\\\0b", "\\hx", "\0", "\\", "é\u{1f600}", "x".repeat(5_000)];
    for (const text of odd) assert.equal(decodeText(encodeText(text)), text);
    assert.equal(new Set(odd.map(indexKey)).size, odd.length);
    for (const text of odd) assert.ok(Buffer.byteLength(indexKey(text)) <= 1_000);
    assert.deepEqual(
      odd.map((text) => fullTextOfKey(text, indexKey(text)) !== null),
      odd.map((text) => text.length > 1_000),
    );
  });

  test("locks are in one order, each once, in the stronger mode; kinds, tenants and stores differ", () => {
    const space = { seed: 7 };
    const of = (name: string, write: boolean) => ({ ...lockOf(space, "stream", 1, name), write });
    const all = orderLocks([of("b", false), of("a", false), of("b", true), of("c", false), of("a", false)]);
    assert.equal(all.length, 3);
    assert.deepEqual(all, orderLocks([...all].reverse()));
    assert.equal(all.filter(({ write }) => write).length, 1);
    const kinds = [
      lockOf(space, "stream", 1, "a"),
      lockOf(space, "name", 1, "a"),
      lockOf(space, "work", 1, "a"),
      lockOf(space, "stream", 2, "a"),
      lockOf({ seed: 8 }, "stream", 1, "a"),
    ];
    assert.equal(new Set(kinds.map(({ high, low }) => `${high}/${low}`)).size, kinds.length);
  });

  test("a hundred thousand names share no lock", () => {
    const seen = new Set<string>();
    for (let index = 0; index < 100_000; index++) {
      const { high, low } = lockOf({ seed: 1 }, "name", 1, `request/r-${index}`);
      seen.add(`${high}/${low}`);
    }
    assert.equal(seen.size, 100_000);
  });

  test("every trouble of the server has a code of Holdpoint's", () => {
    const codes = {
      "53100": "store_full",
      "25006": "store_read_only",
      "53300": "store_busy",
      "55P03": "store_busy",
      "40P01": "store_busy",
      "57P01": "store_unavailable",
      "57P03": "store_unavailable",
      "08006": "store_unavailable",
      "28P01": "store_unavailable",
      "3D000": "store_unavailable",
      "42501": "store_unsuitable",
      "23505": "broken_rule",
      "54000": "payload_too_large",
      XX001: "store_corrupt",
      "99999": "store_unavailable",
    };
    for (const [state, code] of Object.entries(codes)) {
      const error = translatePostgresError(sqlError(state));
      assert.ok(isHoldpointError(error), state);
      assert.equal(error.code, code, state);
    }
    const mistake = new TypeError("a mistake");
    assert.equal(translatePostgresError(mistake), mistake);
  });

  test("only what passes is waited for, and only a lost line leaves a commit open", () => {
    for (const code of ["ECONNREFUSED", "57P01", "57P03", "08006", "25P03"])
      assert.ok(isConnectionLost(sqlError(code)), code);
    assert.ok(isConnectionLost(new Error("Connection terminated unexpectedly")));
    for (const code of ["40001", "40P01", "55P03", "53300"]) {
      assert.ok(isTransient(sqlError(code)), code);
      assert.ok(!isConnectionLost(sqlError(code)), code);
    }
    for (const code of ["53100", "23505", "42501", "28P01"]) assert.ok(!isTransient(sqlError(code)), code);
  });

  test("a line is not cut before the server's own time-outs would have answered", () => {
    for (const busyMs of [1, 15_000, 3_600_000])
      assert.ok(idleTimeoutMs({ busyMs }) > statementMs(busyMs) + 1_000, String(busyMs));
  });

  test("a server that does not keep what it acknowledges is refused", () => {
    const good = ["on", "on", "on", "on", "UTF8", "180004", "false", "off"];
    refuseUnsuitable(good);
    const changes = ["off", "off", "off", "off", "LATIN1", "130000", "true", "on"];
    for (const [at, value] of changes.entries()) {
      const code = at >= 6 ? "store_read_only" : "store_unsuitable";
      assert.throws(() => refuseUnsuitable(good.with(at, value)), { code }, `${at}`);
    }
  });

  test("what is asked for in a second round again and again is taken along, what only one asks for is not", () => {
    const habits = createLockPrediction();
    const asked = { read: [actionStream("switch")], write: [budgetStream("all")] };
    habits.learn(4, [asked, asked, { write: [actionStream("rare")] }]);
    assert.deepEqual(habits.usual(), { write: [], read: [] });
    habits.learn(4, [asked, asked, { write: [actionStream("rare")] }]);
    assert.deepEqual(habits.usual(), { write: asked.write, read: asked.read });
    for (let batch = 0; batch < 300; batch++) habits.learn(4, []);
    assert.deepEqual(habits.usual(), { write: [], read: [] });
  });

  test("a tenant that never stops asking keeps no other from being served", async () => {
    const served: string[] = [];
    let left = 200;
    const queues = createQueues({
      patience,
      most: 1,
      async run(tenant, members) {
        served.push(tenant);
        for (const member of members) member.answer(null);
        return [];
      },
    });
    const flood = () => queues.submit(memberOf("busy", () => --left > 0 && flood()));
    flood();
    const other = new Promise<void>((resolve) => queues.submit(memberOf("quiet", resolve)));
    await other;
    assert.ok(left > 100, `${left} left`);
    left = 0;
    await queues.close();
    assert.ok(served.includes("busy"));
  });
});

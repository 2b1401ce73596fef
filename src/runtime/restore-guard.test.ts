import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openWitness, tenantKey, type Witness } from "./restore-guard.ts";

const hash = (digit: string): string => digit.repeat(64);
const seen = (n: number) => ({ n, position: n * 10, hash: hash(String(n % 10)) });

function folderOf(context: TestContext): string {
  const root = mkdtempSync(join(tmpdir(), "holdpoint-witness-"));
  context.after(() => rmSync(root, { recursive: true, force: true }));
  return join(root, "witness");
}

const numberOf = (witness: Witness, tenant: string): number | undefined => witness.last("first", tenant)?.n;

test("a witness remembers the last seal of a tenant and of a history, and nothing before it", (t) => {
  const folder = folderOf(t);
  const witness = openWitness(folder);
  assert.equal(witness.last("first", "acme"), undefined);
  for (const n of [1, 2, 30]) witness.saw("first", "acme", seen(n));
  witness.saw("first", "other", seen(4));
  assert.partialDeepStrictEqual(witness.last("first", "acme"), seen(30));
  assert.equal(numberOf(witness, "other"), 4);
  assert.equal(witness.last("second", "acme"), undefined);
  assert.deepEqual(
    [...witness.all("first").keys()].toSorted(),
    [tenantKey("acme"), tenantKey("other")].toSorted(),
  );
  assert.equal(readdirSync(join(folder, "first")).length, 2);
});

test("it only moves forward, also when a slower process writes last", (t) => {
  const folder = folderOf(t);
  const [fast, slow] = [openWitness(folder), openWitness(folder)];
  fast.saw("first", "acme", seen(7));
  slow.saw("first", "acme", seen(6));
  assert.equal(numberOf(slow, "acme"), 7);
  // As if it had looked before the other one wrote.
  writeFileSync(join(folder, "first", `${tenantKey("acme")}-6-60-${hash("6")}`), "");
  assert.equal(numberOf(fast, "acme"), 7);
});

test("a name of a history that is no file name, and files that are not its own, are no trouble", (t) => {
  const folder = folderOf(t);
  const witness = openWitness(folder);
  witness.saw("../../etc", "a/b", seen(1));
  assert.equal(witness.last("../../etc", "a/b")?.n, 1);
  witness.saw("first", "acme", seen(2));
  writeFileSync(join(folder, "first", "notes.txt"), "x");
  assert.equal(numberOf(witness, "acme"), 2);
});

test("where it cannot be kept nothing is known, and nobody is held up", (t) => {
  const folder = folderOf(t);
  writeFileSync(folder, "a file where the folder would be");
  chmodSync(folder, 0o400);
  const witness = openWitness(folder);
  witness.saw("first", "acme", seen(1));
  assert.equal(witness.last("first", "acme"), undefined);
});

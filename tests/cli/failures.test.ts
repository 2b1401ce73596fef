// What cannot work: said in words, with an exit code, and without touching anything.
import assert from "node:assert/strict";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, describe, test } from "node:test";
import { holdpoint } from "../../src/index.ts";
import { errorOf, type Place, runCli } from "./bench.ts";

const NOBODY = 65_534;
const ID = `apr_${"0".repeat(26)}`;
const root = mkdtempSync(join(tmpdir(), "holdpoint-failures-"));
const keyFile = join(root, "key.json");
const good: Place = { path: join(root, "good"), keyFile };

before(async () => {
  const hp = holdpoint({ folder: good.path, keyFile, agent: "tester", notify: () => undefined });
  const tool = hp.gate({ name: "ask", run: () => 1 });
  for (let n = 0; n < 50; n++) await tool({ n, pad: "x".repeat(500) }, { requestId: `a-${n}`, waitMs: 0 });
  await hp.close();
});
after(() => rmSync(root, { recursive: true, force: true }));

/** A copy of the good store that may be spoiled. */
function copy(name: string): Place {
  const path = join(root, name);
  cpSync(good.path, path, { recursive: true });
  return { path, keyFile };
}

const LINES = [
  ["approvals"],
  ["approve", ID],
  ["pause", "--reason", "x"],
  ["seal"],
  ["views", "rebuild"],
] as const;

describe("without a store", () => {
  test("a command says so, makes nothing and exits with 3", async () => {
    const empty = join(root, "empty");
    mkdirSync(empty);
    const place = { path: join(empty, "data"), keyFile: join(empty, "key.json") };
    const rans = await Promise.all(LINES.map((line) => runCli(place, [...line, "--json"], { cwd: empty })));
    for (const ran of rans) assert.deepEqual([ran.code, ran.out, errorOf(ran)["code"]], [3, "", "no_store"]);
    assert.deepEqual(readdirSync(empty), []);
  });

  test("an empty file is not a store, and stays empty", async () => {
    const path = join(root, "unfinished");
    mkdirSync(path);
    writeFileSync(join(path, "journal.db"), "");
    const ran = await runCli({ path, keyFile }, ["approvals", "--json"]);
    assert.deepEqual([ran.code, errorOf(ran)["code"]], [3, "no_store"]);
    assert.equal(statSync(join(path, "journal.db")).size, 0);
  });
});

describe("a store that cannot be used", () => {
  test("damaged, foreign or newer: exit 4, and the file stays as it is", async () => {
    const damaged = copy("damaged");
    const file = join(damaged.path, "journal.db");
    truncateSync(file, statSync(file).size - 8_192);
    const foreign = { path: join(root, "foreign"), keyFile };
    mkdirSync(foreign.path);
    writeFileSync(
      join(foreign.path, "journal.db"),
      "this is not a database, only a long enough text".repeat(50),
    );
    const newer = copy("newer");
    const db = new DatabaseSync(join(newer.path, "journal.db"));
    db.exec("PRAGMA user_version = 99; UPDATE hp_meta SET value = '99' WHERE key = 'oldest_reader'");
    db.close();
    const rans = await Promise.all(
      [damaged, foreign, newer].map((place) => runCli(place, ["approvals", "--json"])),
    );
    assert.deepEqual(
      rans.map((ran) => [ran.code, ran.out, errorOf(ran)["code"]]),
      [
        [4, "", "store_corrupt"],
        [4, "", "store_foreign"],
        [4, "", "store_newer"],
      ],
    );
  });

  test("that may not be written: exit 4", async () => {
    const place = copy("read-only");
    chmodSync(root, 0o755);
    for (const name of readdirSync(place.path)) chmodSync(join(place.path, name), 0o444);
    chmodSync(place.path, 0o555);
    const uid = process.getuid?.() === 0 ? { uid: NOBODY } : {};
    const ran = await runCli(place, ["approvals", "--json"], { cwd: "/", ...uid });
    chmodSync(place.path, 0o755);
    assert.deepEqual([ran.code, errorOf(ran)["code"]], [4, "store_read_only"]);
  });

  test("a key that is none: exit 4", async () => {
    const broken = join(root, "broken-key.json");
    writeFileSync(broken, "{}");
    const ran = await runCli({ ...good, keyFile: broken }, ["seal", "--json"]);
    assert.deepEqual([ran.code, errorOf(ran)["code"]], [4, "key_unusable"]);
  });
});

describe("wrong words", () => {
  test("exit 2 with the nearest word; unknown ids exit 3", async () => {
    const [command, flag, reason, unknown, odd, empty] = await Promise.all([
      runCli(good, ["aprove", "x"]),
      runCli(good, ["approvals", "--jsn"]),
      runCli(good, ["reject", ID, "--json"]),
      runCli(good, ["show", ID, "--json"]),
      runCli(good, ["show", "no-such-request", "--json"]),
      runCli(good, ["show", ""]),
    ]);
    assert.equal(command.code, 2);
    assert.match(command.err, /Did you mean "approve"\?\n.*\n {2}Try: holdpoint --help \[usage\]/);
    assert.match(flag.err, /Did you mean --json\?/);
    assert.deepEqual([reason.code, errorOf(reason)["code"]], [2, "usage"]);
    for (const ran of [unknown, odd]) assert.deepEqual([ran.code, errorOf(ran)["code"]], [3, "unknown_id"]);
    assert.equal(empty.code, 2);
  });

  test("too much text is refused before anything is written", async () => {
    const ran = await runCli(good, ["cancel", "a-1", "--reason", "x".repeat(20_000), "--json"]);
    assert.equal(ran.code, 3, "a request id is not an approval's");
    const { out } = await runCli(good, ["approvals", "--json", "--limit", "1"]);
    const { id } = JSON.parse(out) as { id: string };
    const long = await runCli(good, ["reject", id, "--reason", "x".repeat(20_000), "--json"]);
    assert.deepEqual([long.code, errorOf(long)["code"]], [2, "payload_too_large"]);
  });

  test("no stack is shown unless DEBUG asks for it", async () => {
    const [plain, loud] = await Promise.all([
      runCli(good, ["show", ID]),
      runCli(good, ["show", ID], { env: { DEBUG: "1" } }),
    ]);
    assert.doesNotMatch(plain.err, /\n\s+at /);
    assert.match(loud.err, /\n\s+at /);
  });

  test("files that cannot be read or written are named", async () => {
    const nowhere = join(root, "no", "such", "file");
    const rans = await Promise.all([
      runCli(good, ["verify", "--seal", nowhere, "--json"]),
      runCli(good, ["seal", "--out", nowhere, "--json"]),
      runCli(good, ["export", "--out", nowhere, "--json"]),
      runCli(good, ["export", "--out", root, "--json"]),
    ]);
    for (const ran of rans) {
      assert.deepEqual([ran.code, errorOf(ran)["code"]], [1, "file_error"]);
    }
    assert.ok(!existsSync(join(root, "no")));
    assert.ok(!readdirSync(tmpdir()).some((name) => name.startsWith(`${root.split("/").at(-1)}.`)));
  });
});

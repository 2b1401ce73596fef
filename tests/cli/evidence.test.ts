// Seals, receipts, exports and their verification, from the command line.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, test } from "node:test";
import { type Folder, temporaryFolder } from "../fixtures/folder.ts";
import { errorOf, linesOf, runCli } from "./bench.ts";

const VERIFIER = resolve(import.meta.dirname, "../../verifier/verify.mjs");

async function filled(folder: Folder, calls = 3): Promise<void> {
  const hp = folder.open();
  const note = hp.gate({ name: "note", policy: "approve", run: (args: { n: number }) => args.n });
  for (let n = 0; n < calls; n++) await note({ n }, { requestId: `n-${n}` });
  await hp.close();
}

describe("evidence", () => {
  test("a journal is exported whole, sealed, and verified here and offline", async (t) => {
    const folder = temporaryFolder(t);
    await filled(folder);
    const out = join(folder.path, "..", "journal.ndjson");
    const seal = join(folder.path, "..", "seal.json");
    const [toFile, sealed, printed] = [
      await runCli(folder, ["export", "--out", out, "--json"]),
      await runCli(folder, ["seal", "--out", seal]),
      await runCli(folder, ["seal"]),
    ];
    assert.equal(toFile.code, 0, toFile.err);
    const lines = linesOf(readFileSync(out, "utf8"));
    assert.deepEqual(JSON.parse(toFile.out), { file: out, lines: lines.length });
    assert.match(sealed.out, /^Sealed; the seal is in /);
    assert.equal(printed.out, readFileSync(seal, "utf8"));
    assert.ok(!readdirSync(join(folder.path, "..")).some((name) => name.endsWith(".part")));
    const [piped, verified, withSeal, withKey] = await Promise.all([
      runCli(folder, ["export"]),
      runCli(folder, ["verify"]),
      runCli(folder, ["verify", "--seal", seal, "--require-sealed", "--json"]),
      runCli(folder, ["verify", "--key", seal]),
    ]);
    assert.equal(linesOf(piped.out).length, lines.length);
    assert.equal(verified.code, 0, verified.out);
    assert.match(
      verified.out,
      /entries +\d+ in \d+ streams\n[\s\S]*; 0 are not sealed yet\nVerified: nothing was found\./,
    );
    assert.deepEqual([withSeal.code, JSON.parse(withSeal.out).ok], [0, true]);
    assert.equal(withKey.code, 0, withKey.out);
    const offline = spawnSync(process.execPath, [VERIFIER, out, "--seal", seal], { encoding: "utf8" });
    assert.equal(offline.status, 0, offline.stdout + offline.stderr);
  });

  test("what was changed behind Holdpoint's back is found: exit 1", async (t) => {
    const folder = temporaryFolder(t);
    await filled(folder);
    const db = new DatabaseSync(join(folder.path, "journal.db"));
    db.exec("UPDATE hp_entries SET body = replace(body, '\"n\":1', '\"n\":7') WHERE body LIKE '%\"n\":1%'");
    db.close();
    const [text, json] = await Promise.all([
      runCli(folder, ["verify"]),
      runCli(folder, ["verify", "--json"]),
    ]);
    assert.deepEqual([text.code, json.code], [1, 1]);
    assert.match(text.out, /body_mismatch action\/act_\w+ entry 1 [\s\S]*Not verified: \d+ findings?\./);
    assert.equal(JSON.parse(json.out).findings[0].kind, "body_mismatch");
  });

  test("a receipt is signed with its proof", async (t) => {
    const folder = temporaryFolder(t);
    await filled(folder, 1);
    const [plain, signed] = await Promise.all([
      runCli(folder, ["receipt", "n-0", "--json"]),
      runCli(folder, ["receipt", "n-0", "--signed"]),
    ]);
    assert.equal(JSON.parse(plain.out).status, "applied");
    const bundle = JSON.parse(signed.out);
    assert.match(bundle.receipt, /^[\w-]+\.[\w-]+\.[\w-]+$/);
    assert.equal(typeof bundle.seal, "string");
  });

  test("another key neither verifies nor seals", async (t) => {
    const folder = temporaryFolder(t);
    await filled(folder, 1);
    const other = { path: folder.path, keyFile: join(folder.path, "..", "other.json") };
    const wrong = join(folder.path, "..", "wrong.json");
    writeFileSync(wrong, "{}");
    const [verify, seal, odd] = await Promise.all([
      runCli(other, ["verify"]),
      runCli(other, ["seal", "--json"]),
      runCli(folder, ["verify", "--key", wrong, "--json"]),
    ]);
    assert.equal(verify.code, 1);
    assert.match(verify.out, /unknown_key[\s\S]*give it with --key or --seal/);
    assert.deepEqual([seal.code, errorOf(seal)["code"]], [4, "key_mismatch"]);
    assert.deepEqual([odd.code, errorOf(odd)["code"]], [2, "usage"]);
  });

  test("an empty journal has nothing to seal", async (t) => {
    const folder = temporaryFolder(t);
    const hp = folder.open();
    await hp.actions.list({ phase: "open" });
    await hp.close();
    const ran = await runCli(folder, ["seal", "--json"]);
    assert.deepEqual([ran.code, errorOf(ran)["code"]], [1, "nothing_to_seal"]);
  });

  test("lists are folded again from the journal", async (t) => {
    const folder = temporaryFolder(t);
    await filled(folder);
    const db = new DatabaseSync(join(folder.path, "journal.db"));
    const table = db
      .prepare("SELECT name FROM sqlite_schema WHERE name LIKE '%actions%' AND type = 'table'")
      .get();
    db.exec(`DELETE FROM "${String(table?.["name"])}"`);
    db.close();
    const before = await runCli(folder, ["welcome", "--json"]);
    const rebuilt = await runCli(folder, ["views", "rebuild", "--json"]);
    const now = await runCli(folder, ["welcome", "--json"]);
    assert.deepEqual([JSON.parse(before.out).applied, JSON.parse(now.out).applied], [0, 3]);
    assert.ok(JSON.parse(rebuilt.out).streams >= 3);
  });
});

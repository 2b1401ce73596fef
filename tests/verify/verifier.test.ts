import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { verifyExport } from "../../src/journal/export.ts";
import { verifyReceipt } from "../../src/journal/receipt-jws.ts";
import type { Report } from "../../src/journal/verify.ts";
import { FINDING_KINDS } from "../../src/journal/verify-seals.ts";

import {
  essence,
  exportLines,
  FOREIGN_KEY,
  honestJournal,
  type Journal,
  randomFrom,
  savedSeal,
  TEST_KEY,
  verifyLines,
} from "./journal-fixture.ts";

const PROGRAM = fileURLToPath(new URL("../../verifier/verify.mjs", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "holdpoint-verify-"));
after(() => rmSync(folder, { recursive: true }));

function journalWith(fits: (journal: Journal) => boolean): Journal {
  for (let seed = 1; ; seed++) {
    const journal = honestJournal(randomFrom(seed));
    if (fits(journal)) return journal;
  }
}

const JOURNAL = journalWith(({ receipts, entries, seals }) => {
  const sealed = verifyLines(
    exportLines({ tenant: "", incarnation: "", keys: [], receipts: [], entries, seals }),
  );
  return receipts.some((bundle) => bundle.seal !== undefined) && sealed.counts.entries > 0;
});

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

function run(args: readonly string[], input = ""): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [PROGRAM, ...args], { input, encoding: "utf8" });
}

const text = (journal: Journal): string => `${exportLines(journal).join("\n")}\n`;

test("the program stands alone: only Node's own modules, under 500 lines", () => {
  const source = readFileSync(PROGRAM, "utf8");
  const imports = [...source.matchAll(/from "([^"]+)"/g)].map((match) => match[1]);
  assert.ok(imports.length > 0 && imports.every((name) => name?.startsWith("node:")));
  assert.ok(source.split("\n").length <= 500);
});

test("an honest export verifies from a file and from standard input", () => {
  const path = file("honest.ndjson", text(JOURNAL));
  const keyFile = file("key.json", JSON.stringify({ ...TEST_KEY.publicJwk, kid: TEST_KEY.kid }));
  const sealFile = file("seal.json", JSON.stringify(savedSeal(JOURNAL)));
  for (const args of [
    [path],
    [path, "--key", keyFile],
    [path, "--seal", sealFile],
    ["-", "--seal", sealFile],
  ]) {
    const { status, stdout, stderr } = run(args, text(JOURNAL));
    assert.equal(status, 0, stdout + stderr);
    assert.match(stdout, /Verified: nothing was found\./);
    assert.equal(/give --key or --seal/.test(stdout), args.length === 1);
  }
});

test("a tampered export ends with status 1 and says where", () => {
  const entries = JOURNAL.entries.toSpliced(2, 1);
  const path = file("cut.ndjson", text({ ...JOURNAL, entries }));
  const said = run([path]);
  assert.equal(said.status, 1);
  assert.match(said.stdout, /- (seq_gap|leaf_missing) /);
  const report = JSON.parse(run([path, "--json"]).stdout);
  assert.equal(report.ok, false);
  assert.equal(report.trust, "export");
});

test("a foreign key is not trusted, and what is no export is told apart from a broken one", () => {
  const path = file("honest.ndjson", text(JOURNAL));
  const foreign = file("foreign.json", JSON.stringify(FOREIGN_KEY.publicJwk));
  assert.match(run([path, "--key", foreign]).stdout, /- unknown_key seal 1/);
  const unusable = [
    [],
    ["--bogus", path],
    [join(folder, "missing.ndjson")],
    [path, "--key", path],
    [path, "--seal", foreign],
    [file("other.json", "{}\n")],
    [file("empty.ndjson", "")],
  ];
  for (const args of unusable) {
    const { status, stdout, stderr } = run(args);
    assert.equal(status, 2, args.join(" "));
    assert.equal(stdout, "");
    assert.match(stderr, /^Could not check: /);
    assert.doesNotMatch(stderr, /\n\s+at /);
  }
  assert.match(run(["--help"]).stdout, /Exit status/);
});

test("nothing in an export can steer the terminal", () => {
  const { stdout } = run(["-"], text({ ...JOURNAL, tenant: "\u001b[2J\u009b31m" }));
  assert.doesNotMatch(stdout.replaceAll("\n", ""), /\p{Cc}/u);
});

test("unsealed entries are findings only when asked for", () => {
  const journal = journalWith(({ seals, entries }) => {
    const report = verifyExport(exportLines({ ...JOURNAL, receipts: [], seals, entries, tenant: "x" }));
    return report.counts.unsealed > 0;
  });
  const lines = exportLines(journal);
  assert.equal(verifyExport(lines).ok, true);
  const report = verifyExport(lines, { requireSealed: true });
  assert.ok(report.findings.length > 0 && report.findings.every(({ kind }) => kind === "not_sealed"));
  assert.equal(essence(report), essence(verifyLines(lines, { requireSealed: true })));
});

test("an export may hold its lines in any order, as long as entries are in commit order", () => {
  const [start = "", ...lines] = exportLines(JOURNAL);
  const end = lines.pop() ?? "";
  const entries = lines.filter((line) => line.startsWith('{"entry"'));
  const others = lines.filter((line) => !line.startsWith('{"entry"'));
  for (const order of [
    [...entries, ...others],
    [...others, ...entries],
  ]) {
    assert.equal(verifyExport([start, ...order, end]).ok, true);
    assert.equal(verifyLines([start, ...order, end]).ok, true);
  }
});

test("a receipt verifies alone; every change of it or its proof is found", () => {
  const bundle = JOURNAL.receipts.find((receipt) => receipt.seal !== undefined);
  assert.ok(bundle !== undefined && bundle.seal !== undefined);
  const check = verifyReceipt(bundle, TEST_KEY.publicJwk);
  assert.ok(check.ok && check.seal !== undefined);
  assert.equal(verifyReceipt({ receipt: bundle.receipt }, TEST_KEY.publicJwk).ok, true);
  const header = JOURNAL.entries[0]?.header ?? "";
  const wrong: unknown[] = [
    null,
    { receipt: bundle.seal },
    { ...bundle, receipt: `${bundle.receipt}A` },
    { ...bundle, seal: bundle.receipt },
    { ...bundle, size: bundle.size + 1 },
    { ...bundle, index: bundle.index + 1 },
    { ...bundle, path: [...bundle.path, bundle.leaf.hash] },
    { ...bundle, leaf: { ...bundle.leaf, seq: bundle.leaf.seq + 1 } },
    { ...bundle, links: [...bundle.links, header] },
    { ...bundle, links: undefined },
    { ...bundle, extra: 1 },
  ];
  for (const item of wrong) {
    assert.equal(verifyReceipt(item, TEST_KEY.publicJwk).ok, false);
    if (typeof item !== "object" || item === null || Object.values(item).includes(undefined)) continue;
    const lines = exportLines({ ...JOURNAL, receipts: [item as typeof bundle] });
    assert.equal(verifyLines(lines).findings[0]?.kind, "receipt_invalid");
    assert.equal(essence(verifyLines(lines)), essence(verifyExport(lines)));
  }
  assert.equal(verifyReceipt(bundle, FOREIGN_KEY.publicJwk).ok, false);
});

/** The verdict, or that the first line was refused. */
function essenceOf(verify: () => Report): string {
  try {
    return essence(verify());
  } catch {
    return "not an export";
  }
}

test("whatever character of an export is changed, added or taken away, both verifiers say the same", () => {
  const original = exportLines(JOURNAL).join("\n");
  for (let seed = 1; seed <= 1000; seed++) {
    const random = randomFrom(seed);
    const at = random.below(original.length);
    const put = random.pick([
      "",
      "0",
      "1",
      "9",
      "a",
      "é",
      " ",
      '"',
      "{",
      "}",
      ",",
      ":",
      "\\",
      "\n",
      "-",
      ".",
      "null",
    ]);
    const lines = (original.slice(0, at) + put + original.slice(at + random.below(2))).split("\n");
    const options = random.pick([{}, { requireSealed: true }]);
    assert.equal(
      essenceOf(() => verifyLines(lines, options)),
      essenceOf(() => verifyExport(lines, options)),
      `seed ${seed}`,
    );
  }
});

test("both verifiers and the reference use the same words for findings", () => {
  const source = readFileSync(PROGRAM, "utf8");
  const reference = readFileSync(new URL("../../docs/reference/journal.md", import.meta.url), "utf8");
  for (const kind of FINDING_KINDS) {
    assert.match(source, new RegExp(`^  ${kind}:`, "m"));
    assert.match(reference, new RegExp(`\`${kind}\``));
  }
});

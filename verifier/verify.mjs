#!/usr/bin/env node
/**
 * Checks a Holdpoint export offline: chains, bodies, seals and receipts. It needs Node 18 or newer and nothing else, and
 * shares no code with Holdpoint, so that an auditor need not trust Holdpoint's own. The format is described in
 * docs/reference/journal.md. Memory: about 100 bytes an entry.
 */
import { createHash, createPublicKey, verify } from "node:crypto";
import { createReadStream, readFileSync, realpathSync } from "node:fs";
import { argv, exit, stderr, stdin, stdout } from "node:process";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

const ZEROS = "0".repeat(64);
const MOST_FINDINGS = 1000;

// ---------------------------------------------------------------- JSON (RFC 8785)

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

function canonical(value, level = 0) {
  if (typeof value === "string") {
    if (/\p{Surrogate}/u.test(value)) throw new Error("half a surrogate pair");
    return JSON.stringify(value);
  }
  if (typeof value === "number") {
    const exact = Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
    if (!exact) throw new Error("inexact number");
    return JSON.stringify(value);
  }
  if (value === null || typeof value === "boolean") return String(value);
  if (level === 64) throw new Error("too deep");
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, level + 1)).join(",")}]`;
  if (Object.hasOwn(value, "__proto__")) throw new Error("reserved key");
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, item]) => `${canonical(key)}:${canonical(item, level + 1)}`).join(",")}}`;
}

/** The object that a canonical text stands for; undefined for any other text (a key twice, a space, __proto__ …). */
function objectFrom(text) {
  try {
    const value = JSON.parse(text);
    return isObject(value) && canonical(value) === text ? value : undefined;
  } catch {
    return undefined;
  }
}

// ---------------------------------------------------------------- hashes, Merkle tree (RFC 6962), signatures (RFC 8037)

const sha256 = (...parts) => parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest();
const hex = (text) => Buffer.from(text, "hex");

function treeHash(leaves) {
  if (leaves.length === 0) return sha256();
  if (leaves.length === 1) return sha256(Buffer.of(0), leaves[0]);
  let half = 1;
  while (half * 2 < leaves.length) half *= 2;
  return sha256(Buffer.of(1), treeHash(leaves.slice(0, half)), treeHash(leaves.slice(half)));
}

/** RFC 9162, 2.1.3.2. */
function climbs({ leaf, index, size, path }, root) {
  if (index >= size) return false;
  let [fn, sn] = [BigInt(index), BigInt(size - 1)];
  let hash = sha256(Buffer.of(0), leaf);
  for (const sibling of path.map(hex)) {
    if (sn === 0n) return false;
    if (fn % 2n === 1n || fn === sn) {
      hash = sha256(Buffer.of(1), sibling, hash);
      while (fn % 2n === 0n && fn !== 0n) [fn, sn] = [fn / 2n, sn / 2n];
    } else {
      hash = sha256(Buffer.of(1), hash, sibling);
    }
    [fn, sn] = [fn / 2n, sn / 2n];
  }
  return sn === 0n && hash.toString("hex") === root;
}

/** `[thumbprint (RFC 7638), key]`, or undefined. */
function readKey(jwk) {
  if (!isObject(jwk) || jwk.kty !== "OKP" || jwk.crv !== "Ed25519" || !text(jwk.x)) return undefined;
  const raw = Buffer.from(jwk.x, "base64url");
  if (raw.length !== 32 || raw.toString("base64url") !== jwk.x) return undefined;
  const exact = { crv: "Ed25519", kty: "OKP", x: jwk.x };
  return [sha256(canonical(exact)).toString("base64url"), createPublicKey({ key: exact, format: "jwk" })];
}

/** Opens a compact JWS; `holds` is true, false, or undefined when its key is not among `keys` (a Map by kid). */
function open(jws, typ, keys) {
  const parts = String(jws).split(".");
  const bytes = parts.map((part) => Buffer.from(part, "base64url"));
  if (parts.some((part, at) => bytes[at].toString("base64url") !== part)) return undefined;
  const [head, payload] = bytes.slice(0, 2).map((part) => objectFrom(utf8(part)));
  if (parts.length !== 3 || !payload || !isJwsHeader(head) || head.typ !== typ) return undefined;
  const key = keys.get(head.kid);
  const holds = key && verify(null, Buffer.from(`${parts[0]}.${parts[1]}`), key, bytes[2]);
  return { kid: head.kid, payload, holds };
}

function utf8(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return "";
  }
}

// ---------------------------------------------------------------- the parts of an export

/** Tells whether a value is an object with exactly these members, each of its kind. */
const shaped = (shape) => (value) =>
  isObject(value) &&
  Object.keys(value).length === Object.keys(shape).length &&
  Object.entries(shape).every(([name, test]) => Object.hasOwn(value, name) && test(value[name]));

const text = (value) => typeof value === "string";
const count = (value) => Number.isSafeInteger(value) && value >= 0;
const rank = (value) => count(value) && value > 0;
const hash = (value) => text(value) && /^[0-9a-f]{64}$/.test(value);
const salt = (value) => text(value) && /^[0-9a-f]{32}$/.test(value);
const orNull = (test) => (value) => value === null || test(value);
const just = (only) => (value) => value === only;
const listOf = (test) => (value) => Array.isArray(value) && value.every(test);

const isJwsHeader = shaped({ alg: just("EdDSA"), kid: text, typ: text });
const isStart = shaped({ holdpoint: just("export"), v: just(1), tenant: text, incarnation: text });
const leaf = shaped({ stream: text, seq: rank, hash });
// biome-ignore format: one line reads better
const isHeader = shaped({ v: just(1), tenant: text, stream: text, seq: rank, type: text, tv: rank, at: count, prev: hash, body: hash });
// biome-ignore format: one line reads better
const isSeal = shaped({ v: just(1), tenant: text, n: count, at: count, prev: text, incarnation: text, position: count, entries: count, streams: count, root: text });
// biome-ignore format: one line reads better
const isProved = shaped({ receipt: text, seal: text, leaf, index: count, size: count, path: listOf(hash), links: listOf(text) });

/** By the name of a line's only member: what it has to be. */
const LINES = {
  key: (jwk) => readKey(jwk) !== undefined,
  seal: shaped({ n: rank, jws: text, leaves: listOf(leaf) }),
  entry: shaped({ header: text, hash, salt: orNull(text), body: orNull(text), position: count }),
  receipt: isObject,
  end: shaped({ entries: count, seals: count }),
};

const SEAL = "holdpoint-seal+jws";
const RECEIPT = "holdpoint-receipt+jws";

const SAYS = {
  export_line: "The line does not belong there.",
  export_incomplete:
    "The export is cut off, or does not hold as many entries and seals as its last line says.",
  header_unreadable: "The header is not the exact text of a header.",
  hash_mismatch: "The stored hash is not the hash of the header.",
  tenant_mismatch: "It belongs to another tenant.",
  position_backwards: "It stands after an entry with a later position.",
  half_erased: "Only one of salt and body is there.",
  body_mismatch: "The body is not the one the header was made for.",
  seq_repeated: "This seq, or a later one, was there before: a fork or a reordering.",
  seq_gap: "The seq before it is missing.",
  prev_mismatch: "It does not hold the hash of the entry before.",
  time_backwards: "Its time lies before that of the entry before.",
  leaf_missing: "This sealed entry is gone.",
  leaf_mismatch: "The sealed entry was another one.",
  not_covered: "It stands before the last seal, but no seal covers it.",
  not_sealed: "From here on the stream is not sealed.",
  seal_unreadable: "It cannot be read as a seal.",
  unknown_key: "It was signed by a key that is not trusted.",
  seal_signature: "Its signature does not hold.",
  seal_chain: "It does not follow the seal before.",
  seal_order: "Its time, its position or a head in it does not lie after the seal before.",
  seal_root: "The heads kept with it are not those it was signed over.",
  seal_count: "It counts another number of entries than its heads make.",
  saved_seal_invalid: "The saved seal is not a seal whose signature holds under its key.",
  saved_seal_missing:
    "The saved seal is not in the journal's chain of seals: the journal was cut or rewritten.",
  receipt_invalid: "A receipt's signature or its proof does not hold.",
  receipt_unmatched: "The entry or the seal that a receipt speaks of is not in the journal.",
};

// ---------------------------------------------------------------- the check

export class CannotCheck extends Error {}

/**
 * Reads lines one by one, then judges. Options: `keys` (JWKs trusted), `seal` (`{ jws, key }` saved elsewhere),
 * `requireSealed`.
 */
export class Check {
  constructor(options = {}) {
    this.options = options;
    this.tenant = undefined;
    this.lines = 0;
    this.ended = false;
    this.counts = { entries: 0, streams: 0, erased: 0, sealed: 0, unsealed: 0, seals: 0, receipts: 0 };
    this.ownKeys = [];
    this.seals = [];
    this.receipts = [];
    /** Per stream: its last seq with hash and time, and of every entry seq, hash and position. */
    this.streams = new Map();
    this.position = 0;
    this.findings = [];
    this.total = 0;
  }

  find(kind, place = {}) {
    this.total += 1;
    if (this.findings.length < MOST_FINDINGS) this.findings.push({ kind, ...place, what: SAYS[kind] });
  }

  line(content) {
    this.lines += 1;
    const value = objectFrom(content);
    if (this.tenant === undefined) return this.start(value);
    const [[name, inner] = [], ...more] = Object.entries(value ?? {});
    const fits = !this.ended && more.length === 0 && Object.hasOwn(LINES, name) && LINES[name](inner);
    if (fits) this[name](inner);
    else this.find("export_line", { line: this.lines });
  }

  start(value) {
    if (!isStart(value))
      throw new CannotCheck("The first line is not that of a Holdpoint export (version 1).");
    this.tenant = value.tenant;
  }

  key(jwk) {
    this.ownKeys.push(jwk);
  }

  seal(seal) {
    this.counts.seals += 1;
    this.seals.push(seal);
  }

  receipt(bundle) {
    this.counts.receipts += 1;
    this.receipts.push(bundle);
  }

  end({ entries, seals }) {
    this.ended = true;
    if (entries !== this.counts.entries || seals !== this.counts.seals) this.find("export_incomplete");
  }

  entry(entry) {
    this.counts.entries += 1;
    const header = objectFrom(entry.header);
    if (!isHeader(header)) return this.find("header_unreadable");
    const place = { stream: header.stream, seq: header.seq };
    const real = sha256(entry.header).toString("hex");
    if (real !== entry.hash) this.find("hash_mismatch", place);
    if (header.tenant !== this.tenant) this.find("tenant_mismatch", place);
    if (entry.position < this.position) this.find("position_backwards", place);
    this.position = Math.max(entry.position, this.position);
    this.body(entry, header, place);
    this.chain(header, { hash: real, position: entry.position }, place);
  }

  body(entry, header, place) {
    const gone = [entry.salt, entry.body].filter((part) => part === null).length;
    if (gone === 2) this.counts.erased += 1;
    else if (gone === 1) this.find("half_erased", place);
    else if (!salt(entry.salt) || sha256(hex(entry.salt), entry.body).toString("hex") !== header.body) {
      this.find("body_mismatch", place);
    }
  }

  chain({ stream, seq, at, prev }, { hash, position }, place) {
    const seen = this.streams.get(stream) ?? {
      last: 0,
      head: ZEROS,
      at: 0,
      seqs: [],
      hashes: [],
      positions: [],
    };
    if (seq <= seen.last) return this.find("seq_repeated", place);
    if (seq !== seen.last + 1) this.find("seq_gap", place);
    else if (prev !== seen.head) this.find("prev_mismatch", place);
    if (at < seen.at) this.find("time_backwards", place);
    this.streams.set(stream, Object.assign(seen, { last: seq, head: hash, at }));
    seen.seqs.push(seq);
    seen.positions.push(position);
    // 32 characters instead of 64: half the memory for what is kept of every entry.
    seen.hashes.push(hex(hash).toString("latin1"));
  }

  hashAt(stream, seq) {
    const { seqs, hashes } = this.streams.get(stream) ?? { seqs: [] };
    const at = seqs[seq - 1] === seq ? seq - 1 : seqs.indexOf(seq);
    return at === -1 ? undefined : Buffer.from(hashes[at], "latin1").toString("hex");
  }

  finish() {
    if (this.tenant === undefined) throw new CannotCheck("The export is empty.");
    if (!this.ended) this.find("export_incomplete");
    const { keys = [], seal: saved } = this.options;
    const outside = saved ? [...keys, saved.key] : keys;
    this.keys = new Map((outside.length > 0 ? outside : this.ownKeys).map(readKey));
    this.judgeSeals();
    if (saved) this.judgeSaved(saved);
    for (const bundle of this.receipts) this.judgeReceipt(bundle);
    this.judgeCoverage();
    const { tenant, findings, total, counts } = this;
    const [last] = this.good.slice(-1).map(({ n, at }) => ({ n, at }));
    const trust = outside.length > 0 ? "outside" : "export";
    return {
      ok: total === 0,
      tenant,
      findings,
      total,
      counts,
      lastSeal: last,
      trust,
      keys: [...this.keys.keys()],
    };
  }

  /** Goes as far as the seals hold: `good` are their payloads, `sealed` how far each stream is sealed. */
  judgeSeals() {
    this.good = [];
    this.sealed = new Map();
    for (const [at, seal] of this.seals.entries()) {
      const opened = open(seal.jws, SEAL, this.keys);
      const fault = this.signatureFault(opened) ?? this.sealFault(seal, opened.payload);
      if (fault) return this.find(fault, { seal: at + 1 });
      this.good.push({ ...opened.payload, jws: seal.jws });
      for (const leaf of seal.leaves) this.judgeLeaf(leaf, opened.payload.n);
    }
  }

  signatureFault(opened) {
    if (!opened || !isSeal(opened.payload)) return "seal_unreadable";
    if (opened.holds === undefined) return "unknown_key";
    if (!opened.holds) return "seal_signature";
    return opened.payload.tenant === this.tenant ? undefined : "tenant_mismatch";
  }

  sealFault({ n, leaves }, payload) {
    const before = this.good.at(-1) ?? { n: 0, at: 0, position: 0, entries: 0 };
    const prev = before.n === 0 ? ZEROS : sha256(before.jws).toString("hex");
    if (payload.n !== before.n + 1 || n !== payload.n || payload.prev !== prev) return "seal_chain";
    if (payload.at < before.at || payload.position < before.position) return "seal_order";
    const ordered = leaves.every(({ stream }, at) => at === 0 || leaves[at - 1].stream < stream);
    const root = treeHash(leaves.map((leaf) => canonical(leaf))).toString("hex");
    if (!ordered || leaves.length !== payload.streams || root !== payload.root) return "seal_root";
    const steps = leaves.map(({ stream, seq }) => seq - (this.sealed.get(stream) ?? 0));
    if (steps.some((step) => step < 1)) return "seal_order";
    const entries = steps.reduce((sum, step) => sum + step, before.entries);
    return entries === payload.entries ? undefined : "seal_count";
  }

  judgeLeaf({ stream, seq, hash }, seal) {
    this.sealed.set(stream, seq);
    const found = this.hashAt(stream, seq);
    if (found !== hash) this.find(found ? "leaf_mismatch" : "leaf_missing", { stream, seq, seal });
  }

  judgeSaved({ jws, key }) {
    const opened = open(jws, SEAL, new Map([readKey(key)]));
    if (!opened?.holds || !isSeal(opened.payload)) return this.find("saved_seal_invalid");
    const { n } = opened.payload;
    if (this.good[n - 1]?.jws !== jws) this.find("saved_seal_missing", { seal: n });
  }

  judgeReceipt(bundle) {
    const opened = open(bundle.receipt, RECEIPT, this.keys);
    if (!opened?.holds || !this.receiptHolds(bundle, opened)) return this.find("receipt_invalid");
    const { stream, seq, entry } = opened.payload;
    const sealed = bundle.seal === undefined || this.good.some(({ jws }) => jws === bundle.seal);
    if (!sealed) this.find("receipt_unmatched", { stream, seq });
    if (this.hashAt(stream, seq) !== entry) this.find("receipt_unmatched", { stream, seq });
  }

  /** From the receipt over the entries after its own to the head of the stream, and up the tree into the seal. */
  receiptHolds(bundle, { payload, kid }) {
    const { stream, seq, entry } = payload;
    if (!text(stream) || !rank(seq) || !hash(entry)) return false;
    if (Object.keys(bundle).length === 1) return true;
    const seal = isProved(bundle) ? open(bundle.seal, SEAL, this.keys) : undefined;
    if (!seal?.holds || seal.kid !== kid || !isSeal(seal.payload)) return false;
    if (payload.tenant !== undefined && payload.tenant !== seal.payload.tenant) return false;
    let head = { stream, seq, hash: entry };
    for (const link of bundle.links) {
      const next = objectFrom(link);
      if (!isHeader(next) || next.stream !== stream || next.seq !== head.seq + 1 || next.prev !== head.hash)
        return false;
      head = { stream, seq: next.seq, hash: sha256(link).toString("hex") };
    }
    if (canonical(head) !== canonical(bundle.leaf) || bundle.size !== seal.payload.streams) return false;
    return climbs({ ...bundle, leaf: canonical(head) }, seal.payload.root);
  }

  judgeCoverage() {
    const covered = this.good.at(-1)?.position ?? -1;
    this.counts.streams = this.streams.size;
    for (const [stream, { seqs, positions }] of this.streams) {
      const sealed = seqs.filter((seq) => seq <= (this.sealed.get(stream) ?? 0)).length;
      this.counts.sealed += sealed;
      this.counts.unsealed += seqs.length - sealed;
      for (let at = sealed; at < seqs.length; at += 1) {
        if (positions[at] <= covered) this.find("not_covered", { stream, seq: seqs[at] });
      }
      if (this.options.requireSealed && sealed < seqs.length)
        this.find("not_sealed", { stream, seq: seqs[sealed] });
    }
  }
}

export function verifyLines(lines, options = {}) {
  const check = new Check(options);
  for (const line of lines) check.line(line);
  return check.finish();
}

// ---------------------------------------------------------------- the program

const HELP = `Checks a Holdpoint export offline.

  node verify.mjs export.ndjson [options]      ("-" reads standard input)

  --key FILE         a public key to trust (JWK); may be given several times
  --seal FILE        a seal kept elsewhere, { "jws": …, "key": … }: finds a journal that was cut or rewritten
  --require-sealed   entries that are not sealed yet are findings
  --json             the report as JSON
  --help             this text

Exit status: 0 verified, 1 findings, 2 wrong usage or not an export.
`;

const OPTIONS = {
  key: { type: "string", multiple: true, default: [] },
  seal: { type: "string" },
  "require-sealed": { type: "boolean", default: false },
  json: { type: "boolean", default: false },
};

function readArguments(args) {
  const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
  if (positionals.length !== 1) throw new CannotCheck("Name one export to check, or - for standard input.");
  const fromFile = (path) => JSON.parse(readFileSync(path, "utf8"));
  const keys = values.key.map(fromFile);
  const seal = values.seal === undefined ? undefined : fromFile(values.seal);
  if (!keys.every(readKey)) throw new CannotCheck("A file after --key is not an Ed25519 public key (JWK).");
  if (seal && !readKey(seal.key)) throw new CannotCheck('The file after --seal holds no "jws" and "key".');
  return { file: positionals[0], json: values.json, keys, seal, requireSealed: values["require-sealed"] };
}

/** By line feeds alone: other line ends may stand unescaped inside JSON text. */
async function* linesOf(stream) {
  let pieces = [];
  for await (const chunk of stream) {
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      yield utf8(Buffer.concat([...pieces, chunk.subarray(from, at)]));
      pieces = [];
      from = at + 1;
    }
    if (from < chunk.length) pieces.push(chunk.subarray(from));
  }
  if (pieces.length > 0) yield utf8(Buffer.concat(pieces));
}

function describe({ ok, tenant, findings, total, counts, lastSeal, trust, keys }) {
  const place = ({ stream, seq, seal, line }) =>
    [stream, seq && `seq ${seq}`, seal && `seal ${seal}`, line && `line ${line}`].filter(Boolean).join(" ");
  const last = lastSeal ? `, the last of ${new Date(lastSeal.at).toISOString()}` : "";
  const said = [
    `Journal of the tenant "${tenant}": ${counts.entries} entries in ${counts.streams} streams.`,
    `${counts.seals} seals${last}. ${counts.sealed} entries are sealed, ${counts.unsealed} not yet.`,
    `${counts.receipts} receipts. ${counts.erased} bodies were erased.`,
    `Trusted keys, from ${trust === "outside" ? "--key or --seal" : "the export itself"}: ${keys.join(", ") || "none"}.`,
  ];
  if (trust === "export")
    said.push("  Whoever rewrites a whole journal can replace these too: give --key or --seal.");
  for (const finding of findings) said.push(`- ${finding.kind} ${place(finding)}: ${finding.what}`);
  if (total > findings.length) said.push(`… and ${total - findings.length} more.`);
  said.push(ok ? "Verified: nothing was found." : `Not verified: findings: ${total}.`);
  // Names come from the export: nothing in them may steer the terminal.
  return said.map((line) => `${line.replace(/\p{Cc}/gu, "?")}\n`).join("");
}

async function main(args) {
  if (args.includes("--help")) return [HELP, 0];
  try {
    const options = readArguments(args);
    const check = new Check(options);
    const stream = options.file === "-" ? stdin : createReadStream(options.file);
    for await (const line of linesOf(stream)) check.line(line);
    const report = check.finish();
    return [options.json ? `${JSON.stringify(report, null, 2)}\n` : describe(report), report.ok ? 0 : 1];
  } catch (error) {
    return [`Could not check: ${error.message}\n`, 2];
  }
}

if (argv[1] !== undefined && import.meta.url === pathToFileURL(realpathSync(argv[1])).href) {
  const [said, status] = await main(argv.slice(2));
  (status === 2 ? stderr : stdout).write(said, () => exit(status));
}

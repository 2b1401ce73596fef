/**
 * The export format, and its verification. Each line is canonical JSON: the first identifies the export, then come
 * keys, seals, entries in commit order and receipts, and the last counts entries and seals. An exporter must read the
 * seals before the entries, or a seal made in between would cover entries that the export does not hold. Verification
 * holds the entries in memory; verifier/verify.mjs reads exports of any size.
 */

import { canonicalJson } from "../kernel/canonical-json.ts";
import { HoldpointError } from "../kernel/errors.ts";
import { isJsonObject, type Json, type JsonObject, parseJson } from "../kernel/json.ts";
import { isCount, isHash } from "./entry.ts";
import { type PublicJwk, readPublicJwk } from "./jws.ts";
import type { ReceiptBundle } from "./receipt-jws.ts";
import type { Seal, SealLeaf } from "./seal.ts";
import { type JournalLine, type Report, verifyJournal } from "./verify.ts";
import type { Finding, SavedSeal } from "./verify-seals.ts";

type ExportLine =
  | { readonly holdpoint: "export"; readonly v: 1; readonly tenant: string; readonly incarnation: string }
  | { readonly key: PublicJwk }
  | { readonly seal: Seal }
  | { readonly entry: JournalLine }
  | { readonly receipt: ReceiptBundle }
  | { readonly end: { readonly entries: number; readonly seals: number } };

/** Without the line feed. */
export function exportLine(line: ExportLine): string {
  if (!("entry" in line)) return canonicalJson(line);
  // A store's row may have more fields than the format.
  const { header, hash, salt, body, position } = line.entry;
  return canonicalJson({ entry: { header, hash, salt, body, position } });
}

function parseExportLine(text: string): ExportLine {
  const value = parseJson(text);
  const line = isJsonObject(value) && canonicalJson(value) === text ? lineOf(value) : undefined;
  if (line === undefined)
    throw new HoldpointError("invalid_input", "The text is not a line of a Holdpoint export.");
  return line;
}

function lineOf(value: JsonObject): ExportLine | undefined {
  if (value["holdpoint"] !== undefined) return startOf(value);
  const [[name, inner] = [], ...rest] = Object.entries(value);
  if (rest.length > 0 || !isJsonObject(inner)) return undefined;
  switch (name) {
    case "key":
      return wrap(readPublicJwk(inner), (key) => ({ key }));
    case "seal":
      return wrap(sealOf(inner), (seal) => ({ seal }));
    case "entry":
      return wrap(entryOf(inner), (entry) => ({ entry }));
    case "receipt":
      // Any object: `verifyReceipt` checks it.
      return { receipt: inner as ReceiptBundle & JsonObject };
    case "end":
      return endOf(inner);
    default:
      return undefined;
  }
}

function wrap<Inner>(inner: Inner | undefined, line: (inner: Inner) => ExportLine): ExportLine | undefined {
  return inner === undefined ? undefined : line(inner);
}

const sized = (value: JsonObject, members: number): boolean => Object.keys(value).length === members;

function startOf(value: JsonObject): ExportLine | undefined {
  const { holdpoint, v, tenant, incarnation } = value;
  if (!sized(value, 4) || holdpoint !== "export" || v !== 1) return undefined;
  if (typeof tenant !== "string" || typeof incarnation !== "string") return undefined;
  return { holdpoint, v, tenant, incarnation };
}

function endOf(value: JsonObject): ExportLine | undefined {
  const { entries, seals } = value;
  return sized(value, 2) && isCount(entries) && isCount(seals) ? { end: { entries, seals } } : undefined;
}

const isTextOrNull = (value: unknown): value is string | null => value === null || typeof value === "string";

function entryOf(value: JsonObject): JournalLine | undefined {
  const { header, hash, salt, body, position } = value;
  if (!sized(value, 5) || typeof header !== "string" || !isHash(hash) || !isCount(position)) return undefined;
  if (!isTextOrNull(salt) || !isTextOrNull(body)) return undefined;
  return { header, hash, salt, body, position };
}

function sealOf(value: JsonObject): Seal | undefined {
  const { n, jws, leaves } = value;
  if (!sized(value, 3) || !isCount(n, 1) || typeof jws !== "string" || !Array.isArray(leaves))
    return undefined;
  const read = leaves.map(leafOf);
  return read.every((leaf) => leaf !== undefined) ? { n, jws, leaves: read } : undefined;
}

function leafOf(value: Json): SealLeaf | undefined {
  if (!isJsonObject(value) || !sized(value, 3)) return undefined;
  const { stream, seq, hash } = value;
  return typeof stream === "string" && isCount(seq, 1) && isHash(hash) ? { stream, seq, hash } : undefined;
}

type ExportContents = {
  readonly tenant: string;
  readonly incarnation: string;
  readonly keys: PublicJwk[];
  readonly seals: Seal[];
  readonly entries: JournalLine[];
  readonly receipts: ReceiptBundle[];
  /** Defects of the export as a file. */
  readonly findings: Finding[];
};

export type ExportOptions = {
  /** Keys from a trusted source. Without them, and without a saved seal, the export's own keys are trusted. */
  readonly keys?: readonly PublicJwk[];
  readonly savedSeal?: SavedSeal | undefined;
  readonly requireSealed?: boolean;
};

export function verifyExport(lines: Iterable<string>, options: ExportOptions = {}): Report {
  const contents = readExport(lines);
  const { keys: known = [], savedSeal, requireSealed = false } = options;
  const keys = known.length > 0 || savedSeal !== undefined ? known : contents.keys;
  const report = verifyJournal({ ...contents, keys, savedSeal, requireSealed });
  const total = report.total + contents.findings.length;
  return { ...report, ok: total === 0, total, findings: [...contents.findings, ...report.findings] };
}

/** Throws `invalid_input` if the first line is not that of an export. Every other defect is a finding. */
function readExport(lines: Iterable<string>): ExportContents {
  let contents: ExportContents | undefined;
  let line = 0;
  let ended = false;
  for (const text of lines) {
    line += 1;
    if (contents === undefined) contents = start(text);
    else if (ended) contents.findings.push(lineFinding(line));
    else ended = take(text, contents, line);
  }
  if (contents === undefined) throw new HoldpointError("invalid_input", "The export is empty.");
  if (!ended) contents.findings.push(incomplete("Its last line is missing: the export is cut off."));
  return contents;
}

const lineFinding = (line: number): Finding => ({
  kind: "export_line",
  line,
  what: "The line does not belong there.",
});
const incomplete = (what: string): Finding => ({ kind: "export_incomplete", what });

function start(text: string): ExportContents {
  const first = parseExportLine(text);
  if (!("holdpoint" in first))
    throw new HoldpointError("invalid_input", "The first line is not that of an export.");
  const { tenant, incarnation } = first;
  return { tenant, incarnation, keys: [], seals: [], entries: [], receipts: [], findings: [] };
}

/** True if this was the last line. */
function take(text: string, contents: ExportContents, number: number): boolean {
  const line = readLine(text);
  if (line === undefined || "holdpoint" in line) contents.findings.push(lineFinding(number));
  else if ("key" in line) contents.keys.push(line.key);
  else if ("seal" in line) contents.seals.push(line.seal);
  else if ("entry" in line) contents.entries.push(line.entry);
  else if ("receipt" in line) contents.receipts.push(line.receipt);
  else return end(line.end, contents);
  return false;
}

function readLine(text: string): ExportLine | undefined {
  try {
    return parseExportLine(text);
  } catch {
    return undefined;
  }
}

function end(counted: { readonly entries: number; readonly seals: number }, contents: ExportContents): true {
  const { entries, seals } = contents;
  if (counted.entries !== entries.length || counted.seals !== seals.length) {
    const what = `It should hold ${counted.entries} entries and ${counted.seals} seals, and holds ${entries.length} and ${seals.length}.`;
    contents.findings.push(incomplete(what));
  }
  return true;
}

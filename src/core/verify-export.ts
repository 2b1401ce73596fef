/** Verifies the lines of an export. Holds the entries in memory; `verifier/verify.mjs` reads exports of any size. */
import { HoldpointError } from "../kernel/errors.ts";
import { type ExportLine, parseExportLine } from "./export-line.ts";
import type { Finding } from "./finding.ts";
import type { PublicJwk } from "./jws.ts";
import type { ReceiptBundle } from "./receipt-jws.ts";
import type { Seal } from "./seal.ts";
import type { JournalLine } from "./verify-entry.ts";
import { type Report, verifyJournal } from "./verify-journal.ts";
import type { SavedSeal } from "./verify-seals.ts";

export type ExportContents = {
  readonly tenant: string;
  readonly incarnation: string;
  readonly keys: PublicJwk[];
  readonly seals: Seal[];
  readonly entries: JournalLine[];
  readonly receipts: ReceiptBundle[];
  /** What is wrong with the export as a file. */
  readonly findings: Finding[];
};

export type ExportOptions = {
  /** Keys known from elsewhere. Without them, and without a saved seal, the export's own keys are trusted. */
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

/** Throws `invalid_input` when the first line is not that of an export; everything else is a finding. */
export function readExport(lines: Iterable<string>): ExportContents {
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

/** Says whether this was the last line. */
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

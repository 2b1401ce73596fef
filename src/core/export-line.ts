/**
 * The export format: one line of canonical JSON each. The first line says what it is, the last how many entries and seals
 * there have to be; between them stand keys, seals, entries in commit order, and receipts. An exporter reads the seals
 * before the entries, or a seal made in between would cover entries that the export does not hold.
 */
import { canonicalJson } from "../kernel/canonical-json.ts";
import { HoldpointError } from "../kernel/errors.ts";
import { isJsonObject, type Json, type JsonObject, parseJson } from "../kernel/json.ts";

import { type PublicJwk, readPublicJwk } from "./jws.ts";
import { isCount, isHash } from "./read-header.ts";
import type { ReceiptBundle } from "./receipt-jws.ts";
import type { Seal, SealLeaf } from "./seal.ts";

import type { JournalLine } from "./verify-entry.ts";

export type ExportLine =
  | { readonly holdpoint: "export"; readonly v: 1; readonly tenant: string; readonly incarnation: string }
  | { readonly key: PublicJwk }
  | { readonly seal: Seal }
  | { readonly entry: JournalLine }
  | { readonly receipt: ReceiptBundle }
  | { readonly end: { readonly entries: number; readonly seals: number } };

/** Without the line feed. */
export function exportLine(line: ExportLine): string {
  if (!("entry" in line)) return canonicalJson(line);
  // A store's row may carry more than the format knows.
  const { header, hash, salt, body, position } = line.entry;
  return canonicalJson({ entry: { header, hash, salt, body, position } });
}

export function parseExportLine(text: string): ExportLine {
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
      // Any object: `verifyReceipt` judges it.
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

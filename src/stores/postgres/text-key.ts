/**
 * Texts as PostgreSQL can keep and index them: it has no U+0000 in texts, and no index entries over a third of a page.
 * Ordinary texts are kept as they are.
 */
import { sha256 } from "../../kernel/canonical-json.ts";
import { HoldpointError } from "../../kernel/errors.ts";

const ODD = /[\\\0]/;
const LONGEST = 1_000;

export function toText(text: string): string {
  return ODD.test(text) ? text.replaceAll("\\", "\\\\").replaceAll("\0", "\\0") : text;
}

export function fromText(kept: string): string {
  return kept.includes("\\")
    ? kept.replace(/\\(\\|0)/g, (_, sign: string) => (sign === "0" ? "\0" : "\\"))
    : kept;
}

/** What is looked up: a long text by its hash. No kept text has a backslash before an h. */
export function keyOf(text: string): string {
  const kept = toText(text);
  return kept.length * 3 <= LONGEST || Buffer.byteLength(kept) <= LONGEST ? kept : `\\h${sha256(text)}`;
}

/** The text behind a key, where the key alone does not tell it. */
export const wholeOf = (text: string, key: string): string | null =>
  key.startsWith("\\h") ? toText(text) : null;

export function checkTenantLength(tenant: string): string {
  if (Buffer.byteLength(toText(tenant)) <= LONGEST) return tenant;
  throw new HoldpointError("invalid_input", `A tenant's name has at most ${LONGEST} bytes.`);
}

/**
 * Test vectors of the journal: for each event type and each set of fields that occurred, one entry with the exact bytes of
 * its header and body, and their hash. Ids, times and digests of the run are replaced by fixed ones first, so that a vector
 * changes only when a word, a field, a value or the format of the journal does.
 */
import { makeEntry } from "../../src/journal/entry.ts";
import type { Json, JsonObject } from "../../src/kernel/json.ts";
import { type Names, normalise } from "./normalise.ts";

/** The two texts of a stored entry. */
export type EntryText = { readonly header: string; readonly body: string };

const SALT = "00112233445566778899aabbccddeeff";
const PLACE = { tenant: "acme", seq: 1, at: 1_800_000_000_000, prev: "0".repeat(64) };

type Sample = { readonly kind: string; readonly type: string; readonly tv: number; readonly body: string };

export type Vectors = {
  add(entry: EntryText): void;
  /** The vectors, sorted by type. */
  text(): string;
  /** Each type with the fields of its body; `?` marks one that some entries do not have. */
  fields(): string;
};

/** Every field of a value as a path, `costs[].budget`, without the values. */
function fieldPaths(value: Json, path = ""): readonly string[] {
  if (Array.isArray(value)) return [...new Set(value.flatMap((item: Json) => fieldPaths(item, `${path}[]`)))];
  const fields = typeof value === "object" && value !== null ? Object.entries(value as JsonObject) : [];
  if (fields.length === 0) return path === "" ? [] : [path];
  return fields.flatMap(([name, field]) => fieldPaths(field, path === "" ? name : `${path}.${name}`));
}

function vectorText({ kind, type, tv, body }: Sample): string {
  const event = { type, tv, body: JSON.parse(body) as JsonObject };
  const { header, hash, salt, body: bytes } = makeEntry({ ...PLACE, stream: `${kind}/1` }, event, SALT);
  return [`== ${type}`, `body ${bytes}`, `salt ${salt}`, `header ${header}`, `hash ${hash}`].join("\n");
}

function fieldLines(type: string, shapes: readonly (readonly string[])[]): string {
  const all = [...new Set(shapes.flat())].toSorted();
  const isOptional = (field: string) => shapes.some((shape) => !shape.includes(field));
  return [`== ${type}`, ...all.map((field) => `  ${field}${isOptional(field) ? "?" : ""}`)].join("\n");
}

const compare = (a: string, b: string): number => Number(a > b) - Number(a < b);

/** Of several entries with the same fields, the one whose text sorts first is kept: the order of arrival does not count. */
export function collectVectors(names: Names = {}): Vectors {
  const samples = new Map<string, Sample>();
  const shapes = new Map<string, Map<string, readonly string[]>>();
  return {
    add({ header, body: text }) {
      const { stream, type, tv } = JSON.parse(header) as { stream: string; type: string; tv: number };
      const body = normalise(text, names);
      const shape = fieldPaths(JSON.parse(body) as Json).toSorted();
      const key = `${type} ${tv} ${shape.join(" ")}`;
      const kept = samples.get(key);
      if (kept !== undefined && compare(kept.body, body) <= 0) return;
      samples.set(key, { kind: stream.slice(0, stream.indexOf("/")), type, tv, body });
      shapes.set(type, (shapes.get(type) ?? new Map()).set(key, shape));
    },
    text() {
      const sorted = [...samples].toSorted(([a], [b]) => compare(a, b));
      return `${sorted.map(([, sample]) => vectorText(sample)).join("\n")}\n`;
    },
    fields() {
      const types = [...shapes].toSorted(([a], [b]) => compare(a, b));
      return `${types.map(([type, known]) => fieldLines(type, [...known.values()])).join("\n")}\n`;
    },
  };
}

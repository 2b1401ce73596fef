/** Journals that earlier versions wrote: this one reads every entry of them, and comes to the same ends. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { Entry } from "../../src/journal/entry.ts";
import { STREAM_KINDS, type StreamKind } from "../../src/kernel/registry.ts";
import { canFoldEvent, parseStreamRef } from "../../src/kernel/stream.ts";
import { emptyHead, foldEntry, type Head } from "../../src/stores/head.ts";
import { projectionTable } from "../../src/stores/views.ts";
import { FOLDS } from "../../src/streams.ts";
import { PROJECTIONS } from "../fixtures/runtime.ts";

const FOLDER = join(import.meta.dirname, "journals");
const FILES = readdirSync(FOLDER).filter((name) => name.endsWith(".ndjson"));

type Line = { readonly header: string; readonly hash: string; readonly salt: string; readonly body: string };
type Header = Omit<Entry, keyof Line>;

function linesOf(file: string): readonly Line[] {
  const parsed = readFileSync(join(FOLDER, file), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  return parsed.flatMap((line) => {
    const entry = (line["entry"] ?? line) as Record<string, unknown>;
    return typeof entry["header"] === "string" ? [entry as unknown as Line] : [];
  });
}

const headerOf = ({ header }: Line): Header => JSON.parse(header) as Header;

function heads(file: string): ReadonlyMap<string, Head> {
  const found = new Map<string, Head>();
  for (const line of linesOf(file)) {
    const { stream } = headerOf(line);
    const { kind } = parseStreamRef(stream);
    found.set(
      stream,
      foldEntry(FOLDS, kind, found.get(stream) ?? emptyHead(FOLDS, kind), { ...headerOf(line), ...line }),
    );
  }
  return found;
}

describe("a journal of an earlier version", () => {
  assert.ok(FILES.length > 0);
  for (const file of FILES) {
    test(`${file}: every entry is known and folds into a state and its rows`, () => {
      const unknown = linesOf(file)
        .map(headerOf)
        .filter((header) => !canFoldEvent(FOLDS, header));
      assert.deepEqual(unknown, []);
      const table = projectionTable(PROJECTIONS);
      for (const [stream, { state }] of heads(file))
        for (const projection of table.of(parseStreamRef(stream).kind))
          projection.row(parseStreamRef(stream).id, state);
    });

    test(`${file}: its streams come to the ends that they had`, () => {
      const ends = new Map<string, number>();
      for (const [stream, { state }] of heads(file)) {
        const { kind } = parseStreamRef(stream);
        const { status, phase, life } = state as Record<string, unknown>;
        const end = `${kind} ${String(status ?? phase ?? life ?? "")}`.trim();
        ends.set(end, (ends.get(end) ?? 0) + 1);
      }
      const sorted = Object.fromEntries([...ends].sort(([one], [other]) => one.localeCompare(other)));
      assert.deepEqual(
        sorted,
        JSON.parse(readFileSync(join(FOLDER, file.replace("ndjson", "json")), "utf8")),
      );
    });
  }
});

/** Versions that are read beside the present one, `type version`: each has an entry in a file. There is none yet. */
const OLDER_VERSIONS: readonly string[] = [];

test("every older version of an event that is still read has an entry in a journal here", () => {
  const written = new Set(
    FILES.flatMap((file) =>
      linesOf(file)
        .map(headerOf)
        .map(({ type, tv }) => `${type} ${tv}`),
    ),
  );
  assert.deepEqual(
    OLDER_VERSIONS.filter((one) => !written.has(one)),
    [],
  );
  // Whoever raises a version finds this: what is read in two versions belongs into the list above.
  const types = new Map<string, string>(
    FILES.flatMap((file) =>
      linesOf(file)
        .map(headerOf)
        .map(({ stream, type }) => [type, stream] as const),
    ),
  );
  const several = [...types].filter(
    ([type, stream]) => canFoldEvent(FOLDS, { stream, type, tv: 2 }) && type !== "",
  );
  assert.deepEqual(
    several.map(([type]) => `${type} 1`).filter((one) => !OLDER_VERSIONS.includes(one)),
    [],
  );
});

test("an event of a version, of a type and of a kind of stream that nobody knows is not known", () => {
  for (const kind of STREAM_KINDS satisfies readonly StreamKind[])
    assert.equal(canFoldEvent(FOLDS, { stream: `${kind}/x`, type: "from.the.future", tv: 1 }), false, kind);
  assert.equal(canFoldEvent(FOLDS, { stream: "workflow/x", type: "log.written", tv: 2 }), false);
  assert.equal(canFoldEvent(FOLDS, { stream: "workflow/x", type: "log.written", tv: 1 }), true);
  assert.equal(canFoldEvent(FOLDS, { stream: "case/x", type: "case.opened", tv: 1 }), false);
});

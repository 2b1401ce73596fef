/** What somebody with the whole journal, but without the signing key, may do to it. Each changes what is sealed. */

import { bodyDigest, GENESIS, headerBytes, makeEntry } from "../../src/journal/entry.ts";
import type { Seal } from "../../src/journal/seal.ts";
import type { JournalLine } from "../../src/journal/verify.ts";

import { canonicalJson, sha256 } from "../../src/kernel/canonical-json.ts";
import {
  appendSeal,
  exportLines,
  FOREIGN_KEY,
  headerOf,
  type Journal,
  type Random,
  sealedUpTo,
} from "./journal-fixture.ts";

export type Tampering = (journal: Journal, random: Random) => void;

type Place = {
  readonly stream: string;
  readonly seq: number;
  readonly index: number;
  readonly line: JournalLine;
};

/** Sealed entries that still have a body; `above` asks for that many sealed entries after it in its stream. */
function targets(journal: Journal, above = 0): Place[] {
  const sealed = new Map(journal.seals.flatMap((seal) => seal.leaves.map((leaf) => [leaf.stream, leaf.seq])));
  return journal.entries.flatMap((line, index) => {
    const { stream, seq } = headerOf(line) ?? { stream: "", seq: 0 };
    const fits = line.body !== null && seq + above <= (sealed.get(stream) ?? 0);
    return fits ? [{ stream, seq, index, line }] : [];
  });
}

function header(line: JournalLine) {
  const read = headerOf(line);
  if (read === undefined) throw new Error("the fixture wrote a header that cannot be read");
  return read;
}

function replace(journal: Journal, index: number, change: Partial<JournalLine>): void {
  journal.entries = journal.entries.map((line, at) => (at === index ? { ...line, ...change } : line));
}

/** Numbers a stream's entries anew and chains them again: all the hashes an attacker can mend. */
function mend(journal: Journal, stream: string): void {
  let [seq, prev] = [0, GENESIS];
  journal.entries = journal.entries.map((line) => {
    if (headerOf(line)?.stream !== stream) return line;
    seq += 1;
    const text = headerBytes({ ...header(line), seq, prev });
    prev = sha256(text);
    return { ...line, header: text, hash: prev };
  });
}

/** Positions are the store's, not the stream's: a careful attacker leaves them in order. */
function renumber(journal: Journal): void {
  const positions = journal.entries.map((line) => line.position).sort((a, b) => a - b);
  journal.entries = journal.entries.map((line, index) => ({
    ...line,
    position: positions[index] ?? line.position,
  }));
}

function editHeader(journal: Journal, random: Random): Place {
  const place = random.pick(targets(journal));
  const type = `test.forged_${random.hex(2)}`;
  replace(journal, place.index, { header: headerBytes({ ...header(place.line), type }) });
  return place;
}

function editBody(journal: Journal, random: Random): Place {
  const place = random.pick(targets(journal));
  replace(journal, place.index, { body: canonicalJson({ forged: random.hex(4) }) });
  return place;
}

function forge(place: Place, random: Random): JournalLine {
  const { tenant, stream, seq, at, prev } = header(place.line);
  const event = { type: "test.forged", tv: 1, body: { forged: random.hex(4) } };
  return {
    ...makeEntry({ tenant, stream, seq, at, prev }, event, random.hex(16)),
    position: place.line.position,
  };
}

function swapLines(journal: Journal, random: Random): string {
  const first = random.pick(targets(journal, 1));
  const index = journal.entries.findIndex(
    (line) => headerOf(line)?.stream === first.stream && headerOf(line)?.seq === first.seq + 1,
  );
  const second = journal.entries[index];
  if (second === undefined) throw new Error("the sealed entry after it is missing");
  replace(journal, index, { ...first.line });
  replace(journal, first.index, { ...second });
  renumber(journal);
  return first.stream;
}

function remove(journal: Journal, gone: (line: JournalLine, index: number) => boolean): void {
  journal.entries = journal.entries.filter((line, index) => !gone(line, index));
}

function exchange(journal: Journal, random: Random, part: (line: JournalLine) => Partial<JournalLine>): void {
  const places = targets(journal);
  const first = random.pick(places);
  const second = random.pick(places.filter((place) => place.index !== first.index));
  replace(journal, first.index, part(second.line));
  replace(journal, second.index, part(first.line));
}

function changeSeal(journal: Journal, random: Random, change: (seal: Seal) => Partial<Seal>): void {
  const at = random.below(journal.seals.length);
  journal.seals = journal.seals.map((seal, index) => (index === at ? { ...seal, ...change(seal) } : seal));
}

/** The journal as it honestly was when it had fewer seals. */
function rollBack(journal: Journal, random: Random): void {
  journal.seals = journal.seals.slice(0, random.below(journal.seals.length));
  remove(journal, (line) => header(line).seq > sealedUpTo(journal, header(line).stream));
  journal.receipts = [];
}

/** Changes one character of a sealed entry or a seal as it stands in the export. */
function flip(text: string, random: Random): string {
  const at = random.below(text.length);
  const other = random.pick([...'0123456789abcdefxyz{}",:'].filter((letter) => letter !== text[at]));
  return text.slice(0, at) + other + text.slice(at + 1);
}

export const TAMPERINGS: Readonly<Record<string, Tampering>> = {
  "edit a header": (journal, random) => void editHeader(journal, random),
  "edit a header, mend the chain": (journal, random) => mend(journal, editHeader(journal, random).stream),
  "move an entry in time, mend the chain": (journal, random) => {
    const place = random.pick(targets(journal));
    replace(journal, place.index, {
      header: headerBytes({ ...header(place.line), at: random.below(2 ** 40) }),
    });
    mend(journal, place.stream);
  },
  "edit a body": (journal, random) => void editBody(journal, random),
  "edit a body, mend digest and chain": (journal, random) => {
    const { index, stream } = editBody(journal, random);
    const line = journal.entries[index];
    if (line === undefined) return;
    const body = bodyDigest(line.salt ?? "", line.body ?? "");
    replace(journal, index, { header: headerBytes({ ...header(line), body }) });
    mend(journal, stream);
  },
  "insert an entry": (journal, random) => {
    const place = random.pick(targets(journal));
    journal.entries = journal.entries.toSpliced(place.index, 0, forge(place, random));
  },
  "insert an entry, mend the chain": (journal, random) => {
    const place = random.pick(targets(journal));
    journal.entries = journal.entries.toSpliced(place.index, 0, forge(place, random));
    mend(journal, place.stream);
  },
  "slip in a new stream before the last seal": (journal, random) => {
    const { index, line, stream } = random.pick(targets(journal));
    const fresh = { ...header(line), stream: `${stream}_forged`, seq: 1, prev: GENESIS };
    const forged = forge({ stream, seq: 1, index, line: { ...line, header: headerBytes(fresh) } }, random);
    journal.entries = journal.entries.toSpliced(index, 0, forged);
  },
  "reorder entries": (journal, random) => void swapLines(journal, random),
  "reorder entries, mend the chain": (journal, random) => mend(journal, swapLines(journal, random)),
  "delete an entry": (journal, random) => {
    const { index } = random.pick(targets(journal));
    remove(journal, (_line, at) => at === index);
  },
  "delete an entry, mend the chain": (journal, random) => {
    const { index, stream } = random.pick(targets(journal));
    remove(journal, (_line, at) => at === index);
    mend(journal, stream);
  },
  "delete a stream": (journal, random) => {
    const { stream } = random.pick(targets(journal));
    remove(journal, (line) => headerOf(line)?.stream === stream);
  },
  "delete a stream, also from the seals": (journal, random) => {
    const { stream } = random.pick(targets(journal));
    remove(journal, (line) => headerOf(line)?.stream === stream);
    journal.seals = journal.seals.map((seal) => ({
      ...seal,
      leaves: seal.leaves.filter((leaf) => leaf.stream !== stream),
    }));
  },
  "cut the tail of a stream": (journal, random) => {
    const { stream, seq } = random.pick(targets(journal));
    remove(journal, (line) => headerOf(line)?.stream === stream && header(line).seq >= seq);
  },
  "cut the tail of a stream, with the seals that saw it": (journal, random) => {
    const { stream, seq } = random.pick(targets(journal));
    remove(journal, (line) => headerOf(line)?.stream === stream && header(line).seq >= seq);
    const first = journal.seals.findIndex((seal) =>
      seal.leaves.some((leaf) => leaf.stream === stream && leaf.seq >= seq),
    );
    journal.seals = journal.seals.slice(0, first);
    journal.receipts = [];
  },
  "fork a stream": (journal, random) => {
    const place = random.pick(targets(journal));
    const after = place.index + random.below(2);
    journal.entries = journal.entries.toSpliced(after, 0, forge(place, random));
  },
  "repeat an entry": (journal, random) => {
    const { index, line } = random.pick(targets(journal));
    journal.entries = journal.entries.toSpliced(index, 0, line);
  },
  "swap two bodies": (journal, random) => exchange(journal, random, ({ salt, body }) => ({ salt, body })),
  "swap two salts": (journal, random) => exchange(journal, random, ({ salt }) => ({ salt })),
  "erase only a body": (journal, random) =>
    replace(journal, random.pick(targets(journal)).index, { body: null }),
  "erase only a salt": (journal, random) =>
    replace(journal, random.pick(targets(journal)).index, { salt: null }),
  "write a header with a space": (journal, random) => {
    const { index, line } = random.pick(targets(journal));
    const text = line.header.replace(",", ", ");
    replace(journal, index, { header: text, hash: sha256(text) });
  },
  "move an entry to another tenant": (journal, random) => {
    const { index, line, stream } = random.pick(targets(journal));
    replace(journal, index, { header: headerBytes({ ...header(line), tenant: "somebody" }) });
    mend(journal, stream);
  },
  "edit a seal's heads": (journal, random) =>
    changeSeal(journal, random, ({ leaves }) => {
      const at = random.below(leaves.length);
      return {
        leaves: leaves.map((leaf, index) => (index === at ? { ...leaf, hash: random.hex(32) } : leaf)),
      };
    }),
  "drop one of a seal's heads": (journal, random) =>
    changeSeal(journal, random, ({ leaves }) => ({ leaves: leaves.slice(1) })),
  "edit a seal's payload": (journal, random) =>
    changeSeal(journal, random, ({ jws }) => {
      const [head, payload = "", signature] = jws.split(".");
      const said = JSON.parse(Buffer.from(payload, "base64url").toString()) as { entries: number };
      const forged = canonicalJson({ ...said, entries: said.entries + 1 });
      return { jws: [head, Buffer.from(forged).toString("base64url"), signature].join(".") };
    }),
  "drop a seal": (journal, random) => {
    const at = random.below(journal.seals.length);
    journal.seals = journal.seals.toSpliced(at, 1);
  },
  "drop all seals": (journal) => {
    journal.seals = [];
  },
  "swap two seals": (journal) => {
    journal.seals = journal.seals.toReversed();
  },
  "show an older journal": rollBack,
  "rewrite and sign all with another key": (journal, random) => {
    mend(journal, editHeader(journal, random).stream);
    const ends = journal.seals.map((seal) => sealedEntries(seal));
    Object.assign(journal, { seals: [], receipts: [], keys: [FOREIGN_KEY.publicJwk] });
    for (const end of ends) appendSeal(journal, FOREIGN_KEY, end);
  },
  "sign all again with another key": (journal) => {
    const ends = journal.seals.map((seal) => sealedEntries(seal));
    Object.assign(journal, { seals: [], receipts: [], keys: [FOREIGN_KEY.publicJwk] });
    for (const end of ends) appendSeal(journal, FOREIGN_KEY, end);
  },
};

function sealedEntries(seal: Seal): number {
  const payload = JSON.parse(Buffer.from(seal.jws.split(".")[1] ?? "", "base64url").toString()) as {
    entries: number;
  };
  return payload.entries;
}

/** Tamperings of the export's text, on the lines of an honest journal. */
export const TEXT_TAMPERINGS: Readonly<Record<string, (journal: Journal, random: Random) => string[]>> = {
  "change a character of an entry": (journal, random) => {
    const { index } = random.pick(targets(journal));
    const line = journal.entries[index];
    const part = random.pick(["header", "hash", "salt", "body"] as const);
    if (line !== undefined) replace(journal, index, { [part]: flip(line[part] ?? "", random) });
    return exportLines(journal);
  },
  "change a character of a seal's line": (journal, random) => {
    const lines = exportLines(journal);
    const at = 1 + journal.keys.length + random.below(journal.seals.length);
    return lines.map((line, index) => (index === at ? flip(line, random) : line));
  },
  "cut the export": (journal, random) => {
    const lines = exportLines(journal);
    return lines.slice(0, 1 + random.below(lines.length - 1));
  },
  "cut the export in the middle of a line": (journal, random) => {
    const text = exportLines(journal).join("\n");
    const start = text.indexOf("\n") + 1;
    return text.slice(0, start + random.below(text.length - start)).split("\n");
  },
};

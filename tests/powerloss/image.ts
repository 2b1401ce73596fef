/**
 * What may be found on a disk after the power went: everything that was synced, and of the rest whatever a disk may do.
 *
 * C1. Bytes that a write does not touch stay as they are (SQLite relies on it, and asks the device for it).
 * C2. A sector is 512 bytes: of a write, any of its sectors may be there, in any order.
 * C3. A file may have grown without its bytes, which then are zeros, or whatever lay there before.
 * C4. A name leads to any of the files that it led to since the folder was synced.
 */
import { type Bytes, createBytes } from "./bytes.ts";
import type { Chance } from "./chance.ts";
import { apply, type Cut, type CutFile, lead, type Pending } from "./cut.ts";
import type { Files } from "./disk.ts";

const WAYS = ["none", "all", "prefix", "subset", "sectors", "garbage"] as const;
export type Way = (typeof WAYS)[number];

export type Image = {
  readonly files: Files;
  /** What became of the files that were not safe. */
  readonly ways: readonly Way[];
  /** Unsynced operations of which nothing, or not all, is there. */
  readonly dropped: number;
  readonly torn: number;
  readonly namesLost: boolean;
};

const SECTOR = 512;

type Fate = { readonly bytes: Bytes; readonly dropped: number; readonly torn: number };

export function imageOf(cut: Cut, chance: Chance): Image {
  const names = namesOf(cut, chance);
  const files = new Map<string, Uint8Array>();
  const ways: Way[] = [];
  let dropped = 0;
  let torn = 0;
  for (const [name, id] of names) {
    const file = cut.files.get(id) ?? { safe: createBytes(), pending: [] };
    const way = chance.pick(WAYS);
    const fate = fateOf(file, way, chance);
    if (file.pending.length > 0) ways.push(way);
    dropped += fate.dropped;
    torn += fate.torn;
    files.set(name, fate.bytes.view());
  }
  return { files, ways, dropped, torn, namesLost: isStale(cut, names) };
}

/** Everything that was asked for is there, synced or not: what a killed program leaves on a machine that goes on. */
export function wholeImage(cut: Cut): Files {
  const names = new Map(cut.names);
  for (const { name, file } of cut.pendingNames) lead(names, name, file);
  return new Map(
    [...names].map(([name, id]) => {
      const { safe, pending } = cut.files.get(id) ?? { safe: createBytes(), pending: [] };
      for (const op of pending) apply(safe, op);
      return [name, safe.view()];
    }),
  );
}

function namesOf(cut: Cut, chance: Chance): Map<string, number> {
  const names = new Map(cut.names);
  for (const name of new Set(cut.pendingNames.map((one) => one.name))) {
    const steps = cut.pendingNames.filter((one) => one.name === name);
    for (const { file } of steps.slice(0, chance.below(steps.length + 1))) lead(names, name, file);
  }
  return names;
}

function isStale(cut: Cut, names: ReadonlyMap<string, number>): boolean {
  const wanted = new Map(cut.names);
  for (const { name, file } of cut.pendingNames) lead(wanted, name, file);
  return [...wanted, ...names].some(([name]) => wanted.get(name) !== names.get(name));
}

function fateOf({ safe, pending }: CutFile, way: Way, chance: Chance): Fate {
  const bytes = safe.copy();
  if (way === "sectors" || way === "garbage") return scattered({ bytes, pending }, way, chance);
  const kept = {
    none: 0,
    all: pending.length,
    prefix: chance.below(pending.length + 1),
    subset: pending.length,
  };
  const likelihood = way === "subset" ? chance.below(100) / 100 : 1;
  const done = pending.slice(0, kept[way]).filter(() => chance.happens(likelihood));
  for (const op of done) apply(bytes, op);
  return { bytes, dropped: pending.length - done.length, torn: 0 };
}

/** Each sector of each write has a fate of its own. */
function scattered(
  { bytes, pending }: { bytes: Bytes; pending: readonly Pending[] },
  way: "sectors" | "garbage",
  chance: Chance,
): Fate {
  const likelihood = chance.below(100) / 100;
  let dropped = 0;
  let torn = 0;
  for (const op of pending) {
    if (op.kind === "truncate") {
      if (chance.happens(likelihood)) bytes.resize(op.size);
      else dropped++;
      continue;
    }
    if (chance.happens(0.5)) grow(bytes, op.offset + op.bytes.length, way === "garbage" ? chance : undefined);
    const parts = partsOf(op);
    const kept = parts.filter(() => chance.happens(likelihood));
    for (const part of kept) bytes.write(part.offset, part.bytes);
    if (kept.length < parts.length) dropped++;
    if (kept.length > 0 && kept.length < parts.length) torn++;
  }
  return { bytes, dropped, torn };
}

function grow(bytes: Bytes, size: number, garbage: Chance | undefined): void {
  const before = bytes.size;
  if (size <= before) return;
  bytes.resize(size);
  if (garbage !== undefined) bytes.write(before, garbage.bytes(size - before));
}

function partsOf({ offset, bytes }: { offset: number; bytes: Uint8Array }) {
  const parts: { offset: number; bytes: Uint8Array }[] = [];
  for (let from = 0; from < bytes.length; ) {
    const to = Math.min(bytes.length, from + SECTOR - ((offset + from) % SECTOR));
    parts.push({ offset: offset + from, bytes: bytes.subarray(from, to) });
    from = to;
  }
  return parts;
}

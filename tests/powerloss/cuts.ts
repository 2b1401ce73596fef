/** Where the power goes, and what was going on there. */
import type { Chance } from "./chance.ts";
import type { Cut } from "./cut.ts";
import type { DiskOp } from "./disk.ts";

const DATABASE = 0;

export const MOMENTS = [
  "making the files",
  "in a commit",
  "in a large transaction",
  "in a checkpoint",
  "after the log began anew",
  "while closing",
  "names unsynced",
  "at rest",
] as const;
export type Moment = (typeof MOMENTS)[number];

/** Evenly over all operations, and more often where something is made safe. */
export function chooseCut(log: readonly DiskOp[], chance: Chance): number {
  const near = (wanted: (op: DiskOp) => boolean, offsets: readonly number[]) => {
    const places = log.flatMap((op, index) => (wanted(op) ? [index] : []));
    return places.length === 0 ? chance.below(log.length + 1) : chance.pick(places) + chance.pick(offsets);
  };
  const dice = chance.below(100);
  if (dice < 40) return chance.below(log.length + 1);
  if (dice < 65) return near(({ kind }) => kind === "sync", [-1, 0, 1, 2]);
  if (dice < 80) return near((op) => op.kind === "write" && op.file === DATABASE, [0, 1]);
  if (dice < 90) return near((op) => op.kind === "mark" && op.mark === "told", [1]);
  return near(({ kind }) => kind === "name", [0, 1, 2, 3]);
}

export function momentsOf(log: readonly DiskOp[], cut: Cut): readonly Moment[] {
  const before = log.slice(0, cut.at);
  const marks = before.flatMap((op) => (op.kind === "mark" && op.mark !== "told" ? [op.mark] : []));
  const isPending = (file: number) => (cut.files.get(file)?.pending.length ?? 0) > 0;
  const databasePending = isPending(DATABASE);
  const logPending = [...cut.files.keys()].some((file) => file !== DATABASE && isPending(file));
  const making = !marks.includes("opened");
  const inCommit = marks.at(-1) === "commit_begins";
  const found: Record<Moment, boolean> = {
    "making the files": making,
    "in a commit": inCommit && logPending,
    "in a large transaction": !making && !inCommit && logPending,
    "in a checkpoint": !making && databasePending,
    "after the log began anew": isAnew(before),
    "while closing": marks.lastIndexOf("closing") > marks.lastIndexOf("closed"),
    "names unsynced": cut.pendingNames.length > 0,
    "at rest": !databasePending && !logPending && cut.pendingNames.length === 0,
  };
  return MOMENTS.filter((moment) => found[moment]);
}

/** The log's header was written again, over frames that are all in the database, and no commit was answered since. */
function isAnew(before: readonly DiskOp[]): boolean {
  const isHeader = (op: DiskOp) =>
    op.kind === "write" && op.file !== DATABASE && op.offset === 0 && op.bytes.length === 32;
  const last = before.findLastIndex(isHeader);
  const header = before[last];
  if (header?.kind !== "write") return false;
  const earlier = before
    .slice(0, last)
    .some((op) => isHeader(op) && op.kind === "write" && op.file === header.file);
  return earlier && !before.slice(last).some((op) => op.kind === "mark" && op.mark === "commit_returned");
}

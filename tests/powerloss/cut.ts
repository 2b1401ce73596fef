/** What a disk surely holds when the power goes at one place of its log, and what is only on its way there. */
import { type Bytes, createBytes } from "./bytes.ts";
import type { Disk, DiskOp } from "./disk.ts";

export type Pending = Extract<DiskOp, { kind: "write" | "truncate" }>;
type PendingName = { readonly name: string; readonly file: number | null };
export type CutFile = { readonly safe: Bytes; readonly pending: Pending[] };

export type Cut = {
  /** How many operations of the log happened. */
  readonly at: number;
  readonly files: ReadonlyMap<number, CutFile>;
  readonly names: ReadonlyMap<string, number>;
  readonly pendingNames: readonly PendingName[];
};

export function cutAt({ start, log }: Pick<Disk, "start" | "log">, at: number): Cut {
  const files = new Map<number, CutFile>();
  const names = new Map<string, number>();
  const pendingNames: PendingName[] = [];
  for (const [name, bytes] of start) {
    names.set(name, files.size);
    files.set(files.size, { safe: createBytes(bytes), pending: [] });
  }
  const happen = (op: DiskOp) => {
    switch (op.kind) {
      case "write":
      case "truncate":
        return files.get(op.file)?.pending.push(op);
      case "sync":
        return settle(files.get(op.file));
      case "name":
        if (op.file !== null) files.set(op.file, { safe: createBytes(), pending: [] });
        return pendingNames.push(op);
      case "sync_folder":
        for (const { name, file } of pendingNames.splice(0)) lead(names, name, file);
        return;
      case "mark":
        return;
    }
  };
  for (const op of log.slice(0, at)) happen(op);
  return { at, files, names, pendingNames };
}

function settle(file: CutFile | undefined): void {
  for (const op of file?.pending.splice(0) ?? []) apply(file?.safe, op);
}

export function apply(bytes: Bytes | undefined, op: Pending): void {
  if (op.kind === "write") bytes?.write(op.offset, op.bytes);
  else bytes?.resize(op.size);
}

export function lead(names: Map<string, number>, name: string, file: number | null): void {
  if (file === null) names.delete(name);
  else names.set(name, file);
}

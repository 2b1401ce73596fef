import type { DatabaseSync } from "node:sqlite";
import { type StreamRef, streamRef } from "../../core/stream.ts";
import { createLayers } from "./layers.ts";

/** A name that was looked up in the file, and where it led. */
export type Looked = { readonly tid: number; readonly name: string; readonly stream: string | null };

export type Names = {
  find(tid: number, name: string): StreamRef | undefined;
  /** Leads there from now on, for whoever decides next. */
  lead(tid: number, name: string, stream: string): void;
  /** What was looked up in the file since it was last asked. */
  looked(): readonly Looked[];
  launch(): void;
  landed(): void;
  written(): void;
  drop(): void;
};

export function prepareNames(db: DatabaseSync): Names {
  const select = db.prepare("SELECT stream FROM hp_names WHERE tid = ? AND name = ?");
  const layers = createLayers<string>();
  let looked: Looked[] = [];
  const lookUp = (tid: number, name: string): string | null => {
    const row = select.get(tid, name);
    const stream = row === undefined ? null : String(row["stream"]);
    looked.push({ tid, name, stream });
    return stream;
  };
  const takeLooked = () => {
    const taken = looked;
    looked = [];
    return taken;
  };
  return {
    find(tid, name) {
      const stream = layers.get(`${tid}/${name}`) ?? lookUp(tid, name);
      return stream === null ? undefined : streamRef(stream);
    },
    lead: (tid, name, stream) => layers.set(`${tid}/${name}`, stream),
    looked: takeLooked,
    launch: layers.launch,
    landed: () => void layers.landed(),
    written() {
      layers.written();
      takeLooked();
    },
    drop() {
      layers.drop();
      takeLooked();
    },
  };
}

/** What processes write down after they were answered, one line each: all of it has to be true ever after. */
import { openSync, readSync, writeSync } from "node:fs";
import type { Answer } from "../../src/index.ts";
import type { SavedSeal } from "../../src/verify.ts";

export type Asked = {
  readonly kind: "asked";
  readonly requestId: string;
  readonly tool: string;
  readonly n: number;
};
export type Told =
  | {
      readonly kind: "call";
      readonly requestId: string;
      readonly action: string;
      readonly status: Answer<unknown>["status"];
      readonly code: string | null;
      readonly seq: number | null;
    }
  | { readonly kind: "decision"; readonly approval: string; readonly status: string; readonly by: string }
  | { readonly kind: "budget"; readonly budget: string; readonly micros: string }
  | { readonly kind: "seal"; readonly seal: SavedSeal };
export type Line = Asked | Told | { readonly kind: "wrong"; readonly what: string };

/** Appends without syncing: the page cache survives a killed process. */
export function openLog(file: string): (line: Line) => void {
  const log = openSync(file, "a");
  return (line) => void writeSync(log, `${JSON.stringify(line)}\n`);
}

/** Reads what was added to a file since the last time, whole lines only. */
export function tail<Kind>(file: string): () => Kind[] {
  const log = openSync(file, "a+");
  const buffer = Buffer.alloc(1 << 20);
  let position = 0;
  let rest = Buffer.alloc(0);
  return () => {
    for (;;) {
      const length = readSync(log, buffer, 0, buffer.length, position);
      if (length === 0) break;
      position += length;
      rest = Buffer.concat([rest, buffer.subarray(0, length)]);
    }
    const end = rest.lastIndexOf(10) + 1;
    const text = rest.subarray(0, end).toString("utf8");
    rest = rest.subarray(end);
    return text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Kind);
  };
}

/** The journal as it is played again: entries of all streams in the order of their commits. */
import type { JsonObject } from "../json.ts";

export type TapeEntry = {
  readonly position: number;
  readonly kind: string;
  readonly id: string;
  readonly type: string;
  readonly seq: number;
  readonly at: number;
  /** JSON text; null when it was erased. Read only where it is needed: most of a journal is not. */
  readonly text: string | null;
};

export function tapeEntry(entry: {
  readonly position: number;
  readonly header: string;
  readonly body: string | null;
}): TapeEntry {
  const { stream, type, seq, at } = JSON.parse(entry.header) as {
    readonly stream: string;
    readonly type: string;
    readonly seq: number;
    readonly at: number;
  };
  const slash = stream.indexOf("/");
  const [kind, id] = [stream.slice(0, slash), stream.slice(slash + 1)];
  return { position: entry.position, kind, id, type, seq, at, text: entry.body };
}

export function bodyIn({ text }: TapeEntry): JsonObject | null {
  return text === null ? null : (JSON.parse(text) as JsonObject);
}

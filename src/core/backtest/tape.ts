/** The journal as it is played again: entries of all streams in the order of their commits. */
import { questionEnds } from "../../approvals/state.ts";
import type { JsonObject } from "../../kernel/json.ts";

export type TapeEntry = {
  readonly position: number;
  readonly kind: string;
  readonly id: string;
  readonly type: string;
  readonly at: number;
  /** JSON text; null when it was erased. Read only where it is needed: most of a journal is not. */
  readonly text: string | null;
};

/** Everything that a replay listens to. */
const HEARD: ReadonlySet<string> = new Set([
  "action.proposed",
  "action.revised",
  "action.reviewed",
  "action.refused",
  "effect.started",
  "effect.applied",
  "effect.not_applied",
  "effect.in_doubt",
  "effect.resolved",
  "approval.requested",
  "approval.edited",
  "approval.revised",
  ...questionEnds.map((end) => `approval.${end}`),
  "approval.revoked",
  "workflow.created",
  "workflow.completed",
  "workflow.failed",
  "workflow.closed",
  "call.made",
  "call.settled",
  "compensation.settled",
  "rollback.ended",
]);

/**
 * The text of a field, found without reading the rest: a quote inside of a text has a backslash before it, so that nothing
 * else looks like a key. The keys of a header stand in a fixed order.
 */
function fieldIn(header: string, key: string): string {
  const start = header.lastIndexOf(key) + key.length;
  return header.slice(start, header.indexOf('"', start));
}

const AT = '{"at":'.length;

function streamIn(header: string): string {
  const stream = fieldIn(header, '"stream":"');
  return stream.includes("\\") ? (JSON.parse(header) as { readonly stream: string }).stream : stream;
}

/** Undefined for what no replay listens to. */
export function tapeEntry(entry: {
  readonly position: number;
  readonly header: string;
  readonly body: string | null;
}): TapeEntry | undefined {
  const { header, position, body } = entry;
  const type = fieldIn(header, '"type":"');
  if (!HEARD.has(type)) return undefined;
  const stream = streamIn(header);
  const slash = stream.indexOf("/");
  const at = Number(header.slice(AT, header.indexOf(",", AT)));
  return { position, kind: stream.slice(0, slash), id: stream.slice(slash + 1), type, at, text: body };
}

export function bodyIn({ text }: TapeEntry): JsonObject | null {
  return text === null ? null : (JSON.parse(text) as JsonObject);
}

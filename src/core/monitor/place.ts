/** The keeping of a monitor's place: where the next process goes on. */

import { monitorStream } from "../../kernel/stream.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";

import type { MonitorState } from "./place-state.ts";

/** Of several processes, the one that has read furthest keeps its place. */
export function keepPlace(
  draft: Draft,
  monitor: string,
  { position, rules }: MonitorState,
): Need | { readonly kind: "kept" | "behind" } {
  const ref = monitorStream(monitor);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  const { position: before, rules: known } = draft.state(ref);
  if (known !== null && before >= position) return { kind: "behind" };
  draft.append(ref, [{ type: "monitor.moved", tv: 1, body: { position, rules: draft.keep(rules) } }]);
  return { kind: "kept" };
}

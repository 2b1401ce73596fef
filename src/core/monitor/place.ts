/** How far a monitor has read, and what its rules knew there: where the next process goes on. */
import type { Draft, Need } from "../draft.ts";
import { bodyOf, type Fold } from "../event.ts";
import type { Json } from "../json.ts";
import { monitorStream } from "../stream.ts";

/** `rules`: null before anything was kept. */
export type MonitorState = { readonly position: number; readonly rules: Json };

export const monitorFold: Fold<MonitorState> = {
  version: 1,
  initial: { position: 0, rules: null },
  evolve(_state, event) {
    const { position, rules } = bodyOf("A monitor", event, ["monitor.moved"]);
    return { position: Number(position), rules: rules ?? null };
  },
};

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

/** How far a monitor has read, and what its rules knew there. */
import { bodyOf, type Fold } from "../event.ts";
import type { Json } from "../json.ts";

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

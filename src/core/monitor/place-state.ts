/** How far a monitor has read, and what its rules knew there. */

import type { Json } from "../../kernel/json.ts";
import { eventBody, type Fold } from "../../kernel/stream.ts";

/** `rules`: null before anything was kept. */
export type MonitorState = { readonly position: number; readonly rules: Json };

export const monitorFold: Fold<MonitorState> = {
  version: 1,
  initial: { position: 0, rules: null },
  evolve(_state, event) {
    const { position, rules } = eventBody("A monitor", event, ["monitor.moved"]);
    return { position: Number(position), rules: rules ?? null };
  },
};

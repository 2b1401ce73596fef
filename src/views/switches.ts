/** Kill switches that are on, by what they stop. One that was released has no row. */
import type { SwitchState } from "../core/switch.ts";
import { stoppedOf } from "../core/switch.ts";

export const switchesView = {
  view: "switches",
  kind: "switch",
  version: 1,
  row(id: string, state: SwitchState) {
    if (!state.stopped) return undefined;
    const { by, reason, at } = state;
    return { bucket: stoppedOf(id).what, at, due: null, data: { by, reason } };
  },
} as const;

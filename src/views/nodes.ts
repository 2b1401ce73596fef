/** Epochs as people look at nodes: who is there, and who was. Whether one still holds its epoch is not in its stream. */
import type { EpochState } from "../core/epoch.ts";
import type { JsonObject } from "../kernel/json.ts";

export const nodesView = {
  view: "nodes",
  kind: "epoch",
  version: 1,
  row(_id: string, state: EpochState) {
    if (state.life === "none") return undefined;
    const { agent, process, kind, version, definitions, openedAt } = state;
    const end = state.life === "ended" ? { how: state.how, endedAt: state.endedAt } : {};
    const data: JsonObject = { agent, process, kind, version, definitions, openedAt, ...end };
    return { bucket: state.life, at: openedAt, due: null, data };
  },
} as const;

/**
 * Alerts and monitors' reading positions: state and fold, and the list of alerts, standing and cleared. An alert is
 * raised once, may be acknowledged, and ends when it is cleared.
 */

import { HoldpointError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { eventBody, type Fold, type RecordedEvent } from "../kernel/stream.ts";
import type { Figures, Severity } from "./rules/monitor-rule.ts";

type Acknowledgement = { readonly by: string; readonly note: string | null; readonly at: number };

type RaisedBody = {
  readonly monitor: string;
  readonly rule: string;
  readonly kind: string;
  readonly severity: Severity;
  readonly subject: string;
  readonly workflow: string | null;
  readonly figures: Figures;
  readonly says: string;
  /** The entry that caused it. */
  readonly position: number;
  /** The approval at the checkpoint that it raised. */
  readonly approval: string | null;
};

export type LiveAlert = RaisedBody & {
  readonly status: "standing" | "cleared";
  readonly raisedAt: number;
  readonly acknowledged: Acknowledgement | null;
  readonly clearedAt: number | null;
  /** The entry that cleared it. */
  readonly clearedBy: number | null;
};
export type AlertState = { readonly status: "none" } | LiveAlert;

const ALERT_EVENTS = ["alert.raised", "alert.acknowledged", "alert.cleared"];

function raisedAlert(body: RaisedBody, { at }: RecordedEvent): LiveAlert {
  const fresh = { acknowledged: null, clearedAt: null, clearedBy: null } as const;
  return { ...body, status: "standing", raisedAt: at, ...fresh };
}

export const alertFold: Fold<AlertState> = {
  version: 1,
  initial: { status: "none" },
  isOver: (state) => state.status === "cleared",
  evolve(state, event) {
    const body = eventBody("An alert", event, ALERT_EVENTS);
    if (state.status === "none") {
      if (event.type === "alert.raised") return raisedAlert(body as unknown as RaisedBody, event);
      throw new HoldpointError("broken_rule", `"${event.type}" came before the alert was raised.`);
    }
    switch (event.type) {
      case "alert.acknowledged": {
        const note = typeof body["note"] === "string" ? body["note"] : null;
        return { ...state, acknowledged: { by: String(body["by"]), note, at: event.at } };
      }
      case "alert.cleared":
        return { ...state, status: "cleared", clearedAt: event.at, clearedBy: Number(body["position"]) };
      default:
        throw new HoldpointError("broken_rule", "An alert is raised once.");
    }
  },
};

/** `rules`: null before anything was stored. */
export type MonitorState = { readonly position: number; readonly rules: Json };

export const monitorFold: Fold<MonitorState> = {
  version: 1,
  initial: { position: 0, rules: null },
  evolve(_state, event) {
    const { position, rules } = eventBody("A monitor", event, ["monitor.moved"]);
    return { position: Number(position), rules: rules ?? null };
  },
};

export const alertsView = {
  view: "alerts",
  kind: "alert",
  version: 1,
  row(_id: string, state: AlertState) {
    if (state.status === "none") return undefined;
    const { status, monitor, rule, kind, severity, subject, workflow, figures, says, approval } = state;
    const { raisedAt, clearedAt, acknowledged } = state;
    const shown = { status, monitor, rule, kind, severity, subject, workflow, figures, says, approval };
    const data = { ...shown, raisedAt, clearedAt, acknowledgedBy: acknowledged?.by ?? null };
    return { bucket: status, at: raisedAt, due: null, data };
  },
} as const;

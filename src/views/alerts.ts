/** Alerts as people list them: those that stand, and those that are over. */
import type { AlertState } from "../core/monitor/alert-state.ts";

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

/** Sessions that were not ended, by whose they are. The hash stays in the journal. */
import type { SessionState } from "../core/session/state.ts";

export const sessionsView = {
  view: "sessions",
  kind: "session",
  version: 1,
  /** Whether its time is over is looked at when they are listed: rows have no clock. */
  row(_id: string, state: SessionState) {
    if (state.status !== "begun") return undefined;
    const { person, expiresAt, begunAt } = state;
    return { bucket: person, at: begunAt, due: null, data: { person, expiresAt, begunAt } };
  },
} as const;

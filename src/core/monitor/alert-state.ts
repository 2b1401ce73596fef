/** An alert's state: the fold of its stream, from when something began to hold until it was over. */
import { HoldpointError } from "../../kernel/errors.ts";
import { eventBody, type Fold, type RecordedEvent } from "../../kernel/stream.ts";

import type { Figures, Severity } from "./rules.ts";

export type Acknowledgement = { readonly by: string; readonly note: string | null; readonly at: number };

type RaisedBody = {
  readonly monitor: string;
  readonly rule: string;
  readonly kind: string;
  readonly severity: Severity;
  readonly subject: string;
  readonly workflow: string | null;
  readonly figures: Figures;
  readonly says: string;
  /** The entry that brought it about. */
  readonly position: number;
  /** The question at the checkpoint that it has raised. */
  readonly approval: string | null;
};

export type LiveAlert = RaisedBody & {
  readonly status: "standing" | "cleared";
  readonly raisedAt: number;
  readonly acknowledged: Acknowledgement | null;
  readonly clearedAt: number | null;
  /** The entry by which it was over. */
  readonly clearedBy: number | null;
};
export type AlertState = { readonly status: "none" } | LiveAlert;

const EVENTS = ["alert.raised", "alert.acknowledged", "alert.cleared"];

function raised(body: RaisedBody, { at }: RecordedEvent): LiveAlert {
  const fresh = { acknowledged: null, clearedAt: null, clearedBy: null } as const;
  return { ...body, status: "standing", raisedAt: at, ...fresh };
}

export const alertFold: Fold<AlertState> = {
  version: 1,
  initial: { status: "none" },
  isOver: (state) => state.status === "cleared",
  evolve(state, event) {
    const body = eventBody("An alert", event, EVENTS);
    if (state.status === "none") {
      if (event.type === "alert.raised") return raised(body as unknown as RaisedBody, event);
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

/**
 * Alerts and monitors' reading positions: state and fold, and the list of alerts, standing and cleared. An alert is
 * raised once, may be acknowledged, and ends when it is cleared.
 */

import type { Json } from "../kernel/json.ts";
import { defineStream, eventBody, type Fold } from "../kernel/stream.ts";
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

const { after, define } = defineStream<AlertState>();

export const alert = define("alert", {
  what: "An alert",
  version: 1,
  initial: { status: "none" },
  words: { none: "not raised" },
  isOver: ({ status }) => status === "cleared",
  events: {
    "alert.raised": after(
      ["none"],
      "a rule of a monitor began to hold: monitor, rule, severity, subject, figures, the entry that brought it about, the approval of the checkpoint that it raised",
      (_, body: RaisedBody, { at }) => ({
        ...body,
        ...{ status: "standing", raisedAt: at, acknowledged: null, clearedAt: null, clearedBy: null },
      }),
    ),
    "alert.acknowledged": after(
      ["standing", "cleared"],
      "a person has seen it",
      (raised, { by, note = null }: { readonly by: string; readonly note?: string | null }, { at }) => ({
        ...raised,
        acknowledged: { by, note, at },
      }),
    ),
    "alert.cleared": after(
      ["standing", "cleared"],
      "the rule stopped holding, and the entry that ended it",
      (raised, { position }: { readonly position: number }, { at }) => ({
        ...raised,
        ...{ status: "cleared", clearedAt: at, clearedBy: position },
      }),
    ),
  },
  lists: [
    {
      bucket: ({ status }) => status,
      data(alert) {
        const { status, monitor, rule, kind, severity, subject, workflow, figures, says, approval } = alert;
        const { raisedAt, clearedAt, acknowledged } = alert;
        const shown = { status, monitor, rule, kind, severity, subject, workflow, figures, says, approval };
        return { ...shown, raisedAt, clearedAt, acknowledgedBy: acknowledged?.by ?? null };
      },
      orders: { raised: { view: "alerts", version: 1, at: ({ raisedAt }) => raisedAt } },
    },
  ],
});

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

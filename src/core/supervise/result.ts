/** What a supervised run answers: `trace` and `history` together are the audit. Field names are those of the wire. */

import type { ExecutedFrom } from "../../effects/state.ts";
import type { Json } from "../../kernel/json.ts";
import type { Proposal } from "./proposal.ts";
import type { Phase, StopReason } from "./stop-reason.ts";
import type { Tokens } from "./turn.ts";

export type SupervisorDecision = "approve" | "revise" | "block" | "escalate";

export type TraceRow = {
  readonly step: number;
  /** `final` for an answer, `invalid` for an output that proposed nothing. */
  readonly tool: string;
  readonly args_hash?: string;
  readonly supervisor_decision?: SupervisorDecision;
  readonly executed_from?: ExecutedFrom;
  readonly human_approved?: boolean;
  /** The grant that let it through where people would have been asked. */
  readonly standing_grant?: string;
  readonly risk_score?: number;
  readonly stop_reason?: StopReason;
  /** It happened, and was taken back when the run was rolled back. */
  readonly undone?: true;
  readonly ok: boolean;
};

export type SupervisorInfo = {
  readonly decision: SupervisorDecision;
  readonly reason: string;
  /** As policy changed it, before people were asked. */
  readonly revised_action?: Proposal;
  /** What policy changed on the way to another decision, in order. */
  readonly revised?: readonly { readonly reason: string; readonly rule: string }[];
};

export type HumanApproval = {
  readonly approved: boolean;
  readonly by: readonly string[];
  readonly comment: string;
  /** Only where a person changed something. */
  readonly revised_action?: Proposal;
};

export type HistoryRow = {
  readonly step: number;
  /** Absent where the model's output was not one. */
  readonly action?: Proposal;
  readonly raw_action?: Json;
  readonly supervisor?: SupervisorInfo;
  readonly human_approval?: HumanApproval;
  /** null where nothing ran. */
  readonly executed_action: Proposal | null;
  readonly executed_from: ExecutedFrom | null;
  readonly observation: Json;
  /** It was taken back when the run was rolled back. */
  readonly undone?: true;
};

export type SuperviseResult = {
  readonly status: "ok" | "stopped";
  readonly stop_reason: StopReason;
  readonly phase?: Phase;
  readonly answer?: string;
  readonly raw_action?: Json;
  readonly action?: Proposal;
  readonly trace: readonly TraceRow[];
  readonly history: readonly HistoryRow[];
  /** The workflow that it is; `holdpoint show` tells it whole. */
  readonly workflow: string;
  readonly tokens: Tokens;
};

/** How a run ended, as its workflow records it. */
export type RunEnd = Pick<SuperviseResult, "status" | "stop_reason" | "phase" | "answer">;

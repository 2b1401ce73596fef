/** What clients were told, one line an answer. What they were told for certain has to be true ever after. */

/** `unknown`: no answer came, or one that leaves it open. */
export type Said = "yes" | "no" | "unknown";

type Answered = { readonly said: Said; readonly at: number };

export type Call = Answered & {
  readonly kind: "call";
  readonly requestId: string;
  readonly tool: string;
  readonly n: number;
  /** `permitted`, `waiting`, `refused`, `held` or `settled`. */
  readonly answer: string | null;
  readonly action: string | null;
  /** Of the receipt, where there was one. */
  readonly status: string | null;
};
export type Vote = Answered & {
  readonly kind: "vote";
  readonly approval: string;
  readonly by: string;
  readonly decision: "approve" | "reject";
  /** Of the approval, as it was answered. */
  readonly status: string | null;
};
export type Reported = Answered & {
  readonly kind: "report";
  readonly action: string;
  readonly status: "applied" | "not_applied";
};
export type Driven = Answered & {
  readonly kind: "workflow";
  readonly step: "create" | "start" | "complete";
  readonly requestId: string;
  readonly workflow: string | null;
};
/** Somebody looked, after `known` had been acknowledged, perhaps by another server. */
export type Read = {
  readonly kind: "read";
  readonly of: "action" | "approval" | "workflow";
  readonly id: string;
  readonly known: string;
  readonly status: string;
  readonly at: number;
};
export type Line = Call | Vote | Reported | Driven | Read;

export const isAcknowledged = (line: Line): boolean => line.kind === "read" || line.said === "yes";

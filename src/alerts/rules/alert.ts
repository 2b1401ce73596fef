/**
 * An alert: one stream from when a condition began to hold until it ended. A name leads from monitor, rule and subject
 * to the newest one. Also stores a monitor's reading position, where the next process resumes.
 * - While an alert is `standing`, no process raises another for the same rule and subject.
 * - The entry that cleared an alert, or an earlier one, does not raise it again: rereading entries adds nothing.
 */

import { digestOf } from "../../kernel/canonical-json.ts";
import { alertStream, monitorStream, workflowStream } from "../../kernel/stream.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";
import type { LiveAlert, MonitorState } from "../stream.ts";
import type { Proof, Severity, Signal } from "./monitor-rule.ts";

type AlertRule = {
  readonly monitor: string;
  readonly rule: string;
  readonly kind: string;
  readonly severity: Severity;
};

const alertName = ({ monitor, rule }: AlertRule, subject: string): string =>
  `alert:${digestOf({ monitor, rule, subject })}`;

type LatestAlert = { readonly id: string; readonly state: LiveAlert } | undefined;

/** The newest alert of this rule and subject. */
function latestAlert(
  draft: Draft,
  rule: AlertRule,
  subject: string,
): Need | { readonly kind: "last"; readonly last: LatestAlert } {
  const name = alertName(rule, subject);
  const more = draft.need({ names: [name] });
  if (more !== undefined) return more;
  const found = draft.lookUp(name);
  if (found === undefined) return { kind: "last", last: undefined };
  const ref = alertStream(found.id);
  const missing = draft.need({ write: [ref] });
  if (missing !== undefined) return missing;
  const state = draft.state(ref);
  return { kind: "last", last: state.status === "none" ? undefined : { id: found.id, state } };
}

/** Whether the workflow is still in the state that the rule saw. */
function isStillTrue(draft: Draft, workflow: string | null, proof: Proof): Need | boolean {
  if (proof === null || workflow === null) return true;
  const ref = workflowStream(workflow);
  const more = draft.need({ read: [ref] });
  if (more !== undefined) return more;
  const state = draft.state(ref);
  if (state.status !== "executing" || (state.runner === null && !state.isReady)) return false;
  return proof.kind === "executing" || state.changedAt + proof.forMs <= draft.now;
}

export type RaiseAlertCommand = AlertRule & {
  readonly alert: string;
  readonly signal: Signal;
  readonly position: number;
};
export type AlertNews = { readonly kind: "new" | "known" | "raised" };

/** `raised`: by this same command, after an unknown commit. `known`: standing, cleared later, or no longer true. */
export function checkNews(
  draft: Draft,
  { alert, signal, position, ...rule }: RaiseAlertCommand,
): Need | AlertNews {
  const found = latestAlert(draft, rule, signal.subject);
  if (found.kind === "need") return found;
  if (found.last?.id === alert) return { kind: "raised" };
  const state = found.last?.state;
  if (state?.status === "standing" || (state?.clearedBy ?? -1) >= position) return { kind: "known" };
  const proved = isStillTrue(draft, signal.workflow, signal.proof);
  if (typeof proved !== "boolean") return proved;
  return { kind: proved ? "new" : "known" };
}

/** `approval`: that of the checkpoint raised in the same commit. Call `checkNews` first. */
export function appendAlert(
  draft: Draft,
  raising: RaiseAlertCommand,
  approval: string | null,
): Need | AlertNews {
  const { alert, signal, position, monitor, rule, kind, severity } = raising;
  const ref = alertStream(alert);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  const { subject, workflow, figures, says } = signal;
  const body = { monitor, rule, kind, severity, subject, workflow, figures, says, position, approval };
  draft.append(ref, [{ type: "alert.raised", tv: 1, body }]);
  draft.take(alertName(raising, subject), ref);
  return { kind: "raised" };
}

export function raiseAlert(draft: Draft, raising: RaiseAlertCommand): Need | AlertNews {
  const news = checkNews(draft, raising);
  return news.kind === "new" ? appendAlert(draft, raising, null) : news;
}

type ClearAlertAnswer = { readonly kind: "cleared"; readonly alert: string } | { readonly kind: "known" };

/** Clears only an alert that was raised before this entry. */
export function clearAlert(
  draft: Draft,
  { signal, position, ...rule }: Omit<RaiseAlertCommand, "alert">,
): Need | ClearAlertAnswer {
  const found = latestAlert(draft, rule, signal.subject);
  if (found.kind === "need") return found;
  const { last } = found;
  if (last?.state.status !== "standing" || last.state.position > position) return { kind: "known" };
  draft.append(alertStream(last.id), [{ type: "alert.cleared", tv: 1, body: { position } }]);
  return { kind: "cleared", alert: last.id };
}

type AcknowledgeAlertAnswer =
  | { readonly kind: "acknowledged" | "again"; readonly state: LiveAlert }
  | { readonly kind: "unknown" };

/** The first acknowledgement counts. A later caller gets the name of the first. */
export function acknowledgeAlert(
  draft: Draft,
  alert: string,
  said: { readonly by: string; readonly note: string | null },
): Need | AcknowledgeAlertAnswer {
  const ref = alertStream(alert);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  const state = draft.state(ref);
  if (state.status === "none") return { kind: "unknown" };
  if (state.acknowledged !== null) return { kind: "again", state };
  draft.append(ref, [{ type: "alert.acknowledged", tv: 1, body: { by: said.by, note: said.note } }]);
  return { kind: "acknowledged", state: draft.state(ref) as LiveAlert };
}

/** Of several processes, the one that has read furthest stores its position. */
export function keepMonitorPosition(
  draft: Draft,
  monitor: string,
  { position, rules }: MonitorState,
): Need | { readonly kind: "kept" | "behind" } {
  const ref = monitorStream(monitor);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  const { position: before, rules: known } = draft.state(ref);
  if (known !== null && before >= position) return { kind: "behind" };
  draft.append(ref, [{ type: "monitor.moved", tv: 1, body: { position, rules: draft.keep(rules) } }]);
  return { kind: "kept" };
}

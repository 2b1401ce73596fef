/**
 * What clients were told, against the journal.
 *
 * T1. What was acknowledged is there, and as it was said. T2. What was refused is not there. T3. Whoever looked after an
 * acknowledgement saw at least that. T4. An approval has one terminal decision and, where one person is enough, one vote;
 * everybody was told of the same one.
 */
import type { LiveAction } from "../../../src/effects/state.ts";
import { type Checker, type Fault, mayBecome } from "./history.ts";
import type { Call, Line, Vote } from "./told.ts";
import type { Journal } from "./watch.ts";

const only = <Kind extends Line["kind"]>(lines: readonly Line[], kind: Kind) =>
  lines.filter((line): line is Extract<Line, { kind: Kind }> => line.kind === kind);

function byRequest({ actions }: Journal): ReadonlyMap<string, readonly [string, LiveAction]> {
  const known = new Map<string, readonly [string, LiveAction]>();
  for (const [id, state] of actions)
    if (state.phase !== "none" && state.requestId !== null && state.within === undefined)
      known.set(state.requestId, [id, state]);
  return known;
}

function callFaults(call: Call, found: readonly [string, LiveAction] | undefined): readonly Fault[] {
  const { requestId, said, answer, status } = call;
  if (said === "no" && found !== undefined)
    return [{ kind: "denied", what: `${requestId} was refused (${answer}) and is ${found[1].phase}` }];
  if (said !== "yes") return [];
  if (found === undefined) return [{ kind: "lost", what: `${requestId} was acknowledged and is not there` }];
  const [id, state] = found;
  const known = status ?? answer ?? "";
  if (call.action !== id)
    return [{ kind: "lost", what: `${requestId} was answered with ${call.action} and is ${id}` }];
  return mayBecome(known, state.phase)
    ? []
    : [{ kind: "lost", what: `${requestId} was answered ${known} and is ${state.phase}` }];
}

export const checkCalls: Checker = ({ told, journal }) => {
  const known = byRequest(journal);
  return only(told, "call").flatMap((call) => callFaults(call, known.get(call.requestId)));
};

export const checkReports: Checker = ({ told, journal }) =>
  only(told, "report").flatMap(({ action, status, said }) => {
    const now = journal.actions.get(action)?.phase ?? "none";
    if (said !== "yes" || now === status) return [];
    return [{ kind: "lost", what: `${action} was reported as ${status} and is ${now}` }];
  });

const REACHED = { create: "initialized", start: "executing", complete: "completed" } as const;

export const checkDriven: Checker = ({ told, journal }) =>
  only(told, "workflow").flatMap(({ workflow, step, said, requestId }): readonly Fault[] => {
    if (said !== "yes" || workflow === null) return [];
    const now = journal.workflows.get(workflow)?.status ?? "none";
    if (mayBecome(REACHED[step], now)) return [];
    return [{ kind: "lost", what: `${requestId} was acknowledged as ${step} and ${workflow} is ${now}` }];
  });

export const checkReads: Checker = ({ told }) =>
  only(told, "read").flatMap(({ of, id, known, status }): readonly Fault[] =>
    mayBecome(known, status)
      ? []
      : [{ kind: "stale read", what: `the ${of} ${id} was ${known} and was read as ${status}` }],
  );

function voteFaults(vote: Vote, { approvals }: Journal): readonly Fault[] {
  const { approval, by, decision, said, status } = vote;
  const state = approvals.get(approval) ?? { status: "none" };
  const votes = state.status === "none" ? [] : state.votes;
  const isThere = votes.some((one) => one.by === by && one.decision === decision);
  if (said === "yes" && !isThere)
    return [{ kind: "lost", what: `${approval} has lost ${decision} of ${by}, which was acknowledged` }];
  if (said === "no" && isThere)
    return [{ kind: "denied", what: `${approval} counts ${decision} of ${by}, which was refused` }];
  if (said !== "unknown" && status !== null && !mayBecome(status, state.status))
    return [
      {
        kind: "two winners",
        what: `${by} was told that ${approval} is ${status}, and it is ${state.status}`,
      },
    ];
  return [];
}

const UNDECIDED: readonly string[] = ["none", "pending"];

/** T4. */
export const checkDecisions: Checker = ({ told, journal }) => {
  const faults = only(told, "vote").flatMap((vote) => voteFaults(vote, journal));
  for (const [id, state] of journal.approvals) {
    const decisions = journal.decisions.get(id) ?? [];
    const wanted = UNDECIDED.includes(state.status) ? 0 : 1;
    if (decisions.length !== wanted)
      faults.push({ kind: "two winners", what: `${id} is ${state.status} by ${decisions.join(" and ")}` });
    if (state.status !== "none" && state.approvers.quorum === 1 && state.votes.length > 1)
      faults.push({ kind: "two winners", what: `${id} counts ${state.votes.length} votes of one` });
  }
  return faults;
};

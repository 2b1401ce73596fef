/** What a run has to have met at least, or its silence proves nothing. */
export const FAULTS = [
  "crash before a port call",
  "crash after a port call",
  "crash at a named point",
  "store error, nothing applied",
  "unknown commit, applied",
  "unknown commit, lost",
  "slow store",
  "disk full",
  "node frozen",
  "node frozen past its lease",
  "node frozen while an effect is under way",
  "node clock jump",
  "node clock drift",
  "database clock set back",
  "database clock set ahead",
  "wake lost",
  "wake duplicated",
  "wake late and out of order",
  "notice lost",
  "notice duplicated",
  "effect refused, definite",
  "effect refused, indefinite",
  "effect applied, response lost",
  "effect applied, error answered",
  "effect slow",
  "receiver applied twice",
  "receiver honoured the key",
  "receiver ignored the key",
  "receiver forgot the key",
  "probe wrong",
  "node restarted",
  "node closed",
  "node closed while a call is under way",
  "policy reloaded",
  "tool schema changed",
  "approver suspended",
  "budget changed",
  "tool absent",
] as const;
export type Fault = (typeof FAULTS)[number];

export const RACES = [
  "two votes at once",
  "decision within 1 ms of the deadline",
  "one person, two channels",
  "requester votes",
  "suspended person votes",
  "vote on a stale binding",
  "edit",
  "same request id at once",
  "same request id after a crash",
  "request id with other arguments",
  "two nodes recover at once",
  "call answered by the journal",
  "switch on while effects run",
  "resolved by a person",
  "resolved by a probe",
  "budget held a start",
  "two budgets in one commit",
  "two tenants",
  "leases",
  "secret in arguments",
] as const;
export type Race = (typeof RACES)[number];

/** Event types and reasons that have to occur in journals. */
export const FACTS = [
  "action.proposed",
  "action.revised",
  "action.reviewed",
  "action.held",
  "action.conflicted",
  "effect.started",
  "effect.retried",
  "effect.applied",
  "effect.not_applied",
  "effect.in_doubt",
  "effect.probed",
  "effect.resolved",
  "effect.reported_late",
  "refused: blocked",
  "refused: rejected",
  "refused: expired",
  "refused: cancelled",
  "refused: lapsed",
  "refused: revoked",
  "refused: tool_changed",
  "refused: duplicate",
  "approval.requested",
  "approval.voted",
  "approval.vote_refused",
  "approval.edited",
  "approval.edit_refused",
  "approval.revised",
  "approval.approved",
  "approval.modified",
  "approval.rejected",
  "approval.expired",
  "approval.cancelled",
  "approval.consumed",
  "approval.lapsed",
  "approval.revoked",
  "budget.reserved",
  "budget.settled",
  "budget.released",
  "budget.refused",
  "epoch.opened",
  "epoch.died",
  "epoch.closed",
  "switch.stopped",
  "switch.released",
  "person.suspended",
  "person.reinstated",
  "seal",
] as const;

export type Counters = Map<string, number>;

export function countUp(counters: Counters, name: string, by = 1): void {
  counters.set(name, (counters.get(name) ?? 0) + by);
}

/** At least this often in 2,000 seeds; in fewer seeds accordingly, and nothing is asked of a handful. */
const LEAST_PER_2000 = 100;

export function leastFor(seeds: number): number {
  return seeds < 100 ? 0 : Math.floor((LEAST_PER_2000 * seeds) / 2_000 / (seeds < 2_000 ? 2 : 1));
}

export function tooRare(counters: Counters, seeds: number): readonly string[] {
  const least = leastFor(seeds);
  return [...FAULTS, ...RACES, ...FACTS].filter((name) => (counters.get(name) ?? 0) < least);
}

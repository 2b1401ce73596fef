/**
 * Refusals: why an action did not run (one structure for policy, people, deadlines, budgets and the kill switch), and
 * how many refused requests a stream records. A recorded refusal changes nothing. The number recorded is limited, per
 * principal and in total. Later ones get the same answer and leave no entry, so that a caller cannot make another's
 * stream grow without end. A refusal that decides something, such as that of an edit, is always recorded and not
 * counted here.
 */

/** One structure for refusals by policy, people, deadlines, budgets and the kill switch. */
export const REFUSALS = {
  blocked: { retry: false, next: "Do not try the same action again; ask for something the policy allows." },
  invalid_revision: {
    retry: false,
    next: "The policy's own revision does not fit the tool; tell the policy's author.",
  },
  rejected: {
    retry: false,
    next: "A person said no. Read the reason; propose something else under a new request id.",
  },
  expired: {
    retry: false,
    next: "The deadline passed without a decision. If it is still wanted, propose it under a new request id.",
  },
  cancelled: {
    retry: false,
    next: "It was withdrawn. Propose it again under a new request id if it is still wanted.",
  },
  lapsed: {
    retry: false,
    next: "The permission ran out before it was used. Propose it again under a new request id.",
  },
  revoked: {
    retry: false,
    next: "The approval was withdrawn. Propose something else under a new request id.",
  },
  tool_changed: {
    retry: false,
    next: "The tool is not the one that was proposed. Propose it again under a new request id.",
  },
  binding_broken: {
    retry: false,
    next: "What was approved is not what would run. Propose it again under a new request id.",
  },
  duplicate: {
    retry: false,
    next: "The same thing was done or is under way. Look at the action named in the reason.",
  },
  not_applied: {
    retry: false,
    next: "It certainly did not happen. Correct the cause and propose it under a new request id.",
  },
  stopped: {
    retry: true,
    next: "The kill switch is on. Call again with the same request id after it is released.",
  },
  over_budget: {
    retry: true,
    next: "The budget has no room. Call again with the same request id when it has.",
  },
  pending: {
    retry: true,
    next: "A person has to decide. Call again with the same request id to wait for the answer.",
  },
} as const satisfies Record<string, { retry: boolean; next: string }>;

export type RefusalCode = keyof typeof REFUSALS;

/** `retry`: calling again with the same request id may return another answer. */
export type Refusal = {
  readonly by: string;
  readonly code: RefusalCode;
  readonly reason: string;
  readonly retry: boolean;
  readonly next: string;
};

export function refusal(code: RefusalCode, by: string, reason: string): Refusal {
  return { by, code, reason, ...REFUSALS[code] };
}

/** Recorded refusals of a stream, by principal. */
type Refusals = { readonly [by: string]: number };
/** State of a stream that records refusals. */
export type WithRefusals = { readonly refusals?: Refusals };

export const MOST_REFUSALS = { each: 20, all: 200 } as const;

/** Whether one more refusal of this principal is recorded. */
export function hasRoomForRefusal({ refusals = {} }: WithRefusals, by: string): boolean {
  const all = Object.values(refusals).reduce((sum, count) => sum + count, 0);
  return (refusals[by] ?? 0) < MOST_REFUSALS.each && all < MOST_REFUSALS.all;
}

/** The state with one more refusal counted. */
export function withRefusal<State extends WithRefusals>(state: State, by: string): State {
  const { refusals = {} } = state;
  return { ...state, refusals: { ...refusals, [by]: (refusals[by] ?? 0) + 1 } };
}

/** The error's text about the data. */
export function refusalData(what: string, isRecorded: boolean, unchanged: string): string {
  return isRecorded
    ? `The refused ${what} was recorded; ${unchanged}.`
    : `The refused ${what} was not recorded, as so many were before; ${unchanged}.`;
}

/**
 * Which standing grant lets an action through that people would be asked about.
 *
 * J1. A grant stands for the vote of its owner and no more: where the rule asks for a second person, nobody's grant does.
 * J2. It covers what it says: tool and schema, agent, arguments, uses, amount, time. What cannot be told is not covered.
 * J3. The owner could vote now: in good standing and in the list of people, eligible, not the requester.
 * J4. Everything is looked at under the lock of the commit that uses it.
 */
import type { Load } from "../action/start.ts";
import type { LiveAction } from "../action/state.ts";
import type { EscalateReview } from "../approval/request.ts";
import { namesGroups } from "../approver-names.ts";
import { hasNoRoleToDecide, isGone, isWordOf } from "../deciders.ts";
import type { Draft, Need } from "../draft.ts";
import type { Json } from "../json.ts";
import { isAmong, type RosterState } from "../roster.ts";
import { grantStream, ROSTER } from "../stream.ts";
import { leftOut } from "../verdict.ts";
import { amountIn, holds } from "./condition.ts";
import type { GrantTerms } from "./events.ts";
import { isUsedUp, type LiveGrant } from "./state.ts";

export const grantsKey = (tool: string): string => `grants/${tool}`;

/** Grants of a tool that were active a moment ago, as they were given. */
export type Candidate = GrantTerms & { readonly id: string };

export type Asked = {
  readonly state: Pick<LiveAction, "tool" | "schema" | "agent" | "requester">;
  readonly review: EscalateReview;
  /** Whom separation of duties leaves out. */
  readonly apart?: readonly string[];
  /** As they would run. */
  readonly args: Json;
  readonly now: number;
};

export type Fitting = {
  readonly kind: "fits";
  readonly id: string;
  readonly owner: string;
  readonly amount: { readonly currency: string; readonly micros: string } | null;
};
export type NoGrant = { readonly kind: "none" };

/** Where people are asked one stage after the other, the first of them is not the whole of it. */
function asksOnePerson(review: EscalateReview): boolean {
  const { approvers, stages } = review as EscalateReview & { readonly stages?: readonly unknown[] };
  return approvers.quorum === 1 && stages === undefined;
}

function mayVote(owner: string, { state, review, apart }: Asked, roster: RosterState): boolean {
  const { approvers } = review;
  if (leftOut(approvers, state.requester, apart).includes(owner) || isGone(roster, owner)) return false;
  if (hasNoRoleToDecide(roster, owner, approvers.from)) return false;
  return approvers.from === null || isAmong(roster, owner, approvers.from);
}

/** As far as that can be told without the roster: a grant is not locked in vain. */
function couldVote(owner: string, { state, review }: Asked): boolean {
  const { from } = review.approvers;
  return !state.requester.includes(owner) && (from === null || namesGroups(from) || from.includes(owner));
}

/** What does not change after it was given. */
function covers(terms: GrantTerms, asked: Asked): boolean {
  const { state, args, now } = asked;
  if (terms.tool !== state.tool || terms.schema !== state.schema || now >= terms.expiresAt) return false;
  if (terms.agent !== null && terms.agent !== state.agent) return false;
  return couldVote(terms.by, asked) && holds(terms.when, args);
}

function amountOf({ limit }: GrantTerms, args: Json): bigint | undefined {
  return limit === null ? 0n : amountIn(limit.amount, args);
}

function fits(grant: LiveGrant, asked: Asked, roster: RosterState): Omit<Fitting, "id"> | undefined {
  if (grant.status !== "given" || isUsedUp(grant) || !covers(grant, asked)) return undefined;
  if (!mayVote(grant.by, asked, roster) || !isWordOf(roster, grant.by, grant.givenAt)) return undefined;
  const { limit, spent, by: owner } = grant;
  const micros = amountOf(grant, asked.args);
  if (micros === undefined || (limit !== null && spent + micros > BigInt(limit.micros))) return undefined;
  const amount = limit === null ? null : { currency: limit.currency, micros: micros.toString() };
  return { kind: "fits", owner, amount };
}

/** Of several, the one that expires first. */
export function standingGrant(
  draft: Draft,
  asked: Asked,
  loaded: ReadonlyMap<string, Json>,
): Need | Load | Fitting | NoGrant {
  if (!asksOnePerson(asked.review)) return { kind: "none" };
  const key = grantsKey(asked.state.tool);
  const found = loaded.get(key) as unknown as readonly Candidate[] | undefined;
  if (found === undefined) return { kind: "load", key };
  const candidates = found
    .filter((one) => covers(one, asked))
    .toSorted((a, b) => a.expiresAt - b.expiresAt || (a.id < b.id ? -1 : 1));
  for (const { id } of candidates) {
    const more = draft.need({ write: [grantStream(id)], read: [ROSTER] });
    if (more !== undefined) return more;
    const grant = draft.state(grantStream(id));
    const answer = grant.status === "none" ? undefined : fits(grant, asked, draft.state(ROSTER));
    if (answer !== undefined) return { ...answer, id };
  }
  return { kind: "none" };
}

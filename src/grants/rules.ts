/**
 * Rules of standing grants: giving and revoking one, finding the one that covers a call, and counting its uses.
 *
 * - Only a person in good standing may give a grant. Any person in good standing may revoke it.
 * - A grant ends by time, by uses, by amount if it has a limit, or by a restore of the store.
 * - A grant replaces only its owner's vote. If a rule requires a second person, no grant applies.
 * - A grant covers only its stated terms. An expression that fails covers nothing.
 * - The owner must be able to vote now: in good standing, on the roster, eligible, and not the requester.
 * - All of this is checked under the lock of the commit that uses the grant.
 */

import type { Json, JsonObject } from "../kernel/json.ts";
import { partLoader } from "../kernel/load-part.ts";
import { type MoneyJson, unitsToMicros } from "../kernel/money.ts";
import { channelField, type Via } from "../kernel/principal.ts";
import { ROSTER } from "../kernel/stream.ts";
import type { Draft, Need } from "../kernel/transaction.ts";
import { actorFault, isExcluded, isNamedIn, isVoteStillTheirs } from "../people/rules/roster.ts";
import type { RosterState } from "../people/stream.ts";
import { type ApproverRule, excludedPeople, namesGroups } from "../policy/rules/verdict.ts";
import { type GrantState, type GrantTerms, grant, isUsedUp, type LiveGrant } from "./stream.ts";

const load = partLoader(import.meta.url);
/** Most calls meet no grant with an expression. */
const expressions = () =>
  load<typeof import("../policy/expression/expression.ts")>("../policy/expression/expression.ts");

type NotAllowed = { readonly kind: "not_allowed"; readonly reason: string };
type Word = Via & { readonly by: string; readonly reason: string };

/** Returns `known` if the request is a retry after a lost response. */
export function giveGrant(
  draft: Draft,
  command: Via & Omit<GrantTerms, "expiresAt"> & { readonly grant: string; readonly lastsMs: number },
): Need | { readonly kind: "given" | "known" } | NotAllowed {
  const { grant: id, lastsMs, ...terms } = command;
  const ref = grant.ref(id);
  const more = draft.need({ write: [ref], read: [ROSTER] });
  if (more !== undefined) return more;
  if (draft.state(ref).status !== "none") return { kind: "known" };
  const reason = actorFault(draft.state(ROSTER), terms.by);
  if (reason !== undefined) return { kind: "not_allowed", reason };
  draft.append(ref, [grant.event("grant.given", { ...terms, expiresAt: draft.now + lastsMs })]);
  return { kind: "given" };
}

type Revoked = { readonly kind: "revoked" | "unknown" };

export function revokeGrant(
  draft: Draft,
  command: Word & { readonly grant: string },
  isRestore = false,
): Need | Revoked | NotAllowed {
  const { by, reason } = command;
  const ref = grant.ref(command.grant);
  const more = draft.need({ write: [ref], read: [ROSTER] });
  if (more !== undefined) return more;
  const { status } = draft.state(ref);
  if (status !== "given") return { kind: status === "none" ? "unknown" : "revoked" };
  const fault = isRestore ? undefined : actorFault(draft.state(ROSTER), by);
  if (fault !== undefined) return { kind: "not_allowed", reason: fault };
  draft.append(ref, [grant.event("grant.revoked", { by, reason, ...channelField(command) })]);
  return { kind: "revoked" };
}

/** Why an expression cannot be used with this input schema (null: unknown). undefined: it can be used. */
export const whenFault = (text: string, schema: JsonObject | null) =>
  expressions().argumentsFault(text, "bool", schema);
export const amountFault = (text: string, schema: JsonObject | null) =>
  expressions().argumentsFault(text, "number", schema);

export const conditionHolds = (when: string | null, args: Json): boolean =>
  when === null || expressions().evaluateArguments(when, "bool", args) === true;

/** Amount of one use. undefined: the expression cannot be evaluated. */
export function evaluateAmount(amount: string, args: Json): bigint | undefined {
  const units = expressions().evaluateArguments(amount, "number", args);
  return typeof units === "number" ? unitsToMicros(units) : undefined;
}

/** A call that requires approval. `apart`: people excluded by separation of duties. */
type CoveredCall = {
  readonly state: Pick<GrantTerms, "tool" | "schema"> & {
    readonly agent: string;
    readonly requester: readonly string[];
  };
  readonly review: { readonly approvers: ApproverRule; readonly stages?: unknown };
  readonly apart?: readonly string[];
  /** The arguments that would run. */
  readonly args: Json;
  readonly now: number;
};

export type FittingGrant = {
  readonly kind: "fits";
  readonly id: string;
  readonly owner: string;
  readonly amount: MoneyJson | null;
};

function mayVote(owner: string, { state, review, apart }: CoveredCall, roster: RosterState): boolean {
  const { from } = review.approvers;
  const out = excludedPeople(review.approvers, state.requester, apart);
  return !isExcluded(roster, owner, { from, out }) && isNamedIn(roster, owner, from);
}

/** Partial check that does not read the roster, to avoid locking grants that cannot apply. */
function couldVote(owner: string, { state, review }: CoveredCall): boolean {
  const { from } = review.approvers;
  return !state.requester.includes(owner) && (from === null || namesGroups(from) || from.includes(owner));
}

/** Checks the terms that do not change after the grant was given. */
function covers(terms: GrantTerms, call: CoveredCall): boolean {
  const { state, args, now } = call;
  if (terms.tool !== state.tool || terms.schema !== state.schema || now >= terms.expiresAt) return false;
  if (terms.agent !== null && terms.agent !== state.agent) return false;
  return couldVote(terms.by, call) && conditionHolds(terms.when, args);
}

function fit(one: LiveGrant, call: CoveredCall, roster: RosterState): Omit<FittingGrant, "id"> | undefined {
  if (one.status !== "given" || isUsedUp(one) || !covers(one, call)) return undefined;
  if (!mayVote(one.by, call, roster) || !isVoteStillTheirs(roster, one.by, one.givenAt)) return undefined;
  const { limit, spent, by: owner } = one;
  if (limit === null) return { kind: "fits", owner, amount: null };
  const micros = evaluateAmount(limit.amount, call.args);
  if (micros === undefined || spent + micros > BigInt(limit.micros)) return undefined;
  return { kind: "fits", owner, amount: { currency: limit.currency, micros: micros.toString() } };
}

/** Finds the grant under which a call runs without approval. If several fit, the one that expires first. */
export function findStandingGrant(
  draft: Draft,
  call: CoveredCall,
): Need | FittingGrant | { readonly kind: "none" } {
  if (call.review.approvers.quorum !== 1 || call.review.stages !== undefined) return { kind: "none" };
  const key = grant.by("standing", call.state.tool);
  const listed = draft.need({ index: [key] });
  if (listed !== undefined) return listed;
  const refs = draft
    .index(key)
    .map(({ stream, data }) => ({ ...(data as unknown as GrantTerms), id: stream.id }))
    .filter((terms) => covers(terms, call))
    .toSorted((a, b) => a.expiresAt - b.expiresAt || (a.id < b.id ? -1 : 1))
    .map(({ id }) => grant.ref(id));
  for (const [at, ref] of refs.entries()) {
    // Most calls use the first grant. Otherwise request all others at once, because a decision has few rounds.
    const more = draft.need({ write: at === 0 ? [ref] : refs, read: [ROSTER] });
    if (more !== undefined) return more;
    const state: GrantState = draft.state(ref);
    const answer = state.status === "none" ? undefined : fit(state, call, draft.state(ROSTER));
    if (answer !== undefined) return { ...answer, id: ref.id };
  }
  return { kind: "none" };
}

/** A use of a standing grant by an effect. */
type Use = { readonly action: string; readonly effect: string };
type Standing = { readonly grant: string; readonly amount: MoneyJson | null };

/** An effect that was certainly not applied returns its use. An effect in doubt keeps it. */
export function settleUse(
  draft: Draft,
  type: "grant.used" | "grant.returned",
  { action, effect }: Use,
  { grant: id, amount }: Standing,
): void {
  draft.append(grant.ref(id), [grant.event(type, { action, effect, amount })]);
}

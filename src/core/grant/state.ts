/**
 * A standing grant's state: the fold of its stream.
 *
 * K1. It is used only while it is neither revoked nor used up, and never for more than it was given for.
 * K2. A use is given back at most once: nothing is returned that was not used.
 */
import { HoldpointError } from "../errors.ts";
import { bodyOf, type Fold } from "../event.ts";
import type { GrantEvent, GrantTerms, GrantUse } from "./events.ts";

export type LiveGrant = GrantTerms & {
  readonly status: "given" | "revoked";
  readonly givenAt: number;
  /** Uses that count, and what they come to: those that were given back do not. */
  readonly used: number;
  readonly spent: bigint;
  readonly revoked: { readonly by: string; readonly reason: string; readonly at: number } | null;
};
export type GrantState = { readonly status: "none" } | LiveGrant;

const EVENTS: readonly string[] = [
  "grant.given",
  "grant.used",
  "grant.returned",
  "grant.revoked",
] satisfies readonly GrantEvent["type"][];

export const isUsedUp = ({ used, uses }: LiveGrant): boolean => used >= uses;

function broken(type: string, status: string): HoldpointError {
  return new HoldpointError("broken_rule", `The event "${type}" cannot follow a grant that is ${status}.`);
}

function used(state: LiveGrant, { amount }: GrantUse): LiveGrant {
  const spent = state.spent + BigInt(amount?.micros ?? 0);
  const isOver = state.limit !== null && spent > BigInt(state.limit.micros);
  if (state.status === "revoked") throw broken("grant.used", "revoked");
  if (isUsedUp(state) || isOver) throw broken("grant.used", "used up");
  return { ...state, used: state.used + 1, spent };
}

function returned(state: LiveGrant, { amount }: GrantUse): LiveGrant {
  const spent = state.spent - BigInt(amount?.micros ?? 0);
  if (state.used === 0 || spent < 0n) throw broken("grant.returned", "not used");
  return { ...state, used: state.used - 1, spent };
}

export const grantFold: Fold<GrantState> = {
  version: 1,
  initial: { status: "none" },
  evolve(state, recorded) {
    const body = bodyOf("A grant", recorded, EVENTS);
    const event = { type: recorded.type, tv: 1, body } as unknown as GrantEvent;
    if (event.type === "grant.given") {
      if (state.status !== "none") throw broken(event.type, state.status);
      const { via: _, ...terms } = event.body;
      return { ...terms, status: "given", givenAt: recorded.at, used: 0, spent: 0n, revoked: null };
    }
    if (state.status === "none") throw broken(event.type, "not given");
    switch (event.type) {
      case "grant.used":
        return used(state, event.body);
      case "grant.returned":
        return returned(state, event.body);
      case "grant.revoked": {
        if (state.status === "revoked") throw broken(event.type, "revoked");
        const { by, reason } = event.body;
        return { ...state, status: "revoked", revoked: { by, reason, at: recorded.at } };
      }
    }
  },
};

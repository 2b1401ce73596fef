/** Standing grants: as people list them, and as calls look for one that covers them. */
import { type GrantState, isUsedUp, type LiveGrant } from "../core/grant/state.ts";
import type { JsonObject } from "../core/json.ts";

function statusOf(grant: LiveGrant): string {
  if (grant.status === "revoked") return "revoked";
  return isUsedUp(grant) ? "used_up" : "active";
}

function summary(grant: LiveGrant): JsonObject {
  const { tool, agent, when, uses, used, limit, spent, expiresAt, givenAt, by, reason } = grant;
  return { tool, agent, when, uses, used, limit, spent: spent.toString(), expiresAt, givenAt, by, reason };
}

export const grantsView = {
  view: "grants",
  kind: "grant",
  version: 1,
  /** One whose time is over still counts as active here: rows do not look at a clock. */
  row(_id: string, state: GrantState) {
    if (state.status === "none") return undefined;
    return { bucket: statusOf(state), at: state.givenAt, due: null, data: summary(state) };
  },
} as const;

const isActive = (state: GrantState): boolean => state.status === "given" && !isUsedUp(state);

export const standingView = {
  view: "standing",
  kind: "grant",
  version: 1,
  row(_id: string, state: GrantState) {
    if (state.status === "none" || !isActive(state)) return undefined;
    const { tool, schema, agent, when, uses, limit, expiresAt, by, reason } = state;
    const data = { tool, schema, agent, when, uses, limit, expiresAt, by, reason };
    return { bucket: tool, at: expiresAt, due: null, data };
  },
  /** Terms never change: only the first use and the last move it in and out. */
  isSame: (before: GrantState, after: GrantState) => isActive(before) && isActive(after),
} as const;

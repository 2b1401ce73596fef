/**
 * Giving and revoking a standing grant.
 *
 * L1. Only a person in good standing gives one, and any person in good standing takes it back.
 * L2. It has an end: in time, in uses, and in money where it has a limit.
 * L3. After a restore it is revoked: how often it was used since then nobody can tell.
 */
import type { Draft, Need } from "../draft.ts";
import { isPerson } from "../principal.ts";
import { grantStream, ROSTER } from "../stream.ts";
import { type Via, viaField } from "../via.ts";
import type { GrantTerms } from "./events.ts";

export type GiveAnswer =
  | { readonly kind: "given" | "known" }
  | { readonly kind: "not_allowed"; readonly reason: string };

export type RevokeAnswer =
  | { readonly kind: "revoked" | "unknown" }
  | { readonly kind: "not_allowed"; readonly reason: string };

function whyNot(draft: Draft, by: string): string | undefined {
  if (!isPerson(by)) return `${by} is not a person`;
  return draft.state(ROSTER).suspended.includes(by) ? `${by} is not in good standing` : undefined;
}

export type Giving = Via &
  Omit<GrantTerms, "expiresAt"> & { readonly grant: string; readonly lastsMs: number };

/** Asked again after an answer that got lost, it is known. */
export function giveGrant(draft: Draft, { grant, lastsMs, ...terms }: Giving): Need | GiveAnswer {
  const ref = grantStream(grant);
  const more = draft.need({ write: [ref], read: [ROSTER] });
  if (more !== undefined) return more;
  if (draft.state(ref).status !== "none") return { kind: "known" };
  const reason = whyNot(draft, terms.by);
  if (reason !== undefined) return { kind: "not_allowed", reason };
  const body = { ...terms, expiresAt: draft.now + lastsMs };
  draft.append(ref, [{ type: "grant.given", tv: 1, body }]);
  return { kind: "given" };
}

export function revokeGrant(
  draft: Draft,
  command: Via & { readonly grant: string; readonly by: string; readonly reason: string },
): Need | RevokeAnswer {
  const { grant, by, reason } = command;
  const ref = grantStream(grant);
  const more = draft.need({ write: [ref], read: [ROSTER] });
  if (more !== undefined) return more;
  const state = draft.state(ref);
  if (state.status === "none") return { kind: "unknown" };
  if (state.status === "revoked") return { kind: "revoked" };
  const fault = whyNot(draft, by);
  if (fault !== undefined) return { kind: "not_allowed", reason: fault };
  draft.append(ref, [{ type: "grant.revoked", tv: 1, body: { by, reason, ...viaField(command) } }]);
  return { kind: "revoked" };
}

export function revokeAfterRestore(draft: Draft, grant: string): Need | RevokeAnswer {
  const ref = grantStream(grant);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  if (draft.state(ref).status !== "given") return { kind: "unknown" };
  const reason = "the store was restored, and it may have been used since the backup";
  draft.append(ref, [{ type: "grant.revoked", tv: 1, body: { by: "restore", reason } }]);
  return { kind: "revoked" };
}

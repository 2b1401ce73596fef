/**
 * A tenant's standing. Its stream has the tenant's name and stands twice: in the tenant's own journal, where rules read it, and in
 * the home tenant's, which is the record of who made and closed it.
 *
 * T1. A tenant that is closed stays closed, and its name stays taken: what it holds is kept under that name.
 * T2. The home tenant is never closed: nobody could look after the others.
 */
import { eventBody, type Fold, type StreamRef, tenantStream } from "../../kernel/stream.ts";

/** The first tenant of a store: what programs and commands work in unless they are told otherwise. */
export const HOME_TENANT = "default";

/** A tenant that was never made by anybody is there as soon as something is written in it. */
export type TenantState =
  | { readonly status: "none" }
  | { readonly status: "open"; readonly by: string; readonly at: number }
  | { readonly status: "closed"; readonly by: string; readonly reason: string; readonly at: number };

export const tenantFold: Fold<TenantState> = {
  version: 1,
  initial: { status: "none" },
  evolve(state, event) {
    const { by, reason } = eventBody("A tenant", event, ["tenant.added", "tenant.closed"]);
    if (state.status === "closed") return state;
    if (event.type === "tenant.added") return { status: "open", by: String(by), at: event.at };
    return { status: "closed", by: String(by), reason: String(reason), at: event.at };
  },
};

/** Where a tenant's own journal says how it stands. */
export const readOwnTenant = ({ tenant }: { readonly tenant: string }): StreamRef<"tenant"> =>
  tenantStream(tenant);
